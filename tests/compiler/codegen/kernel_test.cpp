// SPDX-License-Identifier: Apache-2.0
// Flat loop IR through LLVM and back as numbers: control flow, memory scopes, integer rules,
// parallel loops.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/schedule/lower.h"
#include "tests/support/jit_kernel.h"
#include "tests/support/parsed_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tenon {
namespace {

using core::Tensor;

template <class T>
std::vector<T> run(const std::string& text, const std::vector<Tensor>& inputs, int tasks = 1,
                   const char* target = "llvm -mcpu=native")
{
    tir::PrimFunc function = test::parsedFunction(text);
    function.body = compiler::lowerVectorized(function.body);
    const auto result = test::runCompiled(function, inputs, target, tasks);
    CHECK(result) << result.error().text();
    const auto values = result->at(0).as<T>();
    return {values.begin(), values.end()};
}

Tensor floats(const std::vector<float>& v)
{
    return Tensor::of(core::kFloat32, {static_cast<int64_t>(v.size())}, v);
}

TEST(Kernel, parallelLoopCoversEveryIterationOnceForAnyTaskCount)
{
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((13,), "float32"), y: T.Buffer((13,), "float32")):
    for i in T.parallel(13):
        y[i] = x[i] * T.float32(2)
)";
    std::vector<float> x;
    for (int i = 0; i < 13; ++i) x.push_back(static_cast<float>(i));
    for (const int tasks : {1, 2, 7}) {
        const auto y = run<float>(text, {floats(x)}, tasks);
        for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], 2 * x[i]) << tasks;
    }
}

TEST(Kernel, registerBufferAccumulatesAcrossAnUnrolledReduction)
{
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((64,), "float32"), y: T.Buffer((16,), "float32")):
    with T.allocate((16,), "float32", scope="register") as acc:
        acc[T.Ramp(0, 1, 16)] = T.Broadcast(T.float32(1), 16)
        for k in T.unroll(4):
            acc[T.Ramp(0, 1, 16)] = acc[T.Ramp(0, 1, 16)] + x[T.Ramp(k * 16, 1, 16)]
        y[T.Ramp(0, 1, 16)] = acc[T.Ramp(0, 1, 16)]
)";
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i));
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"}) {
        const auto y = run<float>(text, {floats(x)}, 1, target);
        for (size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], 1 + 4 * x[i] + 96) << target;
    }
}

TEST(Kernel, unrolledFunctionsTakeTurnsUnlessOneReadsWhatAnotherWrote)
{
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((112,), "float32"), y: T.Buffer((112,), "float32"), z: T.Buffer((112,), "float32")):
    for i in T.unroll(7):
        y[T.Ramp(i * 16, 1, 16)] = x[T.Ramp(i * 16, 1, 16)] * T.sigmoid(x[T.Ramp(i * 16, 1, 16)])
    z[T.Ramp(0, 1, 16)] = x[T.Ramp(0, 1, 16)]
    for i in T.unroll(6):
        z[T.Ramp(i * 16 + 16, 1, 16)] = T.sigmoid(z[T.Ramp(i * 16, 1, 16)])
)";
    std::vector<float> x;
    for (int i = 0; i < 112; ++i) x.push_back(static_cast<float>(i - 56) * 0.25F);
    auto function = test::parsedFunction(text);
    function.outputCount = 2;
    const auto results = test::runCompiled(function, {floats(x)}, "llvm -mcpu=native", 1);
    ASSERT_TRUE(results) << results.error().text();
    const auto y = results->at(0).as<float>(), z = results->at(1).as<float>();
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (size_t i = 0; i < 112; ++i) {
        EXPECT_NEAR(y[i], x[i] * sigmoid(x[i]), 1e-5) << i;
        const double expected = i < 16 ? x[i] : sigmoid(z[i - 16]);
        EXPECT_NEAR(z[i], expected, 1e-6) << i;
    }
}

/// One way back from 32 bits to bytes.
struct ByteCase
{
    const char* dtype;
    float factor;
    int zero, low, high;
};

