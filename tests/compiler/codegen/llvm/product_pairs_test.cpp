// SPDX-License-Identifier: Apache-2.0
// Sums of products of narrow numbers on x86: what they are, and that pairs of them are.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "tests/support/jit_kernel.h"
#include "tests/support/parsed_function.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

using core::Tensor;

constexpr int64_t kColumns = 6, kRows = 5, kResults = 4, kTaps = 3;

/// Windows of 3 x 3 in rows of `lanes` channels, as a depthwise layer's, each sum in a register.
tir::PrimFunc windows(int64_t lanes, const std::string& dtype)
{
    const std::string vector = std::to_string(lanes), run = ", 1, " + vector + ")]";
    const std::string words = "int32x" + vector, sum = "sums[T.Ramp(x * " + vector + run;
    const auto bytes = [&](int64_t count) {
        return "T.Buffer((" + std::to_string(count * lanes) + ",), \"" + dtype + "\")";
    };
    return test::parsedFunction(
        "@T.prim_func\ndef main(a: " + bytes(kRows * kColumns) + ", b: " + bytes(kTaps * kTaps) +
        ", y: T.Buffer((" + std::to_string(3 * kResults * lanes) + ",), \"int32\")):\n" +
        "    for row in T.serial(3):\n        with T.allocate((" + std::to_string(4 * lanes) +
        ",), \"int32\", scope=\"register\") as sums:\n            for x in T.unroll(4):\n" +
        "                " + sum + " = T.Broadcast(T.int32(5), " + vector + ")\n" +
        "            for i in T.unroll(3):\n                for x in T.unroll(4):\n" +
        "                    for j in T.unroll(3):\n                        " + sum + " = " + sum +
        " + T.Cast(\"" + words + "\", a[T.Ramp((row * 6 + i * 6 + x + j) * " + vector + run +
        ") * T.Cast(\"" + words + "\", b[T.Ramp((i * 3 + j) * " + vector + run + ")\n" +
        "            for x in T.unroll(4):\n                y[T.Ramp((row * 4 + x) * " + vector +
        run + " = " + sum + "\n");
}

/// Numbers of all sizes, the least and the greatest among them.
std::vector<int64_t> numbers(int64_t count, int64_t least, int64_t greatest, uint32_t seed)
{
    std::vector<int64_t> out;
    for (int64_t i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        const int64_t range = greatest - least + 1;
        out.push_back(seed >> 30 == 0   ? least
                      : seed >> 30 == 1 ? greatest
                                        : least + static_cast<int64_t>(seed >> 8) % range);
    }
    return out;
}

template <typename T>
void expectSums(int64_t lanes, const std::string& dtype, const char* target)
{
    const int64_t least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    const auto a = numbers(kRows * kColumns * lanes, least, most, 7);
    const auto b = numbers(kTaps * kTaps * lanes, least, most, 11);
    const auto tensor = [&](const std::vector<int64_t>& values) {
        return Tensor::of(*core::parseDataType(dtype), {static_cast<int64_t>(values.size())},
                          std::vector<T>(values.begin(), values.end()));
    };
    const auto result = test::runCompiled(windows(lanes, dtype), {tensor(a), tensor(b)}, target, 1);
    ASSERT_TRUE(result) << result.error().text();
    const Tensor& sums = result->at(0);
    const auto y = sums.as<int32_t>();
    for (int64_t at = 0; at < 3 * kResults * lanes; ++at) {
        const int64_t lane = at % lanes, x = at / lanes % kResults, row = at / lanes / kResults;
        int64_t sum = 5;
        for (int64_t tap = 0; tap < kTaps * kTaps; ++tap) {
            const int64_t from = (row + tap / kTaps) * kColumns + x + tap % kTaps;
            sum += a.at(static_cast<size_t>(from * lanes + lane)) *
                   b.at(static_cast<size_t>(tap * lanes + lane));
        }
        EXPECT_EQ(y[static_cast<size_t>(at)], static_cast<int32_t>(sum))
            << dtype << " at " << at << " on " << target;
    }
}

TEST(ProductPairs, areTheSumsOfTheirProducts)
{
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64"})
        for (const int64_t lanes : {4, 8}) {
            expectSums<int8_t>(lanes, "int8", target);
            expectSums<uint8_t>(lanes, "uint8", target);
            expectSums<int16_t>(lanes, "int16", target);
        }
}

size_t countOf(const std::string& text, const std::string& word)
{
    size_t count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
        ++count;
    return count;
}

std::string codeOf(const std::string& processor, const std::string& dtype)
{
    const auto machine = compiler::machineSpec(
        *core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=" + processor));
    CHECK(machine) << machine.error().text();
    const auto code = compiler::emitKernel({windows(8, dtype), "windows", 32}, *machine,
                                           compiler::EmitForm::Assembly);
    CHECK(code) << code.error().text();
    return *code;
}

TEST(ProductPairs, areRowsThatSeveralColumnsRead)
{
    // 4 results of 9 products: 3 pairs of two rows each, and a pair and a product of the third.
    const std::string code = codeOf("haswell", "int8");
    EXPECT_EQ(countOf(code, "vpmulld"), 0u) << code;
    EXPECT_EQ(countOf(code, "vpmaddwd"), 20u) << code;
}

TEST(ProductPairs, areNotOfNumbersThatNeedMoreBits)
{
    const std::string code = codeOf("haswell", "uint16");
    EXPECT_EQ(countOf(code, "vpmaddwd"), 0u) << code;
}

} // namespace
} // namespace tenon
