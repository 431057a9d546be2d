// SPDX-License-Identifier: Apache-2.0
// Functions that kernels in C call, each where some kernel does; what Arm has instructions for says
// so to its compilers.
#include "compiler/codegen/c/c_kernel.h"

namespace tenon::compiler {
namespace {

struct Helper
{
    std::string_view name;
    std::string_view text;
};

constexpr Helper kHelpers[] = {
    {"abs_i32(", "static inline int32_t abs_i32(int32_t x) { return x < 0 ? -x : x; }\n"},
    {"abs_i64(", "static inline int64_t abs_i64(int64_t x) { return x < 0 ? -x : x; }\n"},
    {"checked_div_i32(",
     "static inline int32_t checked_div_i32(int32_t a, int32_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    return b == 0 ? 0 : b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;\n}\n"},
    {"checked_floordiv_i32(",
     "static inline int32_t checked_floordiv_i32(int32_t a, int32_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return b == 0 ? 0 : (int32_t)(0 - (uint32_t)a);\n"
     "    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"checked_floormod_i32(",
     "static inline int32_t checked_floormod_i32(int32_t a, int32_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return 0;\n"
     "    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    {"checked_mod_i32(", "static inline int32_t checked_mod_i32(int32_t a, int32_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 || b == -1 ? 0 : a % b;\n}\n"},
    {"checked_div_i64(",
     "static inline int64_t checked_div_i64(int64_t a, int64_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;\n}\n"},
    {"checked_floordiv_i64(",
     "static inline int64_t checked_floordiv_i64(int64_t a, int64_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return b == 0 ? 0 : (int64_t)(0 - (uint64_t)a);\n"
     "    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"checked_floormod_i64(",
     "static inline int64_t checked_floormod_i64(int64_t a, int64_t b)\n"
     "{\n    if (b == 0) divided_by_zero = 1;\n"
     "    if (b == 0 || b == -1) return 0;\n"
     "    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    {"checked_mod_i64(", "static inline int64_t checked_mod_i64(int64_t a, int64_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 || b == -1 ? 0 : a % b;\n}\n"},
    {"checked_div_u32(", "static inline uint32_t checked_div_u32(uint32_t a, uint32_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a / b;\n}\n"},
    {"checked_mod_u32(", "static inline uint32_t checked_mod_u32(uint32_t a, uint32_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a % b;\n}\n"},
    {"checked_div_u64(", "static inline uint64_t checked_div_u64(uint64_t a, uint64_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a / b;\n}\n"},
    {"checked_mod_u64(", "static inline uint64_t checked_mod_u64(uint64_t a, uint64_t b)\n"
                         "{\n    if (b == 0) divided_by_zero = 1;\n"
                         "    return b == 0 ? 0 : a % b;\n}\n"},
    // Two bytes of each word beside one another, then the other two: what one instruction
    // multiplies.
    {"dot_i8(",
     "#if defined(__ARM_FEATURE_SIMD32) && defined(__GNUC__)\n"
     "static inline int32_t dot_i8(int32_t sum, int32_t a, int32_t b)\n"
     "{\n"
     "    int32_t a_even, a_odd, b_even, b_odd;\n"
     "    __asm(\"sxtb16 %0, %1\" : \"=r\"(a_even) : \"r\"(a));\n"
     "    __asm(\"sxtb16 %0, %1\" : \"=r\"(b_even) : \"r\"(b));\n"
     "    __asm(\"sxtb16 %0, %1, ror #8\" : \"=r\"(a_odd) : \"r\"(a));\n"
     "    __asm(\"sxtb16 %0, %1, ror #8\" : \"=r\"(b_odd) : \"r\"(b));\n"
     "    __asm(\"smlad %0, %1, %2, %3\" : \"=r\"(sum) : \"r\"(a_even), \"r\"(b_even), "
     "\"r\"(sum));\n"
     "    __asm(\"smlad %0, %1, %2, %3\" : \"=r\"(sum) : \"r\"(a_odd), \"r\"(b_odd), \"r\"(sum));\n"
     "    return sum;\n"
     "}\n"
     "#else\n"
     "static inline int32_t dot_i8(int32_t sum, int32_t a, int32_t b)\n"
     "{\n"
     "    sum += (int8_t)a * (int8_t)b;\n"
     "    sum += (int8_t)(a >> 8) * (int8_t)(b >> 8);\n"
     "    sum += (int8_t)(a >> 16) * (int8_t)(b >> 16);\n"
     "    return sum + (a >> 24) * (b >> 24);\n"
     "}\n"
     "#endif\n"},
    {"dot_u8(", "static inline int32_t dot_u8(int32_t sum, int32_t a, int32_t b)\n"
                "{\n"
                "    sum += (uint8_t)a * (int8_t)b;\n"
                "    sum += (uint8_t)(a >> 8) * (int8_t)(b >> 8);\n"
                "    sum += (uint8_t)(a >> 16) * (int8_t)(b >> 16);\n"
                "    return sum + (uint8_t)(a >> 24) * (b >> 24);\n"
                "}\n"},
    // Rounded once where the processor has one instruction for it.
    {"fma_f32(", "static inline float fma_f32(float a, float b, float c)\n"
                 "{\n#ifdef __FP_FAST_FMAF\n    return fmaf(a, b, c);\n#else\n"
                 "    return a * b + c;\n#endif\n}\n"},
    {"fma_f64(", "static inline double fma_f64(double a, double b, double c)\n"
                 "{\n#ifdef __FP_FAST_FMA\n    return fma(a, b, c);\n#else\n"
                 "    return a * b + c;\n#endif\n}\n"},
    {"floordiv_i32(", "static inline int32_t floordiv_i32(int32_t a, int32_t b)\n"
                      "{\n    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"floordiv_i64(", "static inline int64_t floordiv_i64(int64_t a, int64_t b)\n"
                      "{\n    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"},
    {"floormod_i32(", "static inline int32_t floormod_i32(int32_t a, int32_t b)\n"
                      "{\n    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    {"floormod_i64(", "static inline int64_t floormod_i64(int64_t a, int64_t b)\n"
                      "{\n    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n}\n"},
    // A NaN on either side is the result.
    {"max_f32(",
     "static inline float max_f32(float a, float b) { return a > b || a != a ? a : b; }\n"},
    {"max_f64(",
     "static inline double max_f64(double a, double b) { return a > b || a != a ? a : b; }\n"},
    {"max_i32(", "static inline int32_t max_i32(int32_t a, int32_t b) { return a > b ? a : b; }\n"},
    {"max_i64(", "static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }\n"},
    {"max_u32(",
     "static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }\n"},
    {"max_u64(",
     "static inline uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }\n"},
    {"min_f32(",
     "static inline float min_f32(float a, float b) { return a < b || a != a ? a : b; }\n"},
    {"min_f64(",
     "static inline double min_f64(double a, double b) { return a < b || a != a ? a : b; }\n"},
    {"min_i32(", "static inline int32_t min_i32(int32_t a, int32_t b) { return a < b ? a : b; }\n"},
    {"min_i64(", "static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }\n"},
    {"min_u32(",
     "static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }\n"},
    {"min_u64(",
     "static inline uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }\n"},
    // One load where the processor reads words at any address; the first byte is the lowest.
    {"load_word(", "static inline int32_t load_word(const void* bytes)\n"
                   "{\n"
                   "    int32_t word;\n"
                   "    memcpy(&word, bytes, sizeof word);\n"
                   "    return word;\n"
                   "}\n"},
    // Halves to even; what is beyond 32 bits never comes here.
    {"round_i32(", "static inline int32_t round_i32(float x)\n"
                   "{\n"
                   "#if defined(__ARM_FP) && defined(__thumb2__) && !defined(__SOFTFP__)\n"
                   "    int32_t whole;\n"
                   "    __asm(\"vcvtr.s32.f32 %0, %1\" : \"=t\"(whole) : \"t\"(x));\n"
                   "    return whole;\n"
                   "#else\n"
                   "    return (int32_t)rintf(x);\n"
                   "#endif\n"
                   "}\n"},
    {"saturate_i8(", "static inline int8_t saturate_i8(int32_t x)\n"
                     "{\n"
                     "#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__)\n"
                     "    __asm(\"ssat %0, #8, %1\" : \"=r\"(x) : \"r\"(x));\n"
                     "    return (int8_t)x;\n"
                     "#else\n"
                     "    return (int8_t)(x < -128 ? -128 : x > 127 ? 127 : x);\n"
                     "#endif\n"
                     "}\n"},
    {"rsqrt_f32(", "static inline float rsqrt_f32(float x) { return 1.0f / sqrtf(x); }\n"},
    {"rsqrt_f64(", "static inline double rsqrt_f64(double x) { return 1.0 / sqrt(x); }\n"},
    {"sigmoid_f32(",
     "static inline float sigmoid_f32(float x) { return 1.0f / (1.0f + expf(-x)); }\n"},
    {"sigmoid_f64(",
     "static inline double sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }\n"},
};

/// GCC fuses products with sums unless it is told not to, also across statements, and does not know
/// the standard's pragma. GCC 12 for AArch64 calls a copy of a function for known addresses dead
/// and drops it (ivopts of `&workspace - 8 * &workspace`).
constexpr std::string_view kCompilers =
    "/* Every operation rounds by itself: fma_ says what does not. */\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"fp-contract=off\", \"no-ipa-cp\")\n"
    "#else\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#endif\n\n";

} // namespace

std::string cHelpers(const std::string& kernels)
{
    std::string out;
    for (const Helper& helper : kHelpers)
        if (kernels.find(helper.name) != std::string::npos) out += helper.text;
    if (out.find("divided_by_zero") != std::string::npos)
        out.insert(0, "/* Noted by the division that met it, read after the kernel. */\n"
                      "static int divided_by_zero;\n\n");
    if (!out.empty()) out += "\n";
    return std::string(kCompilers) + out;
}

} // namespace tenon::compiler
