// SPDX-License-Identifier: Apache-2.0
// Loops of nothing but multiply-adds, on as many accumulators as hide their latency.
#include "remote/roofline/machine_peak.h"

#include "core/target/lent_tiles.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tenon::remote {
namespace {

constexpr int kRounds = 60;
constexpr size_t kAccumulators = 12; ///< hides 4 cycles of latency at two operations per cycle
constexpr size_t kPairs = 10;        ///< of accumulators of byte products; a register for each

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A loop of fused multiply-adds on sums in registers: unrolled everywhere, for sums that an index
/// walks lie in memory, and by the builtin, for `a * b + c` is two operations in standard C++ (AVX2
/// on Zen 3: 43 in place of 105 GFLOP/s).
#define TENON_UNROLL _Pragma("GCC unroll 12")
#define TENON_FMA_LOOP(name, attributes, lanes, multiplyAdd)                                       \
    attributes [[gnu::noinline]] float name(long steps, float seed)                                \
    {                                                                                              \
        using V = float __attribute__((vector_size(lanes * 4)));                                   \
        V a[kAccumulators];                                                                        \
        const V scale = V{} + (1.0f + seed * 1e-9f);                                               \
        const V shift = V{} + seed * 1e-9f;                                                        \
        TENON_UNROLL for (size_t i = 0; i < kAccumulators; ++i)                                    \
        {                                                                                          \
            a[i] = V{} + seed + static_cast<float>(i);                                             \
        }                                                                                          \
        for (long s = 0; s < steps; ++s) {                                                         \
            TENON_UNROLL for (size_t i = 0; i < kAccumulators; ++i)                                \
            {                                                                                      \
                a[i] = multiplyAdd(a[i], scale, shift);                                            \
            }                                                                                      \
        }                                                                                          \
        V sum = a[0];                                                                              \
        TENON_UNROLL for (size_t i = 1; i < kAccumulators; ++i) { sum += a[i]; }                   \
        return sum[0];                                                                             \
    }

#if defined(__x86_64__)
TENON_FMA_LOOP(fmaAvx512, [[gnu::target("avx512f")]], 16, _mm512_fmadd_ps)
TENON_FMA_LOOP(fmaAvx2, [[gnu::target("avx2,fma")]], 8, _mm256_fmadd_ps)
#endif

#if defined(__aarch64__)
/// In the order of `_mm_fmadd_ps`.
inline float32x4_t multiplyAdd(float32x4_t a, float32x4_t b, float32x4_t sum)
{
    return vfmaq_f32(sum, a, b);
}
#else
using Quad = float __attribute__((vector_size(16)));
inline Quad multiplyAdd(Quad a, Quad b, Quad sum) { return a * b + sum; }
#endif
TENON_FMA_LOOP(fmaPlain, , 4, multiplyAdd)

#if defined(__x86_64__)
[[gnu::target("avx512f,avx512vnni"), gnu::noinline]] float dotAvx512(long steps, float seed)
{
    __m512i a[kAccumulators];
    TENON_UNROLL for (size_t i = 0; i < kAccumulators; ++i)
    {
        a[i] = _mm512_set1_epi32(static_cast<int>(i));
    }
    const __m512i bytes = _mm512_set1_epi32(static_cast<int>(seed));
    for (long s = 0; s < steps; ++s) {
        TENON_UNROLL for (size_t i = 0; i < kAccumulators; ++i)
        {
            a[i] = _mm512_dpbusd_epi32(a[i], bytes, bytes);
        }
    }
    __m512i sum = a[0];
    TENON_UNROLL for (size_t i = 1; i < kAccumulators; ++i) { sum = _mm512_add_epi32(sum, a[i]); }
    return static_cast<float>(sum[0] & 1);
}

/// Pairs of bytes into sums of 16 bits, added up there: every other step that a kernel takes is
/// more. A product of what the step before made cannot leave the loop.
[[gnu::target("avx2"), gnu::noinline]] float pairsAvx2(long steps, float seed)
{
    __m256i a[kPairs]; // unrolled everywhere: 147 instead of 279 Gop/s where it lies in memory
#pragma GCC unroll 10
    for (size_t i = 0; i < kPairs; ++i) a[i] = _mm256_set1_epi16(static_cast<short>(i));
    const __m256i bytes = _mm256_set1_epi8(static_cast<char>(seed));
    for (long s = 0; s < steps; ++s) {
#pragma GCC unroll 10
        for (size_t i = 0; i < kPairs; ++i)
            a[i] = _mm256_add_epi16(a[i], _mm256_maddubs_epi16(a[i], bytes));
    }
    __m256i sum = a[0];
#pragma GCC unroll 10
    for (size_t i = 1; i < kPairs; ++i) sum = _mm256_add_epi16(sum, a[i]);
    return static_cast<float>(sum[0] & 1);
}
#endif

#if defined(__x86_64__)
constexpr int kTileRows = 16, kTileRowBytes = 64, kTilesOfSums = 4;

/// Two by two tiles of sums, from tiles that stay as they are.
[[gnu::target("amx-tile,amx-int8"), gnu::noinline]] float dotTiles(long steps, float seed)
{
    struct
    {
        unsigned char palette, start, reserved[14];
        unsigned short rowBytes[16];
        unsigned char rows[16];
    } shape{.palette = 1, .start = 0, .reserved = {}, .rowBytes = {}, .rows = {}};
    for (int tile = 0; tile < 8; ++tile)
        shape.rowBytes[tile] = kTileRowBytes, shape.rows[tile] = kTileRows;
    __asm__ volatile("ldtilecfg %0" : : "m"(shape)); // GCC 12's intrinsic reads eight bytes alone
    for (long s = 0; s < steps; ++s) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_release();
    return seed;
}
#endif

/// A rate that a tenth of the rounds reach, which other load lowers little; some rounds seem a
/// fifth faster than the clock allows, for the time itself is adjusted.
double goodGflops(float (*loop)(long, float), size_t productsPerStep, long steps = 300'000)
{
    const double work = 2.0 * static_cast<double>(productsPerStep) * static_cast<double>(steps);
    std::vector<double> rates;
    volatile float sink = 1;
    for (int round = 0; round < kRounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        sink = loop(steps, sink * 0 + 1);
        rates.push_back(work / secondsSince(start) * 1e-9);
    }
    const auto good = rates.begin() + kRounds * 9 / 10;
    std::nth_element(rates.begin(), good, rates.end());
    return *good;
}

#if defined(__x86_64__)
/// AVX-VNNI: leaf 7, subleaf 1, EAX bit 4. Compilers disagree about its name.
bool hasNarrowDots()
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
#endif

/// The same by tiles, which Linux lends a process that asks.
double int8TileGops()
{
#if defined(__x86_64__)
    constexpr unsigned kTiles = 1U << 24 | 1U << 25; // AMX-TILE and AMX-INT8: leaf 7, EDX
    constexpr long kSteps = 20'000;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTiles) != kTiles) return 0;
    if (!core::lendsTiles()) return 0;
    return goodGflops(dotTiles, size_t{kTilesOfSums} * kTileRows * kTileRows * kTileRowBytes,
                      kSteps);
#else
    return 0;
#endif
}

/// Products of bytes, two operations each: dot products of four, else pairs; 0 where nothing of
/// either is measured, as where dot products are of another form than AVX-512's.
double int8Gops()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni")) return goodGflops(dotAvx512, 64 * kAccumulators);
    if (__builtin_cpu_supports("avx2") && !hasNarrowDots())
        return goodGflops(pairsAvx2, 32 * kPairs);
#endif
    return 0;
}

} // namespace

MachinePeak measureCompute()
{
    MachinePeak peak{.isa = "128 bit", .int8Gops = int8Gops(), .int8TileGops = int8TileGops()};
    auto loop = fmaPlain;
    size_t lanes = 4;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        peak.isa = "avx512f", loop = fmaAvx512, lanes = 16;
    else if (__builtin_cpu_supports("fma"))
        peak.isa = "avx2", loop = fmaAvx2, lanes = 8;
#endif
    peak.fp32Gflops = goodGflops(loop, lanes * kAccumulators);
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
    if (!method.isInt8) return peak.fp32Gflops;
    const bool mayBeTiles = method.kind == core::Method::Direct ||
                            method.kind == core::Method::Direct1x1 ||
                            method.kind == core::Method::PackedGemm;
    return mayBeTiles ? std::max(peak.int8Gops, peak.int8TileGops) : peak.int8Gops;
}

} // namespace tenon::remote
