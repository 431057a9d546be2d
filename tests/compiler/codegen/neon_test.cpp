// SPDX-License-Identifier: Apache-2.0
// What AArch64 does with bytes, run under emulation: sums of products with and without dot
// products, and the narrowing of results.
#include "compiler/schedule/lower.h"
#include "tests/compiler/codegen/lookup_text.h"
#include "tests/compiler/codegen/neon_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Without dot products, with them, and with products of matrices.
constexpr const char* kProcessors[] = {"cortex-a72", "cortex-a76", "neoverse-n2"};

int32_t byteOf(int32_t quad, int byte) { return static_cast<int8_t>(quad >> (8 * byte)); }

TEST(Neon, ChoosesFromATableOf256Bytes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    std::vector<int32_t> x, table;
    std::vector<int> bytes, entries;
    for (int i = 0; i < 256; ++i) {
        bytes.push_back((i * 37 + 11) & 255); // each byte once, in some order
        entries.push_back((i * 73 + 5) & 255);
    }
    for (size_t word = 0; word < 64; ++word) {
        x.push_back(wordOf(bytes, word));
        table.push_back(wordOf(entries, word));
    }
    for (const int lanes : {4, 8, 16, 32}) {
        auto function = tir::parsePrimFunc(test::lookupText(lanes));
        ASSERT_TRUE(function) << function.error().text();
        function->body = lowerVectorized(function->body);
        const std::vector<int> y = run(tir::print(*function), "cortex-a72", x, table, 256);
        for (size_t i = 0; i < 256; ++i)
            EXPECT_EQ(y[i], static_cast<int8_t>(entries[static_cast<size_t>(bytes[i])]))
                << lanes << " lanes, " << i;
    }
}

TEST(Neon, SumsProductsOfSignedBytes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    // The extremes come first; a narrow weight has no -128.
    const int32_t least = static_cast<int32_t>(0x80808080);
    std::vector<int32_t> a = {least, 0x7f7f7f7f, least, 0x01020304};
    const std::vector<int32_t> any = {least, least, 0x7f7f7f7f, 0x01ff02fe};
    const std::vector<int32_t> narrow = {static_cast<int32_t>(0x81818181),
                                         static_cast<int32_t>(0x817f8181), 0x7f7f7f7f, 0x01ff02fe};
    for (const char* name : {"dot_i8i8", "dot_i8narrow"}) {
        const std::vector<int32_t>& b = std::string(name) == "dot_i8i8" ? any : narrow;
        // Once with lanes of their own, once with one that all lanes share.
        for (const char* index : {"T.Ramp(0, 1, 4)", "T.Broadcast(2, 4)"}) {
            const std::string text = std::string(R"(@T.prim_func
def main(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32"), y: T.Buffer((4,), "int32")):
    y[T.Ramp(0, 1, 4)] = T.Broadcast(T.int32(7), 4) + T.)") +
                                     name + "(T.Broadcast(T.int32(0), 4), a[" + index +
                                     "], b[T.Ramp(0, 1, 4)])\n";
            for (const char* processor : kProcessors) {
                const std::vector<int> y = run(text, processor, a, b, 16);
                for (size_t lane = 0; lane < 4; ++lane) {
                    const int32_t x = index[2] == 'R' ? a[lane] : a[2];
                    int32_t sum = 7;
                    for (int byte = 0; byte < 4; ++byte)
                        sum += byteOf(x, byte) * byteOf(b[lane], byte);
                    const int32_t got = wordOf(y, lane);
                    EXPECT_EQ(got, sum) << name << " " << index << " " << processor << " " << lane;
                }
            }
        }
    }
}

/// Five positions times two vectors of four channels, over 8 steps of two quads.
constexpr const char* kMatrixProduct = R"(@T.prim_func
def main(a: T.Buffer((80,), "int32"), b: T.Buffer((128,), "int32"), y: T.Buffer((40,), "int32")):
    with T.allocate((40,), "int32", scope="register") as sums:
        for p in T.unroll(5):
            for v in T.unroll(2):
                sums[T.Ramp(p * 8 + v * 4, 1, 4)] = T.Broadcast(T.Cast("int32", p), 4)
        for k in T.serial(8):
            for q in T.unroll(2):
                for p in T.unroll(5):
                    for v in T.unroll(2):
                        sums[T.Ramp(p * 8 + v * 4, 1, 4)] = sums[T.Ramp(p * 8 + v * 4, 1, 4)] + T.dot_i8i8(T.Broadcast(T.int32(0), 4), a[T.Broadcast(k * 10 + q * 5 + p, 4)], b[T.Ramp(k * 16 + q * 8 + v * 4, 1, 4)])
        for p in T.unroll(5):
            for v in T.unroll(2):
                y[T.Ramp(p * 8 + v * 4, 1, 4)] = sums[T.Ramp(p * 8 + v * 4, 1, 4)]
)";