template <class T>
void expectBytes(const ByteCase& c, int lanes, const char* target)
{
    std::string text = R"(@T.prim_func
def main(x: T.Buffer((112,), "int32"), y: T.Buffer((112,), "DTYPE")):
    for i in T.unroll(COUNT):
        for j in T.vectorized(LANES):
            y[i * LANES + j] = T.Cast("DTYPE", T.min(T.max(T.Cast("int32", T.min(T.max(T.round(T.Cast("float32", x[i * LANES + j]) * T.float32(FACTOR)), T.float32(-1073741824)), T.float32(1073741824))) + T.int32(ZERO), T.int32(LOW)), T.int32(HIGH)))
)";
    const std::pair<const char*, std::string> values[] = {{"DTYPE", c.dtype},
                                                          {"COUNT", std::to_string(112 / lanes)},
                                                          {"LANES", std::to_string(lanes)},
                                                          {"FACTOR", std::to_string(c.factor)},
                                                          {"ZERO", std::to_string(c.zero)},
                                                          {"LOW", std::to_string(c.low)},
                                                          {"HIGH", std::to_string(c.high)}};
    for (const auto& [key, value] : values)
        for (size_t at; (at = text.find(key)) != std::string::npos;)
            text.replace(at, std::strlen(key), value);
    std::vector<int32_t> x = {INT32_MIN, INT32_MAX, 1 << 30, -(1 << 30), 65537, -65537};
    while (x.size() < 112) x.push_back(static_cast<int32_t>(x.size()) * 7 - 400);
    const auto y = run<T>(text, {Tensor::of(core::kInt32, {112}, x)}, 1, target);
    for (size_t i = 0; i < 112; ++i) {
        const double whole = std::nearbyint(static_cast<float>(x[i]) * c.factor);
        const double expected = std::clamp<double>(whole + c.zero, c.low, c.high);
        EXPECT_EQ(static_cast<int>(y[i]), static_cast<int>(expected))
            << x[i] << " * " << c.factor << " + " << c.zero << ", " << lanes << " lanes, "
            << target;
    }
}

TEST(Kernel, sumsBecomeBytesRoundedToEvenAndSaturated)
{
    std::vector<const char*> targets = {"llvm -mcpu=native"};
#if defined(__x86_64__)
    targets.push_back("llvm -mcpu=x86-64");
    if (__builtin_cpu_supports("avx2")) targets.push_back("llvm -mcpu=haswell");
#endif
    for (const char* target : targets)
        for (const int lanes : {16, 8, 4, 1})
            for (const float factor : {0.5F, 0.0625F, 3.0F}) {
                expectBytes<uint8_t>({"uint8", factor, 128, 0, 255}, lanes, target);
                expectBytes<uint8_t>({"uint8", factor, 0, 0, 200}, lanes, target);
                expectBytes<uint8_t>({"uint8", factor, 255, 255, 255}, lanes, target);
                expectBytes<int8_t>({"int8", factor, -128, -128, 127}, lanes, target);
                expectBytes<int8_t>({"int8", factor, 3, 3, 127}, lanes, target);
            }
}

#if defined(__x86_64__)
TEST(Kernel, numbersLimitedBehindRoundingAreRoundedToEvenWithoutAnInstructionForIt)
{
    // What reads the first result also sees the sign of zero; NaN and infinities go through both.
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32"), z: T.Buffer((16,), "float32")):
    y[T.Ramp(0, 1, 16)] = T.min(T.max(T.round(x[T.Ramp(0, 1, 16)]), T.Broadcast(T.float32(-128), 16)), T.Broadcast(T.float32(127), 16))
    z[T.Ramp(0, 1, 16)] = T.round(T.min(T.max(x[T.Ramp(0, 1, 16)], T.Broadcast(T.float32(-128), 16)), T.Broadcast(T.float32(127), 16))) + T.Broadcast(T.float32(3), 16)
)";
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> x = {0.5F, 1.5F,  -0.5F,        -2.5F, -0.25F, 126.5F, 127.5F, -128.5F,
                                  5e6F, -5e6F, -12582912.0F, 3e9F,  -3e38F, inf,    -inf,   1.0F};
    auto function = test::parsedFunction(text);
    function.outputCount = 2;
    const auto results = test::runCompiled(function, {floats(x)}, "llvm -mcpu=x86-64", 1);
    ASSERT_TRUE(results) << results.error().text();
    for (size_t i = 0; i < x.size(); ++i) {
        const float near = std::clamp(std::nearbyint(x[i]), -128.0F, 127.0F);
        EXPECT_EQ(results->at(0).as<float>()[i], near) << x[i];
        EXPECT_EQ(std::signbit(results->at(0).as<float>()[i]), std::signbit(near)) << x[i];
        EXPECT_EQ(results->at(1).as<float>()[i], near + 3) << x[i];
    }
}
#endif

