// SPDX-License-Identifier: Apache-2.0
// What AArch64 does with bytes between layers, run under emulation: how numbers become bytes and
// bytes change places.
#include "compiler/schedule/lower.h"
#include "tests/compiler/codegen/neon_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace tenon::compiler {
namespace {

TEST(NeonBytes, SaturatesWholeNumbersAsBytes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32"), y: T.Buffer((16,), "int8")):
    for i in T.unroll(2):
        y[T.Ramp(i * 8, 1, 8)] = T.Cast("int8x8", T.min(T.max(a[T.Ramp(i * 8, 1, 8)], T.Broadcast(T.float32(-128), 8)), T.Broadcast(T.float32(127), 8)))
)";
    const std::vector<float> values = {0,    1,     -1,     126,  127,   128,   -127,   -128,
                                       -129, 40000, -40000, 3e9f, -3e9f, 1e30f, -1e30f, NAN};
    std::vector<int32_t> a;
    for (const float value : values) a.push_back(std::bit_cast<int32_t>(value));
    EXPECT_EQ(emitted(text, "cortex-a72", EmitForm::Assembly).find("fmin"), std::string::npos);
    const std::vector<int> y = run(text, "cortex-a72", a, a, 16);
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(y[i], std::isnan(values[i])
                            ? 0
                            : static_cast<int>(std::clamp(values[i], -128.0f, 127.0f)))
            << values[i];
}

int timesOf(const std::string& word, const std::string& text)
{
    int times = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        ++times;
    return times;
}

/// Bytes 0 to 63, four to a word.
std::vector<int32_t> countedBytes()
{
    std::vector<int> bytes(64);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<int>(i);
    std::vector<int32_t> words;
    for (size_t word = 0; word < bytes.size() / 4; ++word) words.push_back(wordOf(bytes, word));
    return words;
}

TEST(NeonBytes, CopiesBytesBetweenPixelsAndPlanes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::string head = "@T.prim_func\ndef main(a: T.Buffer((48,), \"int8\"), b: T.Buffer((48,"
                             "), \"int8\"), y: T.Buffer((48,), \"int8\")):\n"
                             "    for part in T.unroll(3):\n        ";
    const std::vector<int> planes =
        run(head + "y[T.Ramp(part * 16, 1, 16)] = a[T.Ramp(part, 3, 16)]\n", "cortex-a72",
            countedBytes(), countedBytes(), 48);
    const std::vector<int> pixels =
        run(head + "y[T.Ramp(part, 3, 16)] = a[T.Ramp(part * 16, 1, 16)]\n", "cortex-a72",
            countedBytes(), countedBytes(), 48);
    for (int i = 0; i < 48; ++i) {
        EXPECT_EQ(planes[static_cast<size_t>(i)], i % 16 * 3 + i / 16) << i;
        EXPECT_EQ(pixels[static_cast<size_t>(i)], i % 3 * 16 + i / 3) << i;
    }
}

TEST(NeonBytes, CopiesBytesBetweenBlocksOfFourAndPlanes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const auto textOf = [](const char* copy) {
        return std::string(R"(@T.prim_func
def main(a: T.Buffer((64,), "int8"), b: T.Buffer((64,), "int8"), y: T.Buffer((64,), "int8")):
)") + copy;
    };
    struct Case
    {
        const char *copy, *instruction;
        std::function<int(int)> source;
    };
    const Case cases[] = {
        {"    for i in T.unroll(4):\n        y[T.Ramp(i * 16, 1, 16)] = a[T.Ramp(i, 4, 16)]\n",
         "ld4", [](int at) { return at % 16 * 4 + at / 16; }},
        {"    for i in T.unroll(16):\n        y[T.Ramp(i * 4, 1, 4)] = a[T.Ramp(i, 16, 4)]\n",
         "st4", [](int at) { return at % 4 * 16 + at / 4; }}};
    for (const Case& each : cases) {
        const std::string text = textOf(each.copy);
        const std::string code = emitted(text, "cortex-a72", EmitForm::Assembly);
        EXPECT_NE(code.find(each.instruction), std::string::npos) << code;
        const std::vector<int> y = run(text, "cortex-a72", countedBytes(), {0}, 64);
        for (int i = 0; i < 64; ++i)
            EXPECT_EQ(y[static_cast<size_t>(i)], each.source(i)) << each.instruction << " " << i;
    }
}

TEST(NeonBytes, PacksBytesOfFourVectors)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    auto function = tir::parsePrimFunc(R"(@T.prim_func
def main(x: T.Buffer((64,), "uint8"), b: T.Buffer((64,), "uint8"), y: T.Buffer((32,), "int32")):
    for i in T.vectorized(16):
        y[i] = T.bitwise_or(T.bitwise_or(T.bitwise_or(T.Cast("int32", x[i]), T.shift_left(T.Cast("int32", x[i + 16]), T.int32(8))), T.shift_left(T.Cast("int32", x[i + 32]), T.int32(16))), T.shift_left(T.Cast("int32", x[i + 48]), T.int32(24)))
    for i in T.vectorized(16):
        y[i + 16] = T.bitwise_or(T.bitwise_or(T.Cast("int32", x[i]), T.shift_left(T.Cast("int32", x[i + 16]), T.int32(8))), T.shift_left(T.Cast("int32", x[i + 32]), T.int32(16)))
)");
    ASSERT_TRUE(function) << function.error().text();
    function->body = lowerVectorized(function->body);
    const std::vector<int> y = run(tir::print(*function), "cortex-a72", countedBytes(), {0}, 128);
    for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(y[static_cast<size_t>(i)], i % 4 * 16 + i / 4) << i;
        EXPECT_EQ(y[static_cast<size_t>(64 + i)], i % 4 == 3 ? 0 : i % 4 * 16 + i / 4) << i;
    }
}