TEST(Neon, MultipliesMatricesOfBytesWhereTheProcessorDoes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    std::vector<int32_t> a, b;
    for (uint32_t i = 0; i < 80; ++i)
        a.push_back(i < 5 ? static_cast<int32_t>(0x80808080)
                          : static_cast<int32_t>(2654435761u * (i + 1)));
    for (uint32_t i = 0; i < 128; ++i)
        b.push_back(i < 8 ? static_cast<int32_t>(0x80808080)
                          : static_cast<int32_t>(2246822519u * (i + 3)));
    for (const char* processor : kProcessors) {
        const std::vector<int> y = run(kMatrixProduct, processor, a, b, 160);
        for (size_t at = 0; at < 40; ++at) {
            const size_t position = at / 8, channel = at % 8;
            auto sum = static_cast<int32_t>(position);
            for (size_t step = 0; step < 16; ++step)
                for (int byte = 0; byte < 4; ++byte)
                    sum +=
                        byteOf(a[step * 5 + position], byte) * byteOf(b[step * 8 + channel], byte);
            EXPECT_EQ(wordOf(y, at), sum) << processor << " " << at;
        }
    }
    const std::string code = emitted(kMatrixProduct, "neoverse-n2", EmitForm::Assembly);
    EXPECT_NE(code.find("smmla"), std::string::npos) << code;
    // The fifth position has no other one.
    EXPECT_NE(code.find("sdot"), std::string::npos) << code;
}