TEST(Kernel, floorDivisionRoundsDownForNegativeNumbers)
{
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((4,), "int64"), y: T.Buffer((8,), "int64")):
    for i in T.serial(4):
        y[i] = x[i] // 4
        y[i + 4] = x[i] % 4
)";
    const auto y = run<int64_t>(text, {Tensor::of<int64_t>(core::kInt64, {4}, {7, -7, -8, 0})});
    EXPECT_EQ(y, (std::vector<int64_t>{1, -2, -2, 0, 3, 1, 0, 0}));
}

TEST(Kernel, bigAllocationComesFromTheWorkspace)
{
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((40000,), "float32"), y: T.Buffer((40000,), "float32")):
    with T.allocate((40000,), "float32", scope="global") as t:
        for i in T.serial(40000):
            t[i] = x[i] + T.float32(1)
        for i in T.parallel(40000):
            y[i] = t[39999 - i]
)";
    std::vector<float> x;
    for (int i = 0; i < 40000; ++i) x.push_back(static_cast<float>(i));
    const auto y = run<float>(text, {floats(x)}, 2);
    EXPECT_EQ(y[0], 40000.0f);
    EXPECT_EQ(y[39999], 1.0f);
}

#if defined(__x86_64__)
/// Processors of each way of summing products of bytes that this computer can run.
std::vector<const char*> byteDotTargets()
{
    std::vector<const char*> targets = {"llvm -mcpu=x86-64"};
    if (__builtin_cpu_supports("ssse3")) targets.push_back("llvm -mcpu=nehalem");
    if (__builtin_cpu_supports("avx2")) targets.push_back("llvm -mcpu=haswell");
    if (__builtin_cpu_supports("avxvnni")) targets.push_back("llvm -mcpu=alderlake");
    if (__builtin_cpu_supports("avx512bw")) targets.push_back("llvm -mcpu=skylake-avx512");
    if (__builtin_cpu_supports("avx512vnni")) targets.push_back("llvm -mcpu=cascadelake");
    if (__builtin_cpu_supports("avx512vbmi")) targets.push_back("llvm -mcpu=icelake-server");
    return targets;
}

/// Of four bytes each, those of the first with or without a sign.
int32_t sumOfProducts(bool isUnsigned, int32_t a, int32_t b)
{
    int32_t sum = 0;
    for (int byte = 0; byte < 4; ++byte) {
        const auto value = static_cast<uint8_t>(a >> 8 * byte);
        sum += (isUnsigned ? int32_t{value} : static_cast<int8_t>(value)) *
               static_cast<int8_t>(b >> 8 * byte);
    }
    return sum;
}