/// Ten columns of four channels times two taps, a loop over rows around them, as a depthwise layer.
TEST(NeonBytes, WidensNeighboursTogether)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((64,), "int8"), b: T.Buffer((8,), "int8"), y: T.Buffer((48,), "int32")):
    for row in T.serial(2):
        with T.allocate((24,), "int32", scope="register") as sums:
            for x in T.unroll(6):
                sums[T.Ramp(x * 4, 1, 4)] = T.Broadcast(T.int32(5), 4)
            for x in T.unroll(6):
                for t in T.unroll(2):
                    sums[T.Ramp(x * 4, 1, 4)] = sums[T.Ramp(x * 4, 1, 4)] + T.Cast("int32x4", T.Cast("int16x4", a[T.Ramp(row * 32 + x * 4 + t * 4, 1, 4)])) * T.Cast("int32x4", T.Cast("int16x4", b[T.Ramp(t * 4, 1, 4)]))
            for x in T.unroll(6):
                y[T.Ramp(row * 24 + x * 4, 1, 4)] = sums[T.Ramp(x * 4, 1, 4)]
)";
    std::vector<int32_t> a, b;
    for (uint32_t i = 0; i < 16; ++i) a.push_back(static_cast<int32_t>(2654435761u * (i + 1)));
    for (uint32_t i = 0; i < 2; ++i) b.push_back(static_cast<int32_t>(2246822519u * (i + 3)));
    a[3] = b[0] = static_cast<int32_t>(0x80808080);
    const auto byteAt = [](const std::vector<int32_t>& words, size_t at) {
        return static_cast<int>(static_cast<int8_t>(words[at / 4] >> (at % 4 * 8)));
    };
    for (const char* processor : {"cortex-a72", "cortex-a76", "neoverse-n2"}) {
        const std::vector<int> y = run(text, processor, a, b, 192);
        for (size_t at = 0; at < 48; ++at) {
            const size_t from = at / 24 * 32 + at % 24;
            const int sum = 5 + byteAt(a, from) * byteAt(b, at % 4) +
                            byteAt(a, from + 4) * byteAt(b, 4 + at % 4);
            EXPECT_EQ(wordOf(y, at), sum) << processor << " " << at;
        }
    }
    const std::string code = emitted(text, "cortex-a72", EmitForm::Assembly);
    EXPECT_NE(code.find("smlal2"), std::string::npos) << code;
}

/// Three vectors of which two are narrowed together, and bits turned where 128 is taken off.
TEST(NeonBytes, NarrowsTwoVectorsOfThreeAtOnce)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((12,), "float32"), b: T.Buffer((12,), "float32"), y: T.Buffer((12,), "int8")):
    for i in T.unroll(3):
        y[T.Ramp(i * 4, 1, 4)] = T.Cast("int8x4", T.min(T.max(T.Cast("int32x4", T.round(a[T.Ramp(i * 4, 1, 4)])) + T.Broadcast(T.int32(-128), 4), T.Broadcast(T.int32(-128), 4)), T.Broadcast(T.int32(127), 4)))
)";
    const std::vector<float> values = {0,    0.5f,  1.5f,   -1,  254.5f, 255.5f,
                                       3e9f, -3e9f, 127.4f, 128, 100,    300};
    std::vector<int32_t> a;
    for (const float value : values) a.push_back(std::bit_cast<int32_t>(value));
    const std::vector<int> y = run(text, "cortex-a72", a, a, 12);
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(y[i], std::clamp(std::nearbyint(double{values[i]}) - 128, -128.0, 127.0)) << i;
    const std::string code = emitted(text, "cortex-a72", EmitForm::Assembly);
    EXPECT_EQ(timesOf("sqxtun\t", code), 2) << code;
    EXPECT_EQ(code.find("zip1"), std::string::npos) << code;
}

/// Eight positions times two vectors: sums take half of the registers.
TEST(NeonBytes, StoresNoMoreProductsOfCoresThatWait)
{
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((128,), "int32"), b: T.Buffer((128,), "int32"), y: T.Buffer((64,), "int32")):
    with T.allocate((64,), "int32", scope="register") as sums:
        for p in T.unroll(8):
            for v in T.unroll(2):
                sums[T.Ramp(p * 8 + v * 4, 1, 4)] = T.Broadcast(T.int32(0), 4)
        for k in T.serial(8):
            for q in T.unroll(2):
                for p in T.unroll(8):
                    for v in T.unroll(2):
                        sums[T.Ramp(p * 8 + v * 4, 1, 4)] = sums[T.Ramp(p * 8 + v * 4, 1, 4)] + T.dot_i8narrow(T.Broadcast(T.int32(0), 4), a[T.Broadcast(k * 16 + q * 8 + p, 4)], b[T.Ramp(k * 16 + q * 8 + v * 4, 1, 4)])
        for p in T.unroll(8):
            for v in T.unroll(2):
                y[T.Ramp(p * 8 + v * 4, 1, 4)] = sums[T.Ramp(p * 8 + v * 4, 1, 4)]
)";
    const std::string waiting = emitted(text, "cortex-a53", EmitForm::Assembly);
    const std::string other = emitted(text, "cortex-a72", EmitForm::Assembly);
    EXPECT_NE(waiting.find("sadalp"), std::string::npos) << waiting;
    EXPECT_LE(timesOf("[sp", waiting), timesOf("[sp", other)) << waiting;
}

} // namespace
} // namespace tenon::compiler
