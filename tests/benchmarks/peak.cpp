// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do at most: fp32 fused multiply-add and dot products of bytes per
// core, copy and read bandwidth. Takes a third of a second, so that it can take turns with what is
// measured.
// Prints one JSON object.
#include "remote/measure/beyond_caches.h"
#include "remote/measure/machine_peak.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace {

constexpr size_t kInCache = size_t{256} << 10;

} // namespace

int main()
{
    using tenon::remote::kBeyondCaches;
    const tenon::remote::MachinePeak peak = tenon::remote::measureCompute();
    std::printf("{\"isa\": \"%s\", \"fp32_gflops_per_core\": %.1f, \"copy_l2_gb_s\": %.1f, "
                "\"int8_gops_per_core\": %.1f, \"copy_memory_gb_s\": %.1f, "
                "\"read_memory_gb_s\": %.1f, \"l2_bytes\": %ld, \"cores\": %u}\n",
                peak.isa.c_str(), peak.fp32Gflops, tenon::remote::copyGbPerSecond(kInCache),
                peak.int8Gops, tenon::remote::copyGbPerSecond(kBeyondCaches / 2), // and as many to
                tenon::remote::readGbPerSecond(kBeyondCaches),
                std::max(0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE)),
                std::thread::hardware_concurrency());
    return 0;
}