TEST(Kernel, sumsProductsOfBytesWithoutSaturating)
{
    // Quads times quads of int8, each packed in an int32; the extremes come first. Narrow weights
    // have no -128.
    const std::string text = R"(@T.prim_func
def main(a: T.Buffer((16,), "int32"), b: T.Buffer((16,), "int32"), y: T.Buffer((16,), "int32")):
    for i in T.vectorized(LANES):
        y[i] = T.int32(7) + T.DOT(T.int32(0), a[i], b[i])
)";
    const auto least = static_cast<int32_t>(0x80808080);
    std::vector<int32_t> a = {-1, -1, 0x01020304, least, least, least};
    std::vector<int32_t> b = {least,      0x7f7f7f7f, 0x01ff02fe,
                              0x7f7f7f7f, least,      static_cast<int32_t>(0x81818181)};
    for (int32_t i = 6; i < 16; ++i) {
        a.push_back(static_cast<int32_t>(2654435761u * static_cast<uint32_t>(i)));
        b.push_back(static_cast<int32_t>(2246822519u * static_cast<uint32_t>(i + 5)));
    }
    for (const std::string dot : {"dot_u8i8", "dot_i8i8", "dot_i8narrow"}) {
        std::vector<int32_t> weights = b;
        if (dot == "dot_i8narrow")
            for (int32_t& quad : weights)
                for (int byte = 0; byte < 4; ++byte)
                    if (static_cast<int8_t>(quad >> 8 * byte) == -128) quad ^= 1 << 8 * byte;
        for (const char* target : byteDotTargets()) {
            for (const int lanes : {4, 8, 16}) {
                std::string sized = text;
                sized.replace(sized.find("LANES"), 5, std::to_string(lanes));
                sized.replace(sized.find("DOT"), 3, dot);
                const auto y = run<int32_t>(sized,
                                            {Tensor::of<int32_t>(core::kInt32, {16}, a),
                                             Tensor::of<int32_t>(core::kInt32, {16}, weights)},
                                            1, target);
                for (int i = 0; i < lanes; ++i)
                    EXPECT_EQ(y[i], 7 + sumOfProducts(dot == "dot_u8i8", a[i], weights[i]))
                        << dot << ", " << target << ", " << lanes << " lanes, element " << i;
            }
        }
    }
}
#endif

#if defined(__x86_64__)
TEST(Kernel, bytesOfVectorsBecomeQuads)
{
    // Four rows, three of them in another order, and two.
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((64,), "uint8"), y: T.Buffer((48,), "int32")):
    for i in T.vectorized(16):
        y[i] = T.bitwise_or(T.bitwise_or(T.bitwise_or(T.Cast("int32", x[i]), T.shift_left(T.Cast("int32", x[i + 16]), T.int32(8))), T.shift_left(T.Cast("int32", x[i + 32]), T.int32(16))), T.shift_left(T.Cast("int32", x[i + 48]), T.int32(24)))
    for i in T.vectorized(16):
        y[i + 16] = T.bitwise_or(T.bitwise_or(T.shift_left(T.Cast("int32", x[i + 48]), T.int32(16)), T.shift_left(T.Cast("int32", x[i]), T.int32(8))), T.Cast("int32", x[i + 32]))
    for i in T.vectorized(16):
        y[i + 32] = T.bitwise_or(T.Cast("int32", x[i]), T.shift_left(T.Cast("int32", x[i + 16]), T.int32(24)))
)";
    std::vector<uint8_t> x;
    for (unsigned i = 0; i < 64; ++i) x.push_back(static_cast<uint8_t>(255 - 37 * i));
    const auto quad = [](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
        return static_cast<int32_t>(a | b << 8 | c << 16 | d << 24);
    };
    for (const char* target : byteDotTargets()) {
        const auto y = run<int32_t>(text, {Tensor::of(core::kUInt8, {64}, x)}, 1, target);
        for (size_t i = 0; i < 16; ++i) {
            EXPECT_EQ(y[i], quad(x[i], x[i + 16], x[i + 32], x[i + 48])) << target << i;
            EXPECT_EQ(y[i + 16], quad(x[i + 32], x[i], x[i + 48], 0)) << target << i;
            EXPECT_EQ(y[i + 32], quad(x[i], 0, 0, x[i + 16])) << target << i;
        }
    }
}
#endif

TEST(Kernel, conditionalLoadsDoNotTouchMemoryOutside)
{
    const std::string text = R"(@T.prim_func
def main(x: T.Buffer((4,), "float32"), y: T.Buffer((16,), "float32")):
    for i in T.serial(16):
        y[i] = T.if_then_else(i >= 6 and i < 10, x[i - 6], T.float32(-1))
)";
    const auto y = run<float>(text, {floats({1, 2, 3, 4})});
    EXPECT_EQ(y[5], -1);
    EXPECT_EQ(y[6], 1);
    EXPECT_EQ(y[9], 4);
    EXPECT_EQ(y[10], -1);
}

std::string squareText(int lanes)
{
    const std::string n = std::to_string(lanes);
    return "@T.prim_func\ndef main(x: T.Buffer((640,), \"float32\"), y: T.Buffer((320,), "
           "\"float32\")):\n    for i in T.unroll(" +
           n + "):\n        y[T.Ramp(i * 20 + 1, 1, " + n + ")] = x[T.Ramp(i + 3, 37, " + n +
           ")]\n";
}