/// y = limits(int32(limits(round(a * b))) + zero) for sixteen lanes in four stores.
std::string requantization(const std::string& zero, const std::string& least,
                           const std::string& most, const std::string& dtype)
{
    return R"(@T.prim_func
def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32"), y: T.Buffer((16,), ")" +
           dtype + R"(")):
    for i in T.unroll(4):
        y[T.Ramp(i * 4, 1, 4)] = T.Cast(")" +
           dtype +
           R"(x4", T.min(T.max(T.Cast("int32x4", T.min(T.max(T.round(a[T.Ramp(i * 4, 1, 4)] * b[T.Ramp(i * 4, 1, 4)]), T.Broadcast(T.float32(-1073741824), 4)), T.Broadcast(T.float32(1073741824), 4))) + T.Broadcast(T.int32()" +
           zero + "), 4), T.Broadcast(T.int32(" + least + "), 4)), T.Broadcast(T.int32(" + most +
           "), 4)))\n";
}

TEST(Neon, NarrowsResultsOfQuantizedLayers)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::vector<float> values = {0.5f,  1.5f,   -0.5f, -2.5f,  127.4f, 128,   -128.6f, -129,
                                       32767, -32769, 1e10f, -1e10f, 3e9f,   -3e9f, 100,     -5};
    std::vector<int32_t> a, ones(16, std::bit_cast<int32_t>(1.0f));
    for (const float value : values) a.push_back(std::bit_cast<int32_t>(value));
    struct Case
    {
        int zero, least, most;
        const char* dtype;
    };
    for (const Case& c : {Case{-3, -128, 127, "int8"}, Case{128, 0, 255, "uint8"},
                          Case{5, -3, 100, "int8"}, Case{0, 10, 200, "uint8"}}) {
        const std::string text = requantization(std::to_string(c.zero), std::to_string(c.least),
                                                std::to_string(c.most), c.dtype);
        EXPECT_NE(emitted(text, "cortex-a72", EmitForm::Assembly).find("fcvtns"),
                  std::string::npos);
        const std::vector<int> y = run(text, "cortex-a72", a, ones, 16);
        for (size_t i = 0; i < values.size(); ++i) {
            const double wanted =
                std::clamp<double>(std::nearbyint(double{values[i]}) + c.zero, c.least, c.most);
            EXPECT_EQ(y[i] & 255, static_cast<int>(wanted) & 255) << c.dtype << " " << values[i];
        }
    }
}

/// y = bytes of (bytes of a * b, with the zero point, - zero) * 1.5, two requantizations in a row.
std::string requantizedTwice(int zero, const std::string& dtype, const std::string& least,
                             const std::string& most)
{
    const auto limited = [&](const std::string& number, int zeroPoint) {
        return "T.Cast(\"" + dtype + "x4\", T.min(T.max(T.Cast(\"int32x4\", T.round(" + number +
               ")) + T.Broadcast(T.int32(" + std::to_string(zeroPoint) +
               "), 4), T.Broadcast(T.int32(" + least + "), 4)), T.Broadcast(T.int32(" + most +
               "), 4)))";
    };
    const std::string inner = limited("a[T.Ramp(i * 4, 1, 4)] * b[T.Ramp(i * 4, 1, 4)]", zero);
    return R"(@T.prim_func
def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32"), y: T.Buffer((16,), ")" +
           dtype + R"(")):
    for i in T.unroll(4):
        y[T.Ramp(i * 4, 1, 4)] = )" +
           limited("T.Cast(\"float32x4\", T.Cast(\"int32x4\", " + inner +
                       ") - T.Broadcast(T.int32(" + std::to_string(zero) +
                       "), 4)) * T.Broadcast(T.float32(1.5), 4)",
                   3) +
           "\n";
}

TEST(Neon, RequantizesTwiceWithoutBytesBetween)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::vector<float> values = {0.5f,   1.5f,   -0.5f, -2.5f,  84.4f,  85.0f,
                                       -85.6f, -0.25f, 32767, -32769, 254.5f, 255.5f,
                                       1,      -1,     100,   -127.5f};
    std::vector<int32_t> a, ones(16, std::bit_cast<int32_t>(1.0f));
    for (const float value : values) a.push_back(std::bit_cast<int32_t>(value));
    struct Case
    {
        int zero, least, most;
        const char* dtype;
    };
    for (const Case& c : {Case{-4, -128, 127, "int8"}, Case{0, -128, 127, "int8"},
                          Case{128, 0, 255, "uint8"}, Case{5, -3, 100, "int8"}}) {
        const std::string text =
            requantizedTwice(c.zero, c.dtype, std::to_string(c.least), std::to_string(c.most));
        const std::string code = emitted(text, "cortex-a72", EmitForm::Assembly);
        EXPECT_NE(code.find("frintn"), std::string::npos) << code;
        const std::vector<int> y = run(text, "cortex-a72", a, ones, 16);
        for (size_t i = 0; i < values.size(); ++i) {
            const auto limited = [&](double number) {
                return std::clamp<double>(number, c.least, c.most);
            };
            const double between = limited(std::nearbyint(double{values[i]}) + c.zero);
            const double wanted = limited(std::nearbyint((between - c.zero) * 1.5) + 3);
            EXPECT_EQ(y[i] & 255, static_cast<int>(wanted) & 255) << c.dtype << " " << values[i];
        }
    }
}

