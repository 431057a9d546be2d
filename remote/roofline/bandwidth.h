// SPDX-License-Identifier: Apache-2.0
// How fast this computer moves bytes: what a kernel that computes little is held against.
#pragma once

#include <cstddef>
#include <vector>

namespace tenon::remote {

/// Rates of all threads together, for that many bytes in all: how many decides which cache they
/// are in.
struct Bandwidth
{
    double bytes = 0;
    double readGbps = 0;
    double copyGbps = 0; ///< each byte counted once, though it is read and written
};

double readGbPerSecond(size_t bytes);
double copyGbPerSecond(size_t bytes);

/// From what the first cache holds to what none does, ascending; takes about a third of a second.
std::vector<Bandwidth> measureBandwidth(unsigned threads);

} // namespace tenon::remote
