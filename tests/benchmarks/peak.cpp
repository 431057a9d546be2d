// SPDX-License-Identifier: Apache-2.0
// Measures what this machine can do at most: fp32 fused multiply-add and dot products of bytes per
// core, copy and read bandwidth.
// Prints one JSON object. Best of several rounds: other load only ever makes a round slower.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int kRounds = 60;
constexpr size_t kAccumulators = 12; ///< hides 4 cycles of latency at two operations per cycle

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#define TENON_FMA_LOOP(name, isa, lanes)                                                           \
    [[gnu::target(isa), gnu::noinline]] float name(long steps, float seed)                         \
    {                                                                                              \
        using V = float __attribute__((vector_size(lanes * 4)));                                   \
        V a[kAccumulators];                                                                        \
        for (size_t i = 0; i < kAccumulators; ++i) a[i] = V{} + seed + static_cast<float>(i);      \
        const V scale = V{} + (1.0f + seed * 1e-9f);                                               \
        const V shift = V{} + seed * 1e-9f;                                                        \
        for (long s = 0; s < steps; ++s)                                                           \
            for (size_t i = 0; i < kAccumulators; ++i) a[i] = a[i] * scale + shift;                \
        V sum = a[0];                                                                              \
        for (size_t i = 1; i < kAccumulators; ++i) sum += a[i];                                    \
        return sum[0];                                                                             \
    }

#if defined(__x86_64__)
TENON_FMA_LOOP(fmaAvx512, "avx512f", 16)
TENON_FMA_LOOP(fmaAvx2, "avx2,fma", 8)
#endif

[[gnu::noinline]] float fmaPlain(long steps, float seed)
{
    using V = float __attribute__((vector_size(16)));
    V a[kAccumulators];
    for (size_t i = 0; i < kAccumulators; ++i) a[i] = V{} + seed + static_cast<float>(i);
    const V scale = V{} + (1.0f + seed * 1e-9f);
    const V shift = V{} + seed * 1e-9f;
    for (long s = 0; s < steps; ++s)
        for (size_t i = 0; i < kAccumulators; ++i) a[i] = a[i] * scale + shift;
    V sum = a[0];
    for (size_t i = 1; i < kAccumulators; ++i) sum += a[i];
    return sum[0];
}

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512vnni"), gnu::noinline]] float dotAvx512(long steps, float seed)
{
    __m512i a[kAccumulators];
    for (size_t i = 0; i < kAccumulators; ++i) a[i] = _mm512_set1_epi32(static_cast<int>(i));
    const __m512i bytes = _mm512_set1_epi32(static_cast<int>(seed));
    for (long s = 0; s < steps; ++s)
        for (size_t i = 0; i < kAccumulators; ++i) a[i] = _mm512_dpbusd_epi32(a[i], bytes, bytes);
    __m512i sum = a[0];
    for (size_t i = 1; i < kAccumulators; ++i) sum = _mm512_add_epi32(sum, a[i]);
    return static_cast<float>(_mm512_reduce_add_epi32(sum) & 1);
}
#endif

struct FmaPeak
{
    const char* isa;
    double gflops;
};

double bestGflops(float (*loop)(long, float), size_t lanes)
{
    constexpr long kSteps = 300'000; // a few milliseconds: some round is not interrupted
    double best = 0;
    volatile float sink = 1;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        sink = loop(kSteps, sink * 0 + 1);
        const double work = 2.0 * static_cast<double>(lanes * kAccumulators) * kSteps;
        best = std::max(best, work / secondsSince(start) * 1e-9);
    }
    return best;
}

FmaPeak fmaPeak()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {"avx512f", bestGflops(fmaAvx512, 16)};
    if (__builtin_cpu_supports("fma")) return {"avx2", bestGflops(fmaAvx2, 8)};
#endif
    return {"128 bit", bestGflops(fmaPlain, 4)};
}

/// Dot products of four bytes per lane, two operations each; 0 where the processor has none.
double int8Gops()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni")) return bestGflops(dotAvx512, 64);
#endif
    return 0;
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
    const FmaPeak fma = fmaPeak();
    std::printf("{\"isa\": \"%s\", \"fp32_gflops_per_core\": %.1f, \"copy_l2_gb_s\": %.1f, "
                "\"int8_gops_per_core\": %.1f, \"copy_memory_gb_s\": %.1f, "
                "\"read_memory_gb_s\": %.1f, \"l2_bytes\": %ld, \"cores\": %u}\n",
                fma.isa, fma.gflops, copyGbPerSecond(size_t{256} << 10), int8Gops(),
                copyGbPerSecond(size_t{128} << 20), readGbPerSecond(size_t{128} << 20),
                std::max(0L, ::sysconf(_SC_LEVEL2_CACHE_SIZE)),
                std::thread::hardware_concurrency());
    return 0;
}
