// SPDX-License-Identifier: Apache-2.0
// Whether integers that differ are more, in a tensor or a part of it, than rounding explains.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::core {

/// The count that a Poisson distribution of the mean exceeds less often than once in 10^9.
int64_t mostByChance(double mean);

/// `differs` row by row; each element differs by chance with the probability `chance`. Parts are
/// the elements with one index of one axis.
bool isBeyondChance(const std::vector<bool>& differs, const std::vector<int64_t>& shape,
                    double chance);

} // namespace tenon::core