TEST(Neon, WritesSixteenBytesAtOnceAndMultipliesByLanes)
{
    const std::string narrowed =
        emitted(requantization("-3", "-128", "127", "int8"), "cortex-a72", EmitForm::Assembly);
    EXPECT_NE(narrowed.find("sqxtn2"), std::string::npos) << narrowed;
    EXPECT_NE(narrowed.find("str\tq"), std::string::npos) << narrowed;
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32"), y: T.Buffer((16,), "int32")):
    with T.allocate((16,), "int32", scope="register") as sums:
        for i in T.unroll(4):
            sums[T.Ramp(i * 4, 1, 4)] = T.Broadcast(T.int32(7), 4) + T.dot_i8narrow(T.Broadcast(T.int32(0), 4), a[T.Broadcast(i, 4)], b[T.Ramp(0, 1, 4)])
        for i in T.unroll(4):
            y[T.Ramp(i * 4, 1, 4)] = sums[T.Ramp(i * 4, 1, 4)]
)";
    EXPECT_NE(emitted(text, "cortex-a76", EmitForm::Assembly).find(".4b[3]"), std::string::npos);
    const std::string products = emitted(text, "cortex-a72", EmitForm::Assembly);
    EXPECT_NE(products.find("ld4r"), std::string::npos) << products;
    EXPECT_NE(products.find("smlal"), std::string::npos) << products;
}

/// Without a dot product, loads copy the pairs of two neighbours, and those of the last one alone.
TEST(Neon, CopiesPairsOfBytesWhereTheyAreLoaded)
{
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((3,), "int32"), b: T.Buffer((4,), "int32"), y: T.Buffer((12,), "int32")):
    for i in T.unroll(3):
        y[T.Ramp(i * 4, 1, 4)] = T.dot_i8narrow(T.Broadcast(T.int32(0), 4), a[T.Broadcast(i, 4)], b[T.Ramp(0, 1, 4)])
)";
    // Loads pass no store that may write what they read: sums are stored behind all of them.
    std::string apart = text;
    apart.replace(apart.find("    for i"), std::string::npos,
                  R"(    with T.allocate((12,), "int32", scope="register") as sums:
        for i in T.unroll(3):
            sums[T.Ramp(i * 4, 1, 4)] = T.dot_i8narrow(T.Broadcast(T.int32(0), 4), a[T.Broadcast(i, 4)], b[T.Ramp(0, 1, 4)])
        for i in T.unroll(3):
            y[T.Ramp(i * 4, 1, 4)] = sums[T.Ramp(i * 4, 1, 4)]
)");
    const std::string code = emitted(apart, "cortex-a72", EmitForm::Assembly);
    EXPECT_NE(code.find("ld4r"), std::string::npos) << code;
    EXPECT_NE(code.find("ld2r"), std::string::npos) << code;
    EXPECT_EQ(code.find(".h["), std::string::npos) << code;
    EXPECT_EQ(emitted(text, "cortex-a72", EmitForm::Assembly).find("ld4r"), std::string::npos);
    EXPECT_EQ(emitted(apart, "cortex-a76", EmitForm::Assembly).find("ld4r"), std::string::npos);
}

