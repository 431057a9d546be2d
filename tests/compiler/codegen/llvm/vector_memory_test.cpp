// SPDX-License-Identifier: Apache-2.0
// How vectors come from memory and where they wait: lanes near one another by shuffles, spilled
// vectors within cache lines.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "compiler/schedule/lower.h"
#include "tests/compiler/codegen/lookup_text.h"
#include "tests/support/jit_kernel.h"
#include "tests/support/parsed_function.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using core::Tensor;

/// y[i * lanes + lane] = x[index] for so many vectors.
std::string loadsText(const std::string& index, int lanes)
{
    return "@T.prim_func\ndef main(x: T.Buffer((64,), \"float32\"), y: T.Buffer((" +
           std::to_string(2 * lanes) +
           ",), \"float32\")):\n    for i in T.serial(2):\n        y[T.Ramp(i * " +
           std::to_string(lanes) + ", 1, " + std::to_string(lanes) + ")] = x[" + index + "]\n";
}

/// What two vectors of eight lanes hold of x.
std::vector<float> loaded(const std::string& index, const std::vector<float>& x, const char* target)
{
    const Tensor data = Tensor::of(core::kFloat32, {static_cast<int64_t>(x.size())}, x);
    const auto result =
        test::runCompiled(test::parsedFunction(loadsText(index, 8)), {data}, target, 1);
    CHECK(result) << result.error().text();
    const auto values = result->at(0).as<float>();
    return {values.begin(), values.end()};
}

TEST(VectorMemory, lanesThatLieNearOneAnotherAreLoadedAsVectors)
{
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i));
    struct Case
    {
        std::string index;
        int (*place)(int i, int lane);
    };
    const Case cases[] = {
        {"T.Ramp(i * 8, 1, 8) // T.Broadcast(2, 8)", [](int i, int l) { return (8 * i + l) / 2; }},
        {"T.Ramp(i * 8, 1, 8) // T.Broadcast(4, 8)", [](int i, int l) { return (8 * i + l) / 4; }},
        {"T.Ramp(63 - i * 8, -1, 8)", [](int i, int l) { return 63 - 8 * i - l; }},
        {"T.Ramp(i * 16 + 1, 2, 8)", [](int i, int l) { return 16 * i + 1 + 2 * l; }},
        {"T.Ramp(i * 9 + 3, 1, 8) % T.Broadcast(9, 8)",
         [](int i, int l) { return (9 * i + 3 + l) % 9; }},
        {"T.Ramp(i + 50, 0, 8)", [](int i, int) { return i + 50; }},
        {"T.Ramp(i * 24 + 18, 3, 8)", [](int i, int l) { return 24 * i + 18 + 3 * l; }},
        {"T.Ramp(63 - i * 24, -3, 8)", [](int i, int l) { return 63 - 24 * i - 3 * l; }},
        {"T.Ramp(i * 32 + 3, 4, 8)", [](int i, int l) { return 32 * i + 3 + 4 * l; }},
        {"T.Ramp(i * 28, 5, 8)", [](int i, int l) { return 28 * i + 5 * l; }},
        {"T.Ramp(i * 21, 6, 8)", [](int i, int l) { return 21 * i + 6 * l; }},
        {"T.Ramp(i * 3, 8, 8)", [](int i, int l) { return 3 * i + 8 * l; }}, // far apart
    };
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"})
        for (const Case& each : cases) {
            const auto y = loaded(each.index, x, target);
            for (int i = 0; i < 16; ++i)
                EXPECT_EQ(y[static_cast<size_t>(i)], static_cast<float>(each.place(i / 8, i % 8)))
                    << each.index << " on " << target;
        }
    const auto machine =
        compiler::machineSpec(*core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"));
    ASSERT_TRUE(machine) << machine.error().text();
    for (const Case& each : cases) {
        const tir::PrimFunc function = test::parsedFunction(loadsText(each.index, 8));
        const auto ir =
            compiler::emitKernel({function, "loads", 32}, *machine, compiler::EmitForm::LlvmIr);
        ASSERT_TRUE(ir) << ir.error().text();
        EXPECT_EQ(ir->find("masked.gather") != std::string::npos, &each == std::end(cases) - 1)
            << each.index << ": " << *ir;
    }
}

