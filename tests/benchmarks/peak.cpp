// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do at most: fp32 fused multiply-add and dot products of bytes per
// core, copy and read bandwidth of every cache. Takes a second, so that it can take turns with what
// is measured.
// Prints one JSON object.
#include "remote/roofline/machine_peak.h"

#include <cstdio>
#include <thread>

int main()
{
    const tenon::remote::MachinePeak peak = tenon::remote::measurePeak(1);
    std::printf("{\"isa\": \"%s\", \"fp32_gflops_per_core\": %.1f, \"int8_gops_per_core\": %.1f, "
                "\"int8_tile_gops_per_core\": %.1f, \"copy_memory_gb_s\": %.1f, \"cores\": %u, "
                "\"bandwidth\": [",
                peak.isa.c_str(), peak.fp32Gflops, peak.int8Gops, peak.int8TileGops,
                peak.bandwidth.back().copyGbps, std::thread::hardware_concurrency());
    const char* separator = "";
    for (const tenon::remote::Bandwidth& rate : peak.bandwidth) {
        std::printf("%s{\"bytes\": %.0f, \"read_gb_s\": %.1f, \"copy_gb_s\": %.1f}", separator,
                    rate.bytes, rate.readGbps, rate.copyGbps);
        separator = ", ";
    }
    std::printf("]}\n");
    return 0;
}
