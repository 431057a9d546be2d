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
    {"i32_of_f32(", "static inline int32_t i32_of_f32(float x)\n"
                    "{\n    union { float number; int32_t bits; } same = {x};\n"
                    "    return same.bits;\n}\n"},
    {"f32_of_i32(", "static inline float f32_of_i32(int32_t x)\n"
                    "{\n    union { int32_t bits; float number; } same = {x};\n"
                    "    return same.number;\n}\n"},
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
    {"dot_i8x16(",
     "static inline int32_t dot_i8x16(int32_t sum, const int8_t* a, const int32_t* b)\n"
     "{\n"
     "    return vmladavaq_s8(sum, vldrbq_s8(a), vldrbq_s8((const int8_t*)b));\n"
     "}\n"},
    {"dot_i8x8(", "static inline int32_t dot_i8x8(int32_t sum, const int8_t* a, const int32_t* b)\n"
                  "{\n"
                  "    return vmladavaq_s16(sum, vldrbq_s16(a), vldrbq_s16((const int8_t*)b));\n"
                  "}\n"},
    {"dot_u8(", "static inline int32_t dot_u8(int32_t sum, int32_t a, int32_t b)\n"
                "{\n"
                "    sum += (uint8_t)a * (int8_t)b;\n"
                "    sum += (uint8_t)(a >> 8) * (int8_t)(b >> 8);\n"
                "    sum += (uint8_t)(a >> 16) * (int8_t)(b >> 16);\n"
                "    return sum + (uint8_t)(a >> 24) * (b >> 24);\n"
                "}\n"},
    {"power_of_two(", "static inline float power_of_two(int32_t n)\n"
                      "{\n"
                      "    const uint32_t bits = (uint32_t)(n + 127) << 23;\n"
                      "    float power;\n"
                      "    memcpy(&power, &bits, sizeof power);\n"
                      "    return power;\n"
                      "}\n"},
    // x = n log 2 + r and a polynomial of r: 0.7 units of the last place at most, without what a
    // library brings along (1.5 KiB of code and 1 KiB of RAM of newlib's).
    {"exp_f32(", "static float exp_f32(float x)\n"
                 "{\n"
                 "    float r, p;\n"
                 "    int32_t n;\n"
                 "    if (x != x) return x;\n"
                 "    if (x > 88.72283f) return INFINITY;\n"
                 "    if (x < -103.97f) return 0.0f;\n"
                 "    n = (int32_t)(x * 1.44269504f + (x < 0.0f ? -0.5f : 0.5f));\n"
                 "    r = x - (float)n * 0.693359375f + (float)n * 2.12194440e-4f;\n"
                 "    p = 1.9875691500e-4f;\n"
                 "    p = p * r + 1.3981999507e-3f;\n"
                 "    p = p * r + 8.3334519073e-3f;\n"
                 "    p = p * r + 4.1665795894e-2f;\n"
                 "    p = p * r + 1.6666665459e-1f;\n"
                 "    p = p * r + 5.0000001201e-1f;\n"
                 "    p = p * r * r + r + 1.0f;\n"
                 "    return p * power_of_two(n / 2) * power_of_two(n - n / 2);\n"
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
    {"lanes_f32(", "static inline float32x4_t lanes_f32(float a, float b, float c, float d)\n"
                   "{\n"
                   "    float32x4_t lanes = vdupq_n_f32(a);\n"
                   "    lanes = vsetq_lane_f32(b, lanes, 1);\n"
                   "    lanes = vsetq_lane_f32(c, lanes, 2);\n"
                   "    return vsetq_lane_f32(d, lanes, 3);\n"
                   "}\n"},
    {"lanes_i32(", "static inline int32x4_t lanes_i32(int32_t a, int32_t b, int32_t c, int32_t d)\n"
                   "{\n"
                   "    int32x4_t lanes = vdupq_n_s32(a);\n"
                   "    lanes = vsetq_lane_s32(b, lanes, 1);\n"
                   "    lanes = vsetq_lane_s32(c, lanes, 2);\n"
                   "    return vsetq_lane_s32(d, lanes, 3);\n"
                   "}\n"},
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
    // What is no number in `a` stays; `b` is one.
    {"max_f32x4(", "static inline float32x4_t max_f32x4(float32x4_t a, float32x4_t b)\n"
                   "{\n"
                   "    return vpselq_f32(b, a, vcmpleq_f32(a, b));\n"
                   "}\n"},
    {"min_f32x4(", "static inline float32x4_t min_f32x4(float32x4_t a, float32x4_t b)\n"
                   "{\n"
                   "    return vpselq_f32(b, a, vcmpgeq_f32(a, b));\n"
                   "}\n"},
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
                   "#elif defined(__AVR__) /* whose library has no rintf */\n"
                   "    return (int32_t)lrintf(x);\n"
                   "#else\n"
                   "    return (int32_t)rintf(x);\n"
                   "#endif\n"
                   "}\n"},
    {"round_f32(", "static inline float round_f32(float x)\n"
                   "{\n"
                   "#if defined(__AVR__) || \\\n"
                   "    (defined(__ARM_FP) && defined(__thumb2__) && !defined(__SOFTFP__))\n"
                   "    return fabsf(x) < 8388608.0f ? copysignf((float)round_i32(x), x) : x;\n"
                   "#else\n"
                   "    return rintf(x);\n"
                   "#endif\n"
                   "}\n"},
    // What is no number becomes 0, as by any conversion.
    {"quantize_i8(", "static inline int8_t quantize_i8(float x, int32_t zero_point)\n"
                     "{\n"
                     "#if defined(__ARM_FP) && defined(__thumb2__) && !defined(__SOFTFP__) && \\\n"
                     "    defined(__ARM_FEATURE_QBIT) && defined(__GNUC__)\n"
                     "    int32_t whole = round_i32(x);\n"
                     "    __asm(\"qadd %0, %1, %2\" : \"=r\"(whole) : \"r\"(whole), "
                     "\"r\"(zero_point));\n"
                     "    __asm(\"ssat %0, #8, %1\" : \"=r\"(whole) : \"r\"(whole));\n"
                     "    return (int8_t)(x != x ? 0 : whole);\n"
                     "#else\n"
                     "    return (int8_t)min_f32(max_f32(round_f32(x) + (float)zero_point, "
                     "-128.0f), 127.0f);\n"
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
    {"saturate_i8x4(", "static inline int32x4_t saturate_i8x4(int32x4_t x)\n"
                       "{\n"
                       "    return vshrq_n_s32(vqshlq_n_s32(x, 24), 24);\n"
                       "}\n"},
    {"rsqrt_f32(", "static inline float rsqrt_f32(float x) { return 1.0f / sqrtf(x); }\n"},
    {"rsqrt_f64(", "static inline double rsqrt_f64(double x) { return 1.0 / sqrt(x); }\n"},
    {"sigmoid_f32(",
     "static inline float sigmoid_f32(float x) { return 1.0f / (1.0f + exp_f32(-x)); }\n"},
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

/// What helpers call themselves.
struct Need
{
    std::string_view helper, user;
};
constexpr Need kNeeds[] = {{"exp_f32(", "sigmoid_f32("},      {"power_of_two(", "exp_f32("},
                           {"power_of_two(", "sigmoid_f32("}, {"round_i32(", "round_f32("},
                           {"max_f32(", "quantize_i8("},      {"min_f32(", "quantize_i8("},
                           {"round_f32(", "quantize_i8("},    {"round_i32(", "quantize_i8("}};

bool isCalled(std::string_view helper, const std::string& kernels)
{
    if (kernels.find(helper) != std::string::npos) return true;
    for (const Need& need : kNeeds)
        if (need.helper == helper && kernels.find(need.user) != std::string::npos) return true;
    return false;
}

constexpr std::string_view kVectors =
    "#if !defined(__ARM_FEATURE_MVE) || !(__ARM_FEATURE_MVE & 2)\n"
    "#error \"made for Helium with floats: -mcpu=cortex-m55 -mfloat-abi=hard\"\n"
    "#endif\n"
    "#include <arm_mve.h>\n\n";

/// Of intrinsics' names, and of helpers that take vectors.
constexpr std::string_view kVectorMarks[] = {"q_s8(",  "q_u8(", "q_s32(", "q_u32(",
                                             "q_f32(", "q_n_",  "_i8x"};

bool usesVectors(const std::string& kernels)
{
    for (const std::string_view mark : kVectorMarks)
        if (kernels.find(mark) != std::string::npos) return true;
    return false;
}

} // namespace

std::string cHelpers(const std::string& kernels)
{
    std::string out;
    const bool hasVectors = usesVectors(kernels);
    for (const Helper& helper : kHelpers)
        if (isCalled(helper.name, kernels)) out += helper.text;
    out += cWordDots(kernels);
    if (out.find("divided_by_zero") != std::string::npos)
        out.insert(0, "/* Noted by the division that met it, read after the kernel. */\n"
                      "static int divided_by_zero;\n\n");
    if (!out.empty()) out += "\n";
    return std::string(hasVectors ? kVectors : "") + std::string(kCompilers) + out;
}

} // namespace tenon::compiler
