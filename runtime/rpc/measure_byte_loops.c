/* SPDX-License-Identifier: Apache-2.0 */
/* Products of bytes, added to sums of 32 bits: by dot products where the processor has them, else
 * by what widens and multiplies. The instructions are written out, for a compiler would find that
 * every sum is the same. */
#include <stddef.h>
#include <stdint.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "measure_loops.h"

enum
{
    kSums = 12 /* as for floats */
};

/* One way of multiplying: `operation` adds products of `bytes` to `sum`, `spare` is its own. */
#define BYTE_LOOP(name, target, width, constraint, operation)                                      \
    target static int32_t name(long steps)                                                         \
    {                                                                                              \
        typedef int32_t vector __attribute__((vector_size(width)));                                \
        vector sums[kSums] = {{0}}, spare = {0};                                                   \
        const vector bytes = spare + 0x01010101;                                                   \
        for (long s = 0; s < steps; ++s)                                                           \
            _Pragma("GCC unroll 12") for (int i = 0; i < kSums; ++i) __asm__ volatile(             \
                operation : "+" constraint(sums[i]), "+" constraint(spare) : constraint(bytes));   \
        _Pragma("GCC unroll 12") for (int i = 1; i < kSums; ++i) sums[0] += sums[i];               \
        return sums[0][0];                                                                         \
    }

typedef struct
{
    int32_t (*loop)(long steps);
    int macs; /* of one operation */
} byte_loop;

#if defined(__x86_64__)

BYTE_LOOP(dot_avx512, __attribute__((target("avx512f,avx512vnni"))), 64, "v", "vpdpbusd %2, %2, %0")
BYTE_LOOP(pairs_avx512, __attribute__((target("avx512f,avx512bw"))), 64, "v",
          "vpmaddwd %2, %2, %1\n\tvpaddd %1, %0, %0")
BYTE_LOOP(pairs_avx2, __attribute__((target("avx2"))), 32, "x",
          "vpmaddwd %2, %2, %1\n\tvpaddd %1, %0, %0")
BYTE_LOOP(pairs_sse2, , 16, "x", "movdqa %2, %1\n\tpmaddwd %2, %1\n\tpaddd %1, %0")

static byte_loop best_loop(void)
{
    if (__builtin_cpu_supports("avx512vnni")) return (byte_loop){dot_avx512, 64};
    if (__builtin_cpu_supports("avx512bw")) return (byte_loop){pairs_avx512, 32};
    if (__builtin_cpu_supports("avx2")) return (byte_loop){pairs_avx2, 16};
    return (byte_loop){pairs_sse2, 8};
}

#elif defined(__aarch64__)

BYTE_LOOP(dot_products, __attribute__((target("arch=armv8.2-a+dotprod"))), 16, "w",
          "sdot %0.4s, %2.16b, %2.16b")
BYTE_LOOP(widened, , 16, "w",
          "smull %1.8h, %2.8b, %2.8b\n\tsmlal2 %1.8h, %2.16b, %2.16b\n\tsadalp %0.4s, %1.8h")

static byte_loop best_loop(void)
{
    const unsigned long kDotProducts = 1UL << 20; /* HWCAP_ASIMDDP */
    return getauxval(AT_HWCAP) & kDotProducts ? (byte_loop){dot_products, 16}
                                              : (byte_loop){widened, 16};
}

#else

/* Each sum waits for itself alone. */
static int32_t scalars(long steps)
{
    int32_t sums[kSums] = {0}, factor = 3;
    for (long s = 0; s < steps; ++s) {
        __asm__ volatile("" : "+r"(factor));
        _Pragma("GCC unroll 12") for (int i = 0; i < kSums; ++i)
        {
            sums[i] += factor * factor;
            __asm__ volatile("" : "+r"(sums[i]), "+r"(factor));
        }
    }
    for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
    return sums[0];
}

#if defined(__arm__)

BYTE_LOOP(words_neon, __attribute__((target("fpu=neon"))), 16, "w", "vmlal.s16 %q0, %e2, %e2")

static byte_loop best_loop(void)
{
    return tenon_unasked_vector_bytes() > 0 ? (byte_loop){words_neon, 4} : (byte_loop){scalars, 1};
}

#elif defined(__riscv)

/* Sums of two registers each; no vector register is the compiler's, which knows none. */
static int32_t words_rvv(long steps)
{
    __asm__ volatile(".option push\n\t.option arch, +v\n\tvsetvli t0, zero, e16, m1, ta, ma\n\t"
                     "vmv.v.i v2, 3\n\t.option pop"
                     :
                     :
                     : "t0");
    for (long s = 0; s < steps; ++s)
        __asm__ volatile(".option push\n\t.option arch, +v\n\t"
                         "vwmacc.vv v8, v2, v2\n\tvwmacc.vv v10, v2, v2\n\t"
                         "vwmacc.vv v12, v2, v2\n\tvwmacc.vv v14, v2, v2\n\t"
                         "vwmacc.vv v16, v2, v2\n\tvwmacc.vv v18, v2, v2\n\t"
                         "vwmacc.vv v20, v2, v2\n\tvwmacc.vv v22, v2, v2\n\t"
                         "vwmacc.vv v24, v2, v2\n\tvwmacc.vv v26, v2, v2\n\t"
                         "vwmacc.vv v28, v2, v2\n\tvwmacc.vv v30, v2, v2\n\t.option pop");
    return (int32_t)steps;
}

static byte_loop best_loop(void)
{
    const int bytes = tenon_unasked_vector_bytes();
    return bytes > 0 ? (byte_loop){words_rvv, bytes / 2} : (byte_loop){scalars, 1};
}

#else

static byte_loop best_loop(void) { return (byte_loop){scalars, 1}; }

#endif
#endif

void tenon_multiply_add_bytes(void* data, long steps)
{
    tenon_sums* sums = data;
    sums->sum += (float)(best_loop().loop(steps) & 1);
}

double tenon_byte_macs_per_step(void) { return (double)kSums * best_loop().macs; }
