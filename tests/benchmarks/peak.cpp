// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do at most: fp32 fused multiply-add and dot products of bytes per
// core, copy and read bandwidth.
// Prints one JSON object. Best of several rounds: other load only ever makes a round slower.
#include "remote/measure/machine_peak.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 60;

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes read per second.
double readGbPerSecond(size_t bytes)
{
    const std::vector<long> source(bytes / sizeof(long), 1);
    volatile long sink = 0;
    double best = 0;
    for (int round = 0; round < kRounds / 4; ++round) {
        const auto start = std::chrono::steady_clock::now();
        long sums[4] = {};
        for (size_t i = 0; i + 4 <= source.size(); i += 4)
            for (size_t k = 0; k < 4; ++k) sums[k] += source[i + k];
        sink = sink + sums[0] + sums[1] + sums[2] + sums[3];
        best = std::max(best, static_cast<double>(bytes) / secondsSince(start) * 1e-9);
    }
    return best;
}

/// Bytes copied per second, counted once (a copy reads and writes each).
double copyGbPerSecond(size_t bytes)
{
    std::vector<char> source(bytes, 1);
    std::vector<char> destination(bytes, 2);
    const size_t repeats = std::max<size_t>(1, (size_t{32} << 20) / bytes);
    double best = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (size_t i = 0; i < repeats; ++i) {
            std::memcpy(destination.data(), source.data(), bytes);
            source[i % bytes] = destination[bytes - 1];
        }
        best = std::max(best, static_cast<double>(bytes * repeats) / secondsSince(start) * 1e-9);
    }
    return best;
}

} // namespace

int main()
{
    const tenon::remote::MachinePeak peak = tenon::remote::measurePeak();
    std::printf("{\"isa\": \"%s\", \"fp32_gflops_per_core\": %.1f, \"copy_l2_gb_s\": %.1f, "
                "\"int8_gops_per_core\": %.1f, \"copy_memory_gb_s\": %.1f, "
                "\"read_memory_gb_s\": %.1f, \"l2_bytes\": %ld, \"cores\": %u}\n",
                peak.isa.c_str(), peak.fp32Gflops, copyGbPerSecond(size_t{256} << 10),
                peak.int8Gops, copyGbPerSecond(size_t{128} << 20),
                readGbPerSecond(size_t{128} << 20), std::max(0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE)),
                std::thread::hardware_concurrency());
    return 0;
}