TEST(VectorMemory, fewLanesFartherApartComeFromWiderVectors)
{
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i));
    const tir::PrimFunc function = test::parsedFunction(loadsText("T.Ramp(i * 12 + 1, 3, 4)", 4));
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"}) {
        const auto result =
            test::runCompiled(function, {Tensor::of(core::kFloat32, {64}, x)}, target, 1);
        ASSERT_TRUE(result) << result.error().text();
        for (size_t i = 0; i < 8; ++i)
            EXPECT_EQ(result->at(0).as<float>()[i], static_cast<float>(3 * i + 1)) << target;
    }
    const auto machine =
        compiler::machineSpec(*core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"));
    const auto ir =
        compiler::emitKernel({function, "loads", 32}, *machine, compiler::EmitForm::LlvmIr);
    ASSERT_TRUE(ir) << ir.error().text();
    EXPECT_EQ(ir->find("gather"), std::string::npos) << *ir;
}

TEST(VectorMemory, oddLanesMoveByMasksWhereProcessorsHaveThem)
{
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i));
    const tir::PrimFunc function = test::parsedFunction(loadsText("T.Ramp(i * 9 + 3, 1, 14)", 14));
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=haswell"}) {
        const auto result =
            test::runCompiled(function, {Tensor::of(core::kFloat32, {64}, x)}, target, 1);
        ASSERT_TRUE(result) << result.error().text();
        const auto y = result->at(0).as<float>();
        for (int i = 0; i < 28; ++i)
            EXPECT_EQ(y[static_cast<size_t>(i)], static_cast<float>(i / 14 * 9 + 3 + i % 14))
                << target;
    }
    const auto masks = [&](const std::string& cpu, int vectorBytes) {
        const auto machine = compiler::machineSpec(
            *core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=" + cpu));
        const auto ir = compiler::emitKernel({function, "loads", vectorBytes}, *machine,
                                             compiler::EmitForm::LlvmIr);
        CHECK(ir) << ir.error().text();
        return ir->find("masked.load") != std::string::npos &&
               ir->find("masked.store") != std::string::npos;
    };
    EXPECT_TRUE(masks("skylake-avx512", 64));
    EXPECT_FALSE(masks("skylake-avx512", 32));
    EXPECT_FALSE(masks("haswell", 32));
}

TEST(VectorMemory, oddLanesAtAStrideComeFromWholeRegisters)
{
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) x.push_back(static_cast<float>(i));
    const tir::PrimFunc function = test::parsedFunction(loadsText("T.Ramp(i * 30 + 4, 2, 14)", 14));
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=haswell"}) {
        const auto result =
            test::runCompiled(function, {Tensor::of(core::kFloat32, {64}, x)}, target, 1);
        ASSERT_TRUE(result) << result.error().text();
        for (int i = 0; i < 28; ++i)
            EXPECT_EQ(result->at(0).as<float>()[static_cast<size_t>(i)],
                      static_cast<float>(i / 14 * 30 + 4 + i % 14 * 2))
                << target;
    }
    const auto machine = compiler::machineSpec(
        *core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"));
    const auto ir =
        compiler::emitKernel({function, "loads", 64}, *machine, compiler::EmitForm::LlvmIr);
    ASSERT_TRUE(ir) << ir.error().text();
    EXPECT_NE(ir->find("load <16 x float>"), std::string::npos) << *ir;
    EXPECT_EQ(ir->find("load <14 x float>"), std::string::npos) << *ir;
}

/// y[parts * (lanes * i + lane) + part] = x[part * 100 + lanes * i + lane] + 1.
std::string turnsText(int parts, int lanes)
{
    const std::string n = std::to_string(lanes), of = std::to_string(parts);
    return "@T.prim_func\ndef main(x: T.Buffer((400,), \"float32\"), y: T.Buffer((" +
           std::to_string(2 * lanes * parts) +
           ",), \"float32\")):\n    for i in T.serial(2):\n        for part in T.unroll(" + of +
           "):\n            y[T.Ramp(i * " + std::to_string(lanes * parts) + " + part, " + of +
           ", " + n + ")] = x[T.Ramp(part * 100 + i * " + n + ", 1, " + n +
           ")] + T.Broadcast(T.float32(1), " + n + ")\n";
}

