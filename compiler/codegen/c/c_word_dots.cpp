// SPDX-License-Identifier: Apache-2.0
// The functions behind tiles of sums of words: 2 filters x 2 to 4 positions, or 4 filters x 1,
// written for Cortex-M with DSP extension, whose registers are just enough.
#include "compiler/codegen/c/c_kernel.h"
#include "core/base/text.h"

#include <set>
#include <vector>

namespace tenon::compiler {
namespace {

/// What a name says: dot_words_2x<positions>_<stride>, or dot_bytes_4x1_<stride>.
struct WordDots
{
    bool isWidened; ///< whether data are
    int filters, positions, stride;

    std::string name() const
    {
        return (isWidened ? "dot_words_" : "dot_bytes_") + std::to_string(filters) + "x" +
               std::to_string(positions) + "_" + std::to_string(stride);
    }
    friend auto operator<=>(const WordDots&, const WordDots&) = default;
};

std::set<WordDots> calledIn(const std::string& kernels)
{
    std::set<WordDots> out;
    for (const bool isWidened : {false, true}) {
        const std::string call = isWidened ? "dot_words_" : "dot_bytes_";
        for (size_t at = kernels.find(call); at != std::string::npos;
             at = kernels.find(call, at + 1)) {
            const size_t digits = at + call.size();
            out.insert({isWidened, kernels[digits] - '0', kernels[digits + 2] - '0',
                        std::stoi(kernels.substr(digits + 4))});
        }
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

/// Two steps per turn, the first turn one where they are odd in number. r0 holds the sums' address
/// before and after.
std::vector<std::string> instructionsOf(const WordDots& dots)
{
    const auto addStep = dots.isWidened ? addWordsStep : addBytesStep;
    const std::string sums = "{r4-r" + std::to_string(3 + dots.filters * dots.positions) + "}";
    const int stepBytes = dots.isWidened ? 8 * dots.positions : 4;
    const std::string end = endOf(dots);
    const bool isOnStack = end == "r0";
    std::vector<std::string> lines{"push {r0, r4-r11, lr}", "ldmia r0, " + sums,
                                   "mov r0, #" + std::to_string(stepBytes),
                                   "mla " + end + ", r3, r0, r1"};
    if (isOnStack) lines.emplace_back("push {r0, lr}");
    for (const char* line : {"tst r3, #1", "bne 2f", "1:"}) lines.emplace_back(line);
    addStep(lines, dots);
    lines.emplace_back("2:");
    addStep(lines, dots);
    if (isOnStack) lines.emplace_back("ldr r0, [sp]");
    lines.push_back("cmp r1, " + end);
    lines.emplace_back("bne 1b");
    lines.emplace_back(isOnStack ? "ldr r0, [sp, #8]" : "ldr r0, [sp]");
    lines.push_back("stmia r0, " + sums);
    lines.emplace_back(isOnStack ? "add sp, sp, #12" : "add sp, sp, #4");
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

std::string functionOf(const WordDots& dots)
{
    std::string text =
        "#if defined(__ARM_FEATURE_SIMD32) && defined(__GNUC__) && __ARM_ARCH_PROFILE == 'M'\n"
        "#ifdef __clang__\n"
        "__attribute__((naked, noinline))\n"
        "#else /* whose callers keep nothing in a register that any call may change */\n"
        "__attribute__((naked, noinline, noipa))\n"
        "#endif\n"
        "static void " +
        dots.name() +
        "(__attribute__((unused)) int32_t* sums,\n"
        "    __attribute__((unused)) const void* data,\n"
        "    __attribute__((unused)) const int32_t* weights,\n"
        "    __attribute__((unused)) int32_t steps)\n{\n    __asm volatile(\n";
    for (const std::string& line : instructionsOf(dots)) text += "        \"" + line + "\\n\"\n";
    return text + "    );\n}\n#else\nstatic void " + dots.name() +
           "(int32_t* sums, const void* data, const int32_t* weights,\n    int32_t steps)\n{\n" +
           loopsOf(dots) + "}\n#endif\n";
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
    const std::set<WordDots> called = calledIn(kernels);
    std::string out(kernels.find("widen_even(") == std::string::npos ? "" : kWiden);
    for (const WordDots& dots : called) out += functionOf(dots);
    return out;
}

} // namespace tenon::compiler
