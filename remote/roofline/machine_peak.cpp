// SPDX-License-Identifier: Apache-2.0
// Loops of nothing but multiply-adds, on as many accumulators as hide their latency.
#include "remote/roofline/machine_peak.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon::remote {
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
    return static_cast<float>(_mm_cvtsi128_si32(_mm512_castsi512_si128(sum)) & 1);
}
#endif

/// A rate that a tenth of the rounds reach, which other load lowers little; some rounds seem a
/// fifth faster than the clock allows, for the time itself is adjusted.
double goodGflops(float (*loop)(long, float), size_t lanes)
{
    constexpr long kSteps = 300'000; // less than a millisecond: most rounds are not interrupted
    const double work = 2.0 * static_cast<double>(lanes * kAccumulators) * kSteps;
    std::vector<double> rates;
    volatile float sink = 1;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        sink = loop(kSteps, sink * 0 + 1);
        rates.push_back(work / secondsSince(start) * 1e-9);
    }
    const auto good = rates.begin() + kRounds * 9 / 10;
    std::nth_element(rates.begin(), good, rates.end());
    return *good;
}

/// Dot products of four bytes per lane, two operations each; 0 where the processor has none.
double int8Gops()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni")) return goodGflops(dotAvx512, 64);
#endif
    return 0;
}

} // namespace

MachinePeak measureCompute()
{
    MachinePeak peak{.isa = "128 bit", .int8Gops = int8Gops()};
    auto loop = fmaPlain;
    size_t lanes = 4;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        peak.isa = "avx512f", loop = fmaAvx512, lanes = 16;
    else if (__builtin_cpu_supports("fma"))
        peak.isa = "avx2", loop = fmaAvx2, lanes = 8;
#endif
    peak.fp32Gflops = goodGflops(loop, lanes);
    return peak;
}

MachinePeak measurePeak(unsigned threads)
{
    MachinePeak peak = measureCompute();
    peak.threads = std::max(1U, threads);
    peak.bandwidth = measureBandwidth(peak.threads);
    return peak;
}

double peakFor(const MachinePeak& peak, const core::CallMethod& method)
{
    if (method.kind == core::Method::None || method.kind == core::Method::Moves) return 0;
    return method.isInt8 ? peak.int8Gops : peak.fp32Gflops;
}

} // namespace tenon::remote