TEST(VectorMemory, vectorsThatTakeTurnsAreStoredAsTheyLie)
{
    std::vector<float> x;
    for (int i = 0; i < 400; ++i) x.push_back(static_cast<float>(i));
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"})
        for (int parts = 2; parts <= 4; ++parts)
            for (const int lanes : {4, 8}) {
                const auto result =
                    test::runCompiled(test::parsedFunction(turnsText(parts, lanes)),
                                      {Tensor::of(core::kFloat32, {400}, x)}, target, 1);
                ASSERT_TRUE(result) << result.error().text();
                const auto y = result->at(0).as<float>();
                for (int i = 0; i < 2 * lanes * parts; ++i)
                    EXPECT_EQ(y[static_cast<size_t>(i)],
                              static_cast<float>(i % parts * 100 + i / parts + 1))
                        << parts << " parts of " << lanes << " on " << target;
            }
    const auto text = [](const std::string& target, int parts, compiler::EmitForm form) {
        const auto machine = compiler::machineSpec(*core::parseTarget(target));
        const auto made = compiler::emitKernel(
            {test::parsedFunction(turnsText(parts, 4)), "turns", 16}, *machine, form);
        CHECK(made) << made.error().text();
        return *made;
    };
    EXPECT_EQ(text("llvm -mtriple=x86_64-linux-gnu -mcpu=haswell", 3, compiler::EmitForm::LlvmIr)
                  .find("scatter"),
              std::string::npos);
    for (int parts = 2; parts <= 4; ++parts) {
        const std::string assembly =
            text("llvm -mtriple=aarch64-linux-gnu", parts, compiler::EmitForm::Assembly);
        EXPECT_NE(assembly.find("st" + std::to_string(parts)), std::string::npos) << assembly;
    }
}

/// y[i] = x[i * stride + begin] by vectors; x ends with the last element that is read.
std::string stridedText(const char* dtype, int lanes, int stride, int begin)
{
    const std::string n = std::to_string(lanes), step = std::to_string(stride);
    const std::string read = std::to_string((2 * lanes - 1) * stride + begin + 1);
    return "@T.prim_func\ndef main(x: T.Buffer((" + read + ",), \"" + dtype + "\"), y: T.Buffer((" +
           std::to_string(2 * lanes) + ",), \"" + dtype +
           "\")):\n    for i in T.serial(2):\n        y[T.Ramp(i * " + n + ", 1, " + n +
           ")] = x[T.Ramp(i * " + std::to_string(lanes * stride) + " + " + std::to_string(begin) +
           ", " + step + ", " + n + ")]\n";
}

template <class T>
void checkStrides(core::DataType dtype, const char* name, const std::string& target)
{
    for (const int lanes : {4, 8, 16, 32})
        for (int stride = 2; stride <= 9; ++stride) {
            const int begin = stride % 3;
            std::vector<T> x;
            for (int i = 0; i < (2 * lanes - 1) * stride + begin + 1; ++i)
                x.push_back(static_cast<T>(i % 113));
            const auto result = test::runCompiled(
                test::parsedFunction(stridedText(name, lanes, stride, begin)),
                {Tensor::of(dtype, {static_cast<int64_t>(x.size())}, x)}, target, 1);
            ASSERT_TRUE(result) << result.error().text();
            const auto y = result->at(0).template as<T>();
            for (int i = 0; i < 2 * lanes; ++i)
                ASSERT_EQ(y[static_cast<size_t>(i)], x[static_cast<size_t>(i * stride + begin)])
                    << name << ", " << lanes << " lanes at " << stride << " on " << target;
        }
}

