/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 by the instructions that x86 and ARMv8 processors may have for it. */
#include "sha256_blocks.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>

/* A vector holds the words in ascending order; the two halves of the state are a, b, e, f and
 * c, d, g, h, with the first letter highest, as the instructions want it. */
__attribute__((target("sha,sse4.1"))) static void absorb(uint32_t state[8], const uint8_t* data,
                                                         size_t count)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)state), 0xB1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i*)(state + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
    for (; count > 0; --count, data += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            __m128i* now = &w[i & 3];
            if (i < 4) {
                *now = _mm_loadu_si128((const __m128i*)(data + 16 * i));
                *now = _mm_shuffle_epi8(*now, order);
            } else {
                __m128i seven_back = _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4);
                __m128i sum = _mm_sha256msg1_epu32(*now, w[(i + 1) & 3]);
                *now = _mm_sha256msg2_epu32(_mm_add_epi32(sum, seven_back), w[(i + 3) & 3]);
            }
            const __m128i* constants = (const __m128i*)(tenon_sha256_constants + 4 * i);
            __m128i input = _mm_add_epi32(*now, _mm_loadu_si128(constants));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0E));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i*)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i*)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

tenon_sha256_blocks tenon_sha256_hardware(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1)) return NULL;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_SHA)) return NULL;
    return absorb;
}

#elif defined(__aarch64__) && defined(__linux__)

#include <sys/auxv.h>

#pragma GCC push_options
#pragma GCC target("+crypto")
#include <arm_neon.h>

static void absorb(uint32_t state[8], const uint8_t* data, size_t count)
{
    uint32x4_t abcd = vld1q_u32(state);
    uint32x4_t efgh = vld1q_u32(state + 4);
    for (; count > 0; --count, data += 64) {
        const uint32x4_t abcd_before = abcd;
        const uint32x4_t efgh_before = efgh;
        uint32x4_t w[4];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            uint32x4_t* now = &w[i & 3];
            if (i < 4)
                *now = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(data + 16 * i)));
            else
                *now = vsha256su1q_u32(vsha256su0q_u32(*now, w[(i + 1) & 3]), w[(i + 2) & 3],
                                       w[(i + 3) & 3]);
            uint32x4_t input = vaddq_u32(*now, vld1q_u32(tenon_sha256_constants + 4 * i));
            uint32x4_t abcd_now = abcd;
            abcd = vsha256hq_u32(abcd, efgh, input);
            efgh = vsha256h2q_u32(efgh, abcd_now, input);
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}
#pragma GCC pop_options

tenon_sha256_blocks tenon_sha256_hardware(void)
{
    enum
    {
        kSha2 = 1 << 6 /* HWCAP_SHA2 */
    };
    return getauxval(AT_HWCAP) & kSha2 ? absorb : NULL;
}

#else

tenon_sha256_blocks tenon_sha256_hardware(void) { return NULL; }

#endif