TEST(Kernel, rowsOfASquareBecomeColumns)
{
    std::vector<float> x;
    for (int i = 0; i < 640; ++i) x.push_back(static_cast<float>(i));
    for (const int lanes : {4, 8, 16}) {
        const auto y = run<float>(squareText(lanes), {floats(x)});
        for (size_t i = 0; i < static_cast<size_t>(lanes); ++i)
            for (size_t lane = 0; lane < static_cast<size_t>(lanes); ++lane)
                EXPECT_EQ(y[20 * i + 1 + lane], x[3 + i + 37 * lane]) << lanes;
    }
    const auto target = core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512");
    const auto machine = compiler::machineSpec(*target);
    ASSERT_TRUE(machine) << machine.error().text();
    const tir::PrimFunc square = test::parsedFunction(squareText(16));
    const auto assembly =
        compiler::emitKernel({square, "square", 64}, *machine, compiler::EmitForm::Assembly);
    ASSERT_TRUE(assembly) << assembly.error().text();
    EXPECT_EQ(assembly->find("gather"), std::string::npos) << *assembly;
}

/// Squares of rows that are `k + 8` apart, for each k.
std::string openSquareText(const std::string& dtype)
{
    return "@T.prim_func\ndef main(x: T.Buffer((104,), \"" + dtype + "\"), y: T.Buffer((320,), \"" +
           dtype +
           "\")):\n    for k in T.serial(5):\n        for i in T.unroll(8):\n"
           "            y[T.Ramp(k * 64 + i * 8, 1, 8)] = x[T.Ramp(0, 1, 8) * T.Broadcast(k + 8, 8)"
           " + T.Broadcast(i, 8)]\n";
}

template <class T>
void expectOpenSquares(core::DataType dtype)
{
    std::vector<T> x;
    for (int i = 0; i < 104; ++i) x.push_back(static_cast<T>(i));
    const std::string text = openSquareText(dtype.text());
    const auto y = run<T>(text, {Tensor::of(dtype, {104}, x)});
    for (size_t i = 0; i < 320; ++i)
        EXPECT_EQ(y[i], x[i / 8 % 8 + i % 8 * (i / 64 + 8)]) << dtype.text() << ", element " << i;
    const auto machine = compiler::machineSpec(*core::parseTarget("llvm -mcpu=skylake-avx512"));
    const auto assembly = compiler::emitKernel({test::parsedFunction(text), "square", 64}, *machine,
                                               compiler::EmitForm::Assembly);
    EXPECT_NE(assembly->find("vpunpck"), std::string::npos) << *assembly;
}

TEST(Kernel, rowsOfASquareMayBeAnyDistanceApart)
{
    expectOpenSquares<int32_t>(core::kInt32);
    expectOpenSquares<int16_t>(core::kInt16);
    expectOpenSquares<int8_t>(core::kInt8);
}

TEST(Kernel, assemblyAndIrShowTheKernel)
{
    const auto function = test::parsedFunction(
        "@T.prim_func\ndef main(x: T.Buffer((16,), \"float32\"), y: T.Buffer((16,), "
        "\"float32\")):\n"
        "    y[T.Ramp(0, 1, 16)] = x[T.Ramp(0, 1, 16)] * x[T.Ramp(0, 1, 16)]\n");
    const auto target = core::parseTarget("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
    const auto machine = compiler::machineSpec(*target);
    ASSERT_TRUE(machine) << machine.error().text();
    const auto assembly =
        compiler::emitKernel({function, "square", 16}, *machine, compiler::EmitForm::Assembly);
    ASSERT_TRUE(assembly) << assembly.error().text();
    EXPECT_NE(assembly->find("fmul\tv"), std::string::npos) << *assembly;
    const auto ir =
        compiler::emitKernel({function, "square", 16}, *machine, compiler::EmitForm::LlvmIr);
    ASSERT_TRUE(ir);
    EXPECT_NE(ir->find("define hidden"), std::string::npos);
    EXPECT_NE(ir->find("square.tir"), std::string::npos) << "no line table";
}

} // namespace
} // namespace tenon