/// Eight positions of four channels times two vectors of filters, all of 16 bits.
TEST(Neon, MultipliesSixteenBitsByLanes)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((8,), "int16"), b: T.Buffer((32,), "int16"), y: T.Buffer((16,), "int32")):
    with T.allocate((16,), "int32", scope="register") as sums:
        for p in T.unroll(2):
            for v in T.unroll(2):
                sums[T.Ramp(p * 8 + v * 4, 1, 4)] = T.Broadcast(T.int32(3), 4)
        for c in T.unroll(4):
            for p in T.unroll(2):
                for v in T.unroll(2):
                    sums[T.Ramp(p * 8 + v * 4, 1, 4)] = sums[T.Ramp(p * 8 + v * 4, 1, 4)] + T.Cast("int32x4", a[T.Broadcast(p * 4 + c, 4)]) * T.Cast("int32x4", b[T.Ramp(c * 8 + v * 4, 1, 4)])
        for p in T.unroll(2):
            for v in T.unroll(2):
                y[T.Ramp(p * 8 + v * 4, 1, 4)] = sums[T.Ramp(p * 8 + v * 4, 1, 4)]
)";
    std::vector<int32_t> a, b;
    for (uint32_t i = 0; i < 4; ++i) a.push_back(static_cast<int32_t>(2654435761u * (i + 1)));
    for (uint32_t i = 0; i < 16; ++i) b.push_back(static_cast<int32_t>(2246822519u * (i + 3)));
    a[0] = b[0] = static_cast<int32_t>(0x80008000);
    const auto half = [](const std::vector<int32_t>& words, size_t at) {
        return uint32_t(static_cast<int16_t>(words[at / 2] >> (at % 2 * 16)));
    };
    for (const char* processor : kProcessors) {
        const std::vector<int> y = run(text, processor, a, b, 64);
        for (size_t at = 0; at < 16; ++at) {
            uint32_t sum = 3;
            for (size_t c = 0; c < 4; ++c) sum += half(a, at / 8 * 4 + c) * half(b, c * 8 + at % 8);
            EXPECT_EQ(wordOf(y, at), static_cast<int32_t>(sum)) << processor << " " << at;
        }
    }
    const std::string code = emitted(text, "cortex-a72", EmitForm::Assembly);
    // One register of inputs, and of filters the other half by the same load.
    EXPECT_NE(code.find(".h[7]"), std::string::npos) << code;
    EXPECT_NE(code.find("smlal2"), std::string::npos) << code;
    EXPECT_EQ(code.find("sshll"), std::string::npos) << code;
}

/// Quads that something else reads, too, stay whole; the copies come from them.
TEST(Neon, KeepsQuadsThatAreNotOnlyMultiplied)
{
    TENON_NEED_TOOL("aarch64-linux-gnu-gcc");
    TENON_NEED_TOOL("qemu-aarch64");
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32"), y: T.Buffer((8,), "int32")):
    with T.allocate((8,), "int32", scope="register") as sums:
        for i in T.unroll(2):
            sums[T.Ramp(i * 4, 1, 4)] = a[T.Broadcast(i, 4)] + T.dot_i8narrow(T.Broadcast(T.int32(0), 4), a[T.Broadcast(i, 4)], b[T.Ramp(0, 1, 4)])
        for i in T.unroll(2):
            y[T.Ramp(i * 4, 1, 4)] = sums[T.Ramp(i * 4, 1, 4)]
)";
    const std::vector<int32_t> a = {0x7f80ff01, static_cast<int32_t>(0x80817f02), 3, 4};
    const std::vector<int32_t> b = {static_cast<int32_t>(0x81818180), 0x7f7f7f7f, 0x01ff02fe, 5};
    const std::vector<int> y = run(text, "cortex-a72", a, b, 32);
    for (size_t at = 0; at < 8; ++at) {
        int32_t sum = a[at / 4];
        for (int byte = 0; byte < 4; ++byte)
            sum += byteOf(a[at / 4], byte) * byteOf(b[at % 4], byte);
        EXPECT_EQ(wordOf(y, at), sum) << at;
    }
    EXPECT_EQ(emitted(text, "cortex-a72", EmitForm::Assembly).find("ld4r"), std::string::npos);
}

/// A value that is read between two stores may be the one that the first store writes.
TEST(Neon, KeepsStoresBeforeWhatReadsThem)
{
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((16,), "float32"), b: T.Buffer((16,), "float32"), y: T.Buffer((16,), "int8")):
    for i in T.unroll(4):
        y[T.Ramp(i * 4, 1, 4)] = T.Cast("int8x4", T.min(T.max(T.Cast("int32x4", T.round(a[T.Ramp(i * 4, 1, 4)] + T.Cast("float32x4", y[T.Ramp(0, 1, 4)]))), T.Broadcast(T.int32(-128), 4)), T.Broadcast(T.int32(127), 4)))
)";
    EXPECT_EQ(emitted(text, "cortex-a72", EmitForm::Assembly).find("str\tq"), std::string::npos);
}

} // namespace
} // namespace tenon::compiler
