// SPDX-License-Identifier: Apache-2.0
// What one core of this computer can do at most: what a kernel's rate is held against.
#pragma once

#include <string>
#include <string_view>

namespace tenon::remote {

struct MachinePeak
{
    std::string isa;       ///< "avx512f": the widest vectors there are
    double fp32Gflops = 0; ///< fused multiply-adds, two operations each
    double int8Gops = 0; ///< dot products of bytes, two operations a product; 0 when there are none
};

/// Takes about a tenth of a second: the best of many short rounds, which other load only makes
/// slower.
MachinePeak measurePeak();

/// Of one core for a kernel call of that method (ManifestCall::method); 0 when it is not known.
double peakFor(const MachinePeak& peak, std::string_view method);

} // namespace tenon::remote