TEST(VectorMemory, lanesAtAStrideAreThoseOfEveryType)
{
    for (const char* target :
         {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=nehalem", "llvm -mcpu=haswell"}) {
        checkStrides<int8_t>(core::kInt8, "int8", target);
        checkStrides<int16_t>(core::kInt16, "int16", target);
        checkStrides<float>(core::kFloat32, "float32", target);
        checkStrides<int64_t>(core::kInt64, "int64", target);
    }
}

TEST(VectorMemory, bytesThatTakeTurnsAreStoredAsTheyLie)
{
    std::vector<int8_t> x;
    for (int i = 0; i < 400; ++i) x.push_back(static_cast<int8_t>(i % 100));
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"})
        for (const int parts : {2, 3, 4, 8}) {
            const std::string of = std::to_string(parts);
            const std::string text =
                "@T.prim_func\ndef main(x: T.Buffer((400,), \"int8\"), y: T.Buffer((" +
                std::to_string(32 * parts) +
                ",), \"int8\")):\n    for i in T.serial(2):\n        for part in T.unroll(" + of +
                "):\n            y[T.Ramp(i * " + std::to_string(16 * parts) + " + part, " + of +
                ", 16)] = x[T.Ramp(part * 50 + i * 16, 1, 16)]\n";
            const auto result = test::runCompiled(test::parsedFunction(text),
                                                  {Tensor::of(core::kInt8, {400}, x)}, target, 1);
            ASSERT_TRUE(result) << result.error().text();
            const auto y = result->at(0).as<int8_t>();
            for (int i = 0; i < 32 * parts; ++i)
                ASSERT_EQ(y[static_cast<size_t>(i)], (i % parts * 50 + i / parts) % 100)
                    << parts << " parts on " << target;
        }
}

TEST(VectorMemory, bytesChooseFromATableOf256)
{
    std::vector<uint8_t> x(256);
    std::vector<int8_t> table(256), expected(256);
    for (size_t i = 0; i < 256; ++i) {
        x[i] = static_cast<uint8_t>(i * 37 + 11); // each byte once, in some order
        table[i] = static_cast<int8_t>(i * 73 + 5);
    }
    for (size_t i = 0; i < 256; ++i) expected[i] = table[x[i]];
    for (const char* target : {"llvm -mcpu=native", "llvm -mcpu=x86-64", "llvm -mcpu=haswell"})
        for (const int lanes : {4, 16, 32, 64, 128}) {
            tir::PrimFunc function = test::parsedFunction(test::lookupText(lanes));
            function.body = compiler::lowerVectorized(function.body);
            const auto result = test::runCompiled(
                function,
                {Tensor::of(core::kUInt8, {256}, x), Tensor::of(core::kInt8, {256}, table)}, target,
                1);
            ASSERT_TRUE(result) << result.error().text();
            const auto y = result->at(0).as<int8_t>();
            EXPECT_EQ(std::vector<int8_t>(y.begin(), y.end()), expected) << target << ", " << lanes;
        }
}

TEST(VectorMemory, tablesOfBytesStayInRegistersThatArePermuted)
{
    const auto assemblyFor = [](const char* target) {
        const auto machine = compiler::machineSpec(*core::parseTarget(target));
        CHECK(machine) << machine.error().text();
        tir::PrimFunc function = test::parsedFunction(test::lookupText(16));
        function.body = compiler::lowerVectorized(function.body);
        const auto assembly =
            compiler::emitKernel({function, "lookup", 64}, *machine, compiler::EmitForm::Assembly);
        CHECK(assembly) << assembly.error().text();
        return *assembly;
    };
    const std::string wide = assemblyFor("llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server");
    EXPECT_TRUE(wide.find("vpermi2b") != std::string::npos ||
                wide.find("vpermt2b") != std::string::npos)
        << wide;
    EXPECT_NE(assemblyFor("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72").find("tbx\t"),
              std::string::npos);
}

/// More sums than there are registers, alive over a loop.
std::string manySums(int lanes)
{
    const std::string vector = ", 1, " + std::to_string(lanes) + ")";
    std::string text = "@T.prim_func\ndef main(x: T.Buffer((64000,), \"float32\"), y: "
                       "T.Buffer((64000,), \"float32\")):\n    with T.allocate((" +
                       std::to_string(40 * lanes) + ",), \"float32\", scope=\"register\") as s:\n";
    const auto sum = [&](int i) { return "s[T.Ramp(" + std::to_string(i * lanes) + vector + "]"; };
    for (int i = 0; i < 40; ++i)
        text +=
            "        " + sum(i) + " = T.Broadcast(T.float32(0), " + std::to_string(lanes) + ")\n";
    text += "        for k in T.serial(100):\n";
    for (int i = 0; i < 40; ++i)
        text += "            " + sum(i) + " = " + sum(i) + " + x[T.Ramp(k * 640 + " +
                std::to_string(i * lanes) + vector + "]\n";
    for (int i = 0; i < 40; ++i)
        text += "        y[T.Ramp(" + std::to_string(i * lanes) + vector + "] = " + sum(i) + "\n";
    return text;
}

TEST(VectorMemory, spilledVectorsLieWithinCacheLines)
{
    const auto assemblyFor = [](const char* cpu, int lanes) {
        const auto target =
            core::parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=" + std::string(cpu));
        const auto machine = compiler::machineSpec(*target);
        CHECK(machine) << machine.error().text();
        const tir::PrimFunc function = test::parsedFunction(manySums(lanes));
        const auto assembly = compiler::emitKernel({function, "sums", 4 * lanes}, *machine,
                                                   compiler::EmitForm::Assembly);
        CHECK(assembly) << assembly.error().text();
        return *assembly;
    };
    const std::string wide = assemblyFor("skylake-avx512", 16);
    EXPECT_NE(wide.find("(%rsp), %zmm"), std::string::npos) << "nothing was spilled: " << wide;
    EXPECT_NE(wide.find("andq\t$-64, %rsp"), std::string::npos) << wide;
    const std::string half = assemblyFor("haswell", 8);
    EXPECT_NE(half.find("andq\t$-32, %rsp"), std::string::npos) << half;
}

} // namespace
} // namespace tenon
