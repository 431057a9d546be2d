// SPDX-License-Identifier: Apache-2.0
// What this computer can do at most: what a kernel's rate is held against.
#pragma once

#include "core/artifact/call_method.h"
#include "remote/roofline/bandwidth.h"

#include <string>
#include <string_view>

namespace tenon::remote {

struct MachinePeak
{
    std::string isa;       ///< "avx512f": the widest vectors there are
    double fp32Gflops = 0; ///< of a core: fused multiply-adds, two operations each
    double int8Gops = 0;   ///< of a core: dot products of bytes, two operations each; 0: none there
    double int8TileGops = 0;               ///< of a core: products of tiles of bytes; 0: none there
    unsigned threads = 1;                  ///< that work together
    std::vector<Bandwidth> bandwidth = {}; ///< of these threads, by bytes ascending
};

/// Takes half a second: a good one of many short rounds, which other load hardly makes slower.
MachinePeak measurePeak(unsigned threads);
/// Of that only how fast a core computes, in a tenth of a second.
MachinePeak measureCompute();

/// Of one core for a kernel call of that method (ManifestCall::method); 0 when it is not known.
double peakFor(const MachinePeak& peak, const core::CallMethod& method);

} // namespace tenon::remote
