// SPDX-License-Identifier: Apache-2.0
// Loops over single numbers, and divided indices of lanes: what becomes vectors of them.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "tests/support/jit_kernel.h"
#include "tests/support/parsed_function.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using core::Tensor;

/// Each row is the one before and a row of x.
std::string totalsText(const std::string& kind)
{
    return "@T.prim_func\ndef main(x: T.Buffer((300,), \"float32\"), y: T.Buffer((300,), "
           "\"float32\")):\n    T.func_attr({\"kind\": \"" +
           kind +
           "\"})\n    for j in T.serial(100):\n        y[j] = x[j]\n"
           "    for i in T.serial(2):\n        for j in T.serial(100):\n"
           "            y[i * 100 + j + 100] = y[i * 100 + j] + x[i * 100 + j + 100]\n";
}

std::string irFor(const std::string& text, const char* target, int vectorBytes)
{
    const auto machine = compiler::machineSpec(*core::parseTarget(target));
    CHECK(machine) << machine.error().text();
    const tir::PrimFunc function = test::parsedFunction(text);
    const auto ir = compiler::emitKernel({function, "kernel", vectorBytes}, *machine,
                                         compiler::EmitForm::LlvmIr);
    CHECK(ir) << ir.error().text();
    return *ir;
}

TEST(PlainLoops, ofStatementsBecomeVectorsWhereThereAreSome)
{
    const char* wide = "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server";
    EXPECT_NE(irFor(totalsText("extern"), wide, 64).find("<16 x float>"), std::string::npos);
    EXPECT_EQ(irFor(totalsText("injective"), wide, 64).find(" x float>"), std::string::npos);
    const std::string arm =
        irFor(totalsText("extern"), "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n2", 16);
    EXPECT_NE(arm.find("<4 x float>"), std::string::npos) << arm;
    EXPECT_EQ(arm.find("vscale"), std::string::npos) << arm;
    const std::string small =
        irFor(totalsText("extern"), "llvm -mtriple=thumbv7em-none-eabi -mcpu=cortex-m4", 4);
    EXPECT_EQ(small.find(" x float>"), std::string::npos) << small;
}

TEST(PlainLoops, ofStatementsComputeTheSame)
{
    std::vector<float> x(300), expected(300);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i * 37 % 101);
        expected[i] = x[i] + (i < 100 ? 0 : expected[i - 100]);
    }
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"}) {
        const auto result = test::runCompiled(test::parsedFunction(totalsText("extern")),
                                              {Tensor::of(core::kFloat32, {300}, x)}, target, 1);
        ASSERT_TRUE(result) << result.error().text();
        const auto y = result->at(0).as<float>();
        EXPECT_EQ(std::vector<float>(y.begin(), y.end()), expected) << target;
    }
}

/// y[i * 8 + lane] = x[`index`].
std::string indexedText(const std::string& index)
{
    return "@T.prim_func\ndef main(x: T.Buffer((64,), \"float32\"), y: T.Buffer((40,), "
           "\"float32\")):\n    for i in T.serial(5):\n        y[T.Ramp(i * 8, 1, 8)] = x[" +
           index + "]\n";
}

TEST(PlainLoops, indicesOfLanesAreDividedIn32Bits)
{
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i));
    struct Case
    {
        const char* index;
        int (*place)(int n);
    };
    const Case cases[] = {
        {"T.Ramp(i * 80 + 6, 10, 8) // T.Broadcast(7, 8)", [](int n) { return (10 * n + 6) / 7; }},
        {"T.Ramp(i * 48 + 6, 6, 8) % T.Broadcast(13, 8)", [](int n) { return (6 * n + 6) % 13; }}};
    for (const Case& each : cases) {
        for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=haswell"}) {
            const auto result = test::runCompiled(test::parsedFunction(indexedText(each.index)),
                                                  {Tensor::of(core::kFloat32, {64}, x)}, target, 1);
            ASSERT_TRUE(result) << result.error().text();
            const auto y = result->at(0).as<float>();
            for (int n = 0; n < 40; ++n)
                EXPECT_EQ(y[static_cast<size_t>(n)], static_cast<float>(each.place(n)))
                    << each.index << " on " << target;
        }
        const std::string ir = irFor(indexedText(each.index),
                                     "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server", 64);
        EXPECT_EQ(ir.find("div <8 x i64>"), std::string::npos) << ir;
        EXPECT_EQ(ir.find("rem <8 x i64>"), std::string::npos) << ir;
    }
}

TEST(PlainLoops, lanesAtAStrideOfThreeAndFourComeFromFourVectors)
{
    std::vector<float> x;
    for (int i = 0; i < 128; ++i) x.push_back(static_cast<float>(i * 7 % 131));
    for (const int stride : {3, 4}) {
        const std::string text =
            "@T.prim_func\ndef main(x: T.Buffer((128,), \"float32\"), y: T.Buffer((32,), "
            "\"float32\")):\n    for i in T.serial(2):\n        y[T.Ramp(i * 16, 1, 16)] = "
            "x[T.Ramp(i * " +
            std::to_string(16 * stride) + ", " + std::to_string(stride) + ", 16)]\n";
        EXPECT_EQ(irFor(text, "llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server", 64)
                      .find("masked.gather"),
                  std::string::npos);
        for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=haswell"}) {
            const auto result = test::runCompiled(
                test::parsedFunction(text), {Tensor::of(core::kFloat32, {128}, x)}, target, 1);
            ASSERT_TRUE(result) << result.error().text();
            const auto y = result->at(0).as<float>();
            for (int n = 0; n < 32; ++n)
                EXPECT_EQ(y[static_cast<size_t>(n)], x[static_cast<size_t>(stride * n)])
                    << stride << " on " << target;
        }
    }
}

} // namespace
} // namespace tenon
