// SPDX-License-Identifier: Apache-2.0
// What AArch64 does with bytes, run under emulation: sums of products with and without dot
// products, and the narrowing of results.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/schedule/lower.h"
#include "core/base/unsynced_file.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/codegen/lookup_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace tenon::compiler {
namespace {

/// Without dot products, with them, and with products of matrices.
constexpr const char* kProcessors[] = {"cortex-a72", "cortex-a76", "neoverse-n2"};

std::string emitted(const std::string& text, const std::string& processor, EmitForm form)
{
    const auto function = tir::parsePrimFunc(text);
    CHECK(function) << function.error().text();
    const auto machine =
        machineSpec(*parseTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=" + processor));
    CHECK(machine) << machine.error().text();
    const auto out = emitKernel({*function, "kernel"}, *machine, form);
    CHECK(out) << out.error().text();
    return *out;
}

std::string outputOf(const std::string& command)
{
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        output.append(block.data(), n);
    ::pclose(pipe);
    return output;
}

std::string listed(const std::vector<int32_t>& values)
{
    std::string out;
    for (const int32_t value : values) out += std::to_string(value) + ",";
    return out;
}

/// kernel(a, b, y) on arrays of int, whose bits are the kernel's elements; y's bytes as numbers.
std::vector<int> run(const std::string& text, const std::string& processor,
                     const std::vector<int32_t>& a, const std::vector<int32_t>& b, size_t bytes)
{
    const test::TemporaryFolder folder;
    const std::string program =
        "int kernel(void*, void*, void*) __attribute__((visibility(\"hidden\")));\n"
        "int printf(const char*, ...);\n"
        "int a[] = {" +
        listed(a) + "}, b[] = {" + listed(b) +
        "};\n"
        "signed char y[" +
        std::to_string(bytes) +
        "];\n"
        "int main(void) { int status = kernel(a, b, y);\n"
        "for (unsigned i = 0; i < sizeof y; ++i) printf(\"%d \", y[i]); return status; }\n";
    CHECK(writeNewFile(folder.file("main.c"), program));
    CHECK(writeNewFile(folder.file("kernel.o"), emitted(text, processor, EmitForm::Object)));
    const std::string said = outputOf(
        "aarch64-linux-gnu-gcc -static -o '" + folder.file("program") + "' '" +
        folder.file("main.c") + "' '" + folder.file("kernel.o") + "' && qemu-aarch64 -cpu " +
        (processor[0] == 'n' ? "max" : processor) + " '" + folder.file("program") + "'");
    std::istringstream words(said);
    std::vector<int> out;
    for (int value = 0; words >> value;) out.push_back(value);
    CHECK(out.size() == bytes) << said;
    return out;
}

int32_t byteOf(int32_t quad, int byte) { return static_cast<int8_t>(quad >> (8 * byte)); }

/// The 32-bit integer that four of the bytes are.
int32_t wordOf(const std::vector<int>& bytes, size_t index)
{
    uint32_t word = 0;
    for (size_t byte = 0; byte < 4; ++byte)
        word |= (static_cast<uint32_t>(bytes[4 * index + byte]) & 255u) << (8 * byte);
    return static_cast<int32_t>(word);
}

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
    // The extremes come first; a narrow weight has one -128 in a quad.
    const int32_t least = static_cast<int32_t>(0x80808080);
    std::vector<int32_t> a = {least, 0x7f7f7f7f, least, 0x01020304};
    const std::vector<int32_t> any = {least, least, 0x7f7f7f7f, 0x01ff02fe};
    const std::vector<int32_t> narrow = {static_cast<int32_t>(0x81818180),
                                         static_cast<int32_t>(0x80818181), 0x7f7f7f7f, 0x01ff02fe};
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
