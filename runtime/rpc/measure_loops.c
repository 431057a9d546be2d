/* SPDX-License-Identifier: Apache-2.0 */
/* Each loop once per width of vectors; which one runs is asked of the processor. */
#include "measure_loops.h"

#include <stdint.h>

#if defined(__arm__) || defined(__riscv)
#include <sys/auxv.h>
#endif

enum
{
    kSums = 12 /* hides four cycles of latency at three per cycle */
};

/* As wide as the processor's own: GCC takes wider ones apart through memory. */
typedef uint64_t wide_words __attribute__((vector_size(64)));
typedef uint64_t half_wide_words __attribute__((vector_size(32)));
typedef uint64_t words __attribute__((vector_size(16)));

#define READ_LOOP(name, target, type)                                                              \
    target static unsigned long long name(const type* from, size_t count)                          \
    {                                                                                              \
        type sums[4] = {{0}};                                                                      \
        for (size_t i = 0; i < count; i += 4)                                                      \
            _Pragma("GCC unroll 4") for (size_t k = 0; k < 4; ++k) sums[k] ^= from[i + k];         \
        return (sums[0] ^ sums[1] ^ sums[2] ^ sums[3])[0];                                         \
    }

#define MULTIPLY_ADD_LOOP(name, target, bytes)                                                     \
    target static float name(long steps, float seed)                                               \
    {                                                                                              \
        typedef float vector __attribute__((vector_size(bytes)));                                  \
        vector sums[kSums];                                                                        \
        const vector zero = {0};                                                                   \
        _Pragma("GCC unroll 12") for (int i = 0; i < kSums; ++i) sums[i] = zero + seed + (float)i; \
        const vector scale = zero + (1.0f + seed * 1e-9f), shift = zero + seed * 1e-9f;            \
        for (long s = 0; s < steps; ++s)                                                           \
            _Pragma("GCC unroll 12") for (int i = 0; i < kSums; ++i) sums[i] =                     \
                sums[i] * scale + shift;                                                           \
        _Pragma("GCC unroll 12") for (int i = 1; i < kSums; ++i) sums[0] += sums[i];               \
        return sums[0][0];                                                                         \
    }

READ_LOOP(read_words, , words)
#if defined(__x86_64__)
READ_LOOP(read_avx512, __attribute__((target("avx512f"))), wide_words)
READ_LOOP(read_avx2, __attribute__((target("avx2"))), half_wide_words)
MULTIPLY_ADD_LOOP(multiply_add_avx512, __attribute__((target("avx512f"))), 64)
MULTIPLY_ADD_LOOP(multiply_add_avx2, __attribute__((target("avx2,fma"))), 32)
#endif
#if defined(__riscv) || defined(__arm__)
MULTIPLY_ADD_LOOP(multiply_add_plain, , 4) /* no vectors without being asked for */
#define PLAIN_LANES 1
#else
MULTIPLY_ADD_LOOP(multiply_add_plain, , 16)
#define PLAIN_LANES 4
#endif

#if defined(__arm__)

int tenon_unasked_vector_bytes(void)
{
    const unsigned long kNeon = 1UL << 12; /* HWCAP_NEON */
    return getauxval(AT_HWCAP) & kNeon ? 16 : 0;
}

/* In instructions, for C's vectors are not NEON's: these round denormals to zero. */
__attribute__((target("fpu=neon"))) static float multiply_add_vectors(long steps, float seed)
{
    typedef float vector __attribute__((vector_size(16)));
    vector sums[kSums] = {{0}};
    const vector scale = {seed, seed, seed, seed};
    for (long s = 0; s < steps; ++s)
        _Pragma("GCC unroll 12") for (int i = 0; i < kSums; ++i) __asm__ volatile(
            "vmla.f32 %q0, %q1, %q1" : "+w"(sums[i]) : "w"(scale));
    return sums[0][0] + sums[kSums - 1][0];
}

#elif defined(__riscv)

int tenon_unasked_vector_bytes(void)
{
    long bytes;
    if (!((getauxval(AT_HWCAP) >> ('V' - 'A')) & 1)) return 0;
    __asm__("csrr %0, 0xC22" : "=r"(bytes)); /* vlenb */
    return (int)bytes;
}

/* No vector register is the compiler's, which knows none. */
static float multiply_add_vectors(long steps, float seed)
{
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli t0, zero, e32, m1, ta, ma\n\t"
                     "vfmv.v.f v4, %0\n\t.option pop"
                     :
                     : "f"(seed)
                     : "t0");
    for (long s = 0; s < steps; ++s)
        __asm__ volatile(".option push\n\t.option arch, +v\n\t"
                         "vfmacc.vv v8, v4, v4\n\tvfmacc.vv v9, v4, v4\n\t"
                         "vfmacc.vv v10, v4, v4\n\tvfmacc.vv v11, v4, v4\n\t"
                         "vfmacc.vv v12, v4, v4\n\tvfmacc.vv v13, v4, v4\n\t"
                         "vfmacc.vv v14, v4, v4\n\tvfmacc.vv v15, v4, v4\n\t"
                         "vfmacc.vv v16, v4, v4\n\tvfmacc.vv v17, v4, v4\n\t"
                         "vfmacc.vv v18, v4, v4\n\tvfmacc.vv v19, v4, v4\n\t.option pop");
    return seed;
}

#else

int tenon_unasked_vector_bytes(void) { return 0; }

#endif

static unsigned long long read_bytes(const void* from, size_t bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return read_avx512(from, bytes / sizeof(wide_words));
    if (__builtin_cpu_supports("avx2")) return read_avx2(from, bytes / sizeof(half_wide_words));
#endif
    return read_words(from, bytes / sizeof(words));
}

void tenon_read_block(void* data, long steps)
{
    tenon_block* block = data;
    size_t left = (size_t)steps * kTenonReadStep;
    while (left > 0) {
        const size_t run = block->bytes - block->at < left ? block->bytes - block->at : left;
        block->sum ^= read_bytes((const char*)block->data + block->at, run);
        block->at = block->at + run == block->bytes ? 0 : block->at + run;
        left -= run;
    }
    __asm__ volatile("" : : "r"(&block->sum) : "memory");
}

void tenon_multiply_add(void* data, long steps)
{
    tenon_sums* sums = data;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        sums->sum += multiply_add_avx512(steps, sums->seed);
        return;
    }
    if (__builtin_cpu_supports("fma")) {
        sums->sum += multiply_add_avx2(steps, sums->seed);
        return;
    }
#elif defined(__arm__) || defined(__riscv)
    if (tenon_unasked_vector_bytes() > 0) {
        sums->sum += multiply_add_vectors(steps, sums->seed);
        return;
    }
#endif
    sums->sum += multiply_add_plain(steps, sums->seed);
}

double tenon_macs_per_step(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return kSums * 16;
    if (__builtin_cpu_supports("fma")) return kSums * 8;
#elif defined(__arm__) || defined(__riscv)
    if (tenon_unasked_vector_bytes() > 0)
        return kSums * (tenon_unasked_vector_bytes() / (int)sizeof(float));
#endif
    return kSums * PLAIN_LANES;
}
