// SPDX-License-Identifier: Apache-2.0
// The functions behind tiles of sums of words, or of the bytes that these become: 2 filters x 2 to
// 4 positions, or 4 filters x 1, written for Cortex-M with DSP extension, whose registers are just
// enough.
#include "compiler/codegen/c/c_kernel.h"
#include "core/base/text.h"

#include <set>
#include <vector>

namespace tenon::compiler {
namespace {

constexpr std::string_view kBytesCall = "bytes_of_words_";

/// What a name says: dot_words_2x<positions>_<stride>, or dot_bytes_4x1_<stride>.
struct WordDots
{
    bool isWidened; ///< whether data are
    int filters, positions, stride;

    std::string name() const { return (isWidened ? "dot_words_" : "dot_bytes_") + shape(); }
    /// Of what rounds the sums to bytes.
    std::string bytesName() const { return std::string(kBytesCall) + shape(); }
    std::string shape() const
    {
        return std::to_string(filters) + "x" + std::to_string(positions) + "_" +
               std::to_string(stride);
    }
    friend auto operator<=>(const WordDots&, const WordDots&) = default;
};

/// What names that begin so ask for.
std::set<WordDots> calledIn(const std::string& kernels, std::string_view call, bool isWidened)
{
    std::set<WordDots> out;
    for (size_t at = kernels.find(call); at != std::string::npos; at = kernels.find(call, at + 1)) {
        const size_t digits = at + call.size();
        out.insert({isWidened, kernels[digits] - '0', kernels[digits + 2] - '0',
                    std::stoi(kernels.substr(digits + 4))});
    }
    return out;
}

/// One half of a step. Sums are in r4 to r11, weights in r3 and ip, data in r0 and lr: data of two
/// positions is one load.
void addHalf(std::vector<std::string>& lines, int positions)
{
    for (int p = 0; p < positions; p += 2) {
        const bool isPair = p + 1 < positions;
        lines.push_back(isPair ? "ldmia r1!, {r0, lr}" : "ldr r0, [r1], #4");
        for (int each = 0; each < (isPair ? 2 : 1); ++each)
            for (int f = 0; f < 2; ++f) {
                const std::string sum = "r" + std::to_string(4 + 2 * (p + each) + f);
                lines.push_back("smlad " + sum + ", " + (each ? "lr" : "r0") + ", " +
                                (f ? "ip" : "r3") + ", " + sum);
            }
    }
}

/// Weights of the odd bytes are read again where no register is left to keep them.
void addWordsStep(std::vector<std::string>& lines, const WordDots& dots)
{
    const std::string next = "[r2], #" + std::to_string(4 * dots.stride);
    const bool isKept = dots.positions < 4;
    const std::string first = isKept ? "r10" : "r3", second = isKept ? "r11" : "ip";
    lines.push_back("ldrd " + first + ", " + second + ", " + (isKept ? next : "[r2]"));
    lines.push_back("sxtb16 r3, " + first);
    lines.push_back("sxtb16 ip, " + second);
    addHalf(lines, dots.positions);
    if (!isKept) lines.push_back("ldrd r3, ip, " + next);
    lines.push_back("sxtb16 r3, " + first + ", ror #8");
    lines.push_back("sxtb16 ip, " + second + ", ror #8");
    addHalf(lines, dots.positions);
}

/// Sums in r4 to r7, weights in r8 to r11; data at any address.
void addBytesStep(std::vector<std::string>& lines, const WordDots& dots)
{
    for (const char* line : {"ldr r0, [r1], #4", "ldrd r10, r11, [r2, #8]"})
        lines.emplace_back(line);
    lines.push_back("ldrd r8, r9, [r2], #" + std::to_string(4 * dots.stride));
    lines.emplace_back("sxtb16 lr, r0");
    lines.emplace_back("sxtb16 r0, r0, ror #8");
    for (int f = 0; f < dots.filters; ++f) {
        const std::string sum = "r" + std::to_string(4 + f), word = "r" + std::to_string(8 + f);
        lines.push_back("sxtb16 r3, " + word);
        lines.push_back("sxtb16 " + word + ", " + word + ", ror #8");
        lines.push_back("smlad " + sum + ", lr, r3, " + sum);
        lines.push_back("smlad " + sum + ", r0, " + word + ", " + sum);
    }
}

/// The register that the end of the data is compared in: r0, from the stack, unless another is
/// left.
std::string endOf(const WordDots& dots)
{
    if (!dots.isWidened) return "ip";
    return dots.positions == 2 ? "r8" : "r0";
}

bool isEndOnStack(const WordDots& dots) { return endOf(dots) == "r0"; }

using Lines = std::vector<std::string>;

/// Two steps per turn, the first turn one where they are odd in number. r0 is free, but what ends
/// the data may be on the stack.
void addSteps(Lines& lines, const WordDots& dots)
{
    const auto addStep = dots.isWidened ? addWordsStep : addBytesStep;
    const int stepBytes = dots.isWidened ? 8 * dots.positions : 4;
    const std::string end = endOf(dots);
    lines.push_back("mov r0, #" + std::to_string(stepBytes));
    lines.push_back("mla " + end + ", r3, r0, r1");
    if (isEndOnStack(dots)) lines.emplace_back("push {r0, lr}");
    for (const char* line : {"tst r3, #1", "bne 2f", "1:"}) lines.emplace_back(line);
    addStep(lines, dots);
    lines.emplace_back("2:");
    addStep(lines, dots);
    if (isEndOnStack(dots)) lines.emplace_back("ldr r0, [sp]");
    lines.push_back("cmp r1, " + end);
    lines.emplace_back("bne 1b");
}

/// r0 holds the sums' address before and after.
Lines instructionsOf(const WordDots& dots)
{
    const std::string sums = "{r4-r" + std::to_string(3 + dots.filters * dots.positions) + "}";
    Lines lines{"push {r0, r4-r11, lr}", "ldmia r0, " + sums};
    addSteps(lines, dots);
    const bool isOnStack = isEndOnStack(dots);
    lines.emplace_back(isOnStack ? "ldr r0, [sp, #8]" : "ldr r0, [sp]");
    lines.push_back("stmia r0, " + sums);
    lines.emplace_back(isOnStack ? "add sp, sp, #12" : "add sp, sp, #4");
    lines.emplace_back("pop {r4-r11, pc}");
    return lines;
}

/// Both sums of a position are scaled by s14 and s15 and rounded; r3 is the zero point, r2 the way
/// from one position to the next.
void addRounding(Lines& lines, int position, bool isLast)
{
    const std::string a = "r" + std::to_string(4 + 2 * position);
    const std::string b = "r" + std::to_string(5 + 2 * position);
    lines.push_back("vmov s0, s1, " + a + ", " + b);
    for (const char* line :
         {"vcvt.f32.s32 s0, s0", "vcvt.f32.s32 s1, s1", "vmul.f32 s0, s0, s14",
          "vmul.f32 s1, s1, s15", "vcvtr.s32.f32 s0, s0", "vcvtr.s32.f32 s1, s1"})
        lines.emplace_back(line);
    lines.push_back("vmov " + a + ", " + b + ", s0, s1");
    for (const std::string& sum : {a, b}) {
        lines.push_back("add " + sum + ", " + sum + ", r3");
        lines.push_back("ssat " + sum + ", #8, " + sum);
    }
    lines.push_back("strb " + a + ", [r0]");
    lines.push_back("strb " + b + ", [r0, #1]");
    if (!isLast) lines.emplace_back("add r0, r0, r2");
}

/// Biases, scales, pitch and zero point are on the stack.
Lines instructionsOfBytes(const WordDots& dots)
{
    Lines lines{"push {r0, r4-r11, lr}", "ldr r4, [sp, #40]", "ldrd r4, r5, [r4]"};
    for (int sum = 2; sum < 2 * dots.positions; ++sum)
        lines.push_back("mov r" + std::to_string(4 + sum) + ", r" + std::to_string(4 + sum % 2));
    addSteps(lines, dots);
    if (isEndOnStack(dots)) lines.emplace_back("add sp, sp, #8");
    for (const char* line : {"ldr r1, [sp, #44]", "ldrd r2, r3, [sp, #48]", "ldr r0, [sp], #4",
                             "vldmia r1, {s14, s15}"})
        lines.emplace_back(line);
    for (int p = 0; p < dots.positions; ++p) addRounding(lines, p, p + 1 == dots.positions);
    lines.emplace_back("pop {r4-r11, pc}");
    return lines;
}

/// What the function means, for every other processor and compiler.
std::string loopsOf(const WordDots& dots)
{
    const std::string positions = std::to_string(dots.positions);
    if (!dots.isWidened)
        return "    const int8_t* bytes = (const int8_t*)data;\n"
               "    for (; steps > 0; --steps) {\n"
               "        const int32_t a = bytes[0], b = bytes[1], c = bytes[2], d = bytes[3];\n"
               "        for (int32_t f = 0; f < 4; ++f) {\n"
               "            const int32_t weight = weights[f];\n"
               "            sums[f] += a * (int8_t)weight + b * (int8_t)(weight >> 8) +\n"
               "                c * (int8_t)(weight >> 16) + d * (weight >> 24);\n"
               "        }\n"
               "        bytes += 4;\n"
               "        weights += " +
               std::to_string(dots.stride) + ";\n    }\n";
    return "    const int32_t* words = (const int32_t*)data;\n"
           "    for (; steps > 0; --steps) {\n"
           "        for (int32_t i = 0; i < 2 * " +
           positions +
           "; ++i) {\n"
           "            const int32_t even = words[i / 2], odd = words[i / 2 + " +
           positions +
           "];\n"
           "            const int32_t weight = weights[i % 2];\n"
           "            sums[i] += (int16_t)even * (int8_t)weight +\n"
           "                (even >> 16) * (int8_t)(weight >> 16) +\n"
           "                (int16_t)odd * (int8_t)(weight >> 8) + (odd >> 16) * (weight >> 24);\n"
           "        }\n"
           "        words += 2 * " +
           positions + ";\n        weights += " + std::to_string(dots.stride) + ";\n    }\n";
}

/// A function of instructions alone, up to its parameters.
std::string headOfNaked(const std::string& name)
{
    return "#ifdef __clang__\n"
           "__attribute__((naked, noinline))\n"
           "#else /* whose callers keep nothing in a register that any call may change */\n"
           "__attribute__((naked, noinline, noipa))\n"
           "#endif\n"
           "static void " +
           name + "(";
}

std::string bodyOfNaked(const Lines& lines)
{
    std::string text = ")\n{\n    __asm volatile(\n";
    for (const std::string& line : lines) text += "        \"" + line + "\\n\"\n";
    return text + "    );\n}\n";
}

constexpr std::string_view kHasWords =
    "defined(__ARM_FEATURE_SIMD32) && defined(__GNUC__) && __ARM_ARCH_PROFILE == 'M'";

std::string functionOf(const WordDots& dots)
{
    return "#if " + std::string(kHasWords) + "\n" + headOfNaked(dots.name()) +
           "__attribute__((unused)) int32_t* sums,\n"
           "    __attribute__((unused)) const void* data,\n"
           "    __attribute__((unused)) const int32_t* weights,\n"
           "    __attribute__((unused)) int32_t steps" +
           bodyOfNaked(instructionsOf(dots)) + "#else\nstatic void " + dots.name() +
           "(int32_t* sums, const void* data, const int32_t* weights,\n    int32_t steps)\n{\n" +
           loopsOf(dots) + "}\n#endif\n";
}

/// The same sums from biases on, as bytes: where floats are computed by instructions, too.
std::string functionOfBytes(const WordDots& dots, bool hasSums)
{
    const std::string count = std::to_string(dots.filters * dots.positions);
    return "#if " + std::string(kHasWords) + " && \\\n    defined(__ARM_FP) && (__ARM_FP & 4)\n" +
           headOfNaked(dots.bytesName()) +
           "__attribute__((unused)) int8_t* bytes,\n"
           "    __attribute__((unused)) const void* data,\n"
           "    __attribute__((unused)) const int32_t* weights,\n"
           "    __attribute__((unused)) int32_t steps,\n"
           "    __attribute__((unused)) const int32_t* biases,\n"
           "    __attribute__((unused)) const float* scales,\n"
           "    __attribute__((unused)) int32_t pitch,\n"
           "    __attribute__((unused)) int32_t zero_point" +
           bodyOfNaked(instructionsOfBytes(dots)) + "#else\n" + (hasSums ? "" : functionOf(dots)) +
           "static void " + dots.bytesName() +
           "(int8_t* bytes, const void* data, const int32_t* weights,\n"
           "    int32_t steps, const int32_t* biases, const float* scales, int32_t pitch,\n"
           "    int32_t zero_point)\n{\n    int32_t sums[" +
           count + "];\n    for (int32_t i = 0; i < " + count +
           "; ++i) sums[i] = biases[i % 2];\n    " + dots.name() +
           "(sums, data, weights, steps);\n    for (int32_t i = 0; i < " + count +
           "; ++i) {\n"
           "        const int32_t whole = (int32_t)rintf((float)sums[i] * scales[i % 2]);\n"
           "        const int32_t moved = whole + zero_point;\n"
           "        bytes[i / 2 * pitch + i % 2] =\n"
           "            (int8_t)(moved < -128 ? -128 : moved > 127 ? 127 : moved);\n"
           "    }\n}\n#endif\n";
}

constexpr std::string_view kWiden =
    "#if defined(__ARM_FEATURE_SIMD32) && defined(__GNUC__)\n"
    "static inline int32_t widen_even(int32_t x)\n"
    "{\n    __asm(\"sxtb16 %0, %1\" : \"=r\"(x) : \"r\"(x));\n    return x;\n}\n"
    "static inline int32_t widen_odd(int32_t x)\n"
    "{\n    __asm(\"sxtb16 %0, %1, ror #8\" : \"=r\"(x) : \"r\"(x));\n    return x;\n}\n"
    "#else\n"
    "static inline int32_t widen_even(int32_t x)\n"
    "{\n"
    "    return (int32_t)(((uint32_t)(int8_t)x & 0xffffu) | (uint32_t)(int8_t)(x >> 16) << 16);\n"
    "}\n"
    "static inline int32_t widen_odd(int32_t x) { return widen_even(x >> 8); }\n"
    "#endif\n";

} // namespace

std::string cWordDots(const std::string& kernels)
{
    const std::set<WordDots> words = calledIn(kernels, "dot_words_", true);
    std::string out(kernels.find("widen_even(") == std::string::npos ? "" : kWiden);
    for (const WordDots& dots : calledIn(kernels, "dot_bytes_", false)) out += functionOf(dots);
    for (const WordDots& dots : words) out += functionOf(dots);
    for (const WordDots& dots : calledIn(kernels, kBytesCall, true))
        out += functionOfBytes(dots, words.contains(dots));
    return out;
}

} // namespace tenon::compiler
