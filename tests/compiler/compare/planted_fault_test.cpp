// SPDX-License-Identifier: Apache-2.0
// Faults that were planted: each must be the first tensor outside tolerance and rank first.
#include "compiler/compare/tensor_names.h"
#include "compiler/frontend/load_model.h"
#include "compiler/passes/numeric_check.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon::compiler {
namespace {

using test::KernelFault;

CompileResultPtr shipped(const CompareRequest& request)
{
    JobContext job(2);
    auto out = compile(request.loaded, request.options, job);
    CHECK(out) << out.error().text();
    return *out;
}

void expectBlamed(const Comparison& out, size_t call)
{
    ASSERT_TRUE(out.first());
    const ComparedTensor& first = out.tensors[*out.first()];
    EXPECT_EQ(first.call, call) << first.name;
    EXPECT_EQ(out.ranked().front(), *out.first());
    ASSERT_TRUE(first.isolated);
    EXPECT_TRUE(first.isolated->isOutside);
    for (size_t i = 0; i < out.tensors.size(); ++i) {
        if (i == *out.first() || !out.tensors[i].isolated) continue;
        EXPECT_FALSE(out.tensors[i].isolated->isOutside) << out.tensors[i].name;
    }
}

class FaultyKernel : public testing::TestWithParam<std::tuple<ExecutorKind, KernelFault>>
{
};

TEST_P(FaultyKernel, RanksFirst)
{
    const auto [executor, fault] = GetParam();
    CompareRequest request = test::requestFor(test::digits(), test::digitsData(), executor);
    request.sets.resize(1);
    const CompileResultPtr built = shipped(request);
    const size_t victim = test::victimOf(*built);
    const auto kernel = static_cast<size_t>(built->program.calls[victim].kernel);
    request.options.service = test::faultyService(built->kernels[kernel].tirHash, fault);
    JobContext job(2);
    const auto out = compareTensors(request, job);
    ASSERT_TRUE(out) << out.error().text();
    expectBlamed(*out, victim);
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultyKernel,
    testing::Combine(testing::ValuesIn(kAllExecutors),
                     testing::Values(KernelFault::WrongSchedule, KernelFault::WrongFormula)),
    [](const auto& cell) {
        return std::string(executorName(std::get<0>(cell.param))) +
               (std::get<1>(cell.param) == KernelFault::WrongFormula ? "_formula" : "_schedule");
    });

class FaultyKernelElsewhere : public testing::TestWithParam<std::tuple<const char*, KernelFault>>
{
};

TEST_P(FaultyKernelElsewhere, RanksFirst)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    TENON_NEED_TOOL("qemu-aarch64");
    const auto [target, fault] = GetParam();
    CompareRequest request = test::requestFor(test::digits(), test::digitsData());
    request.options.target = target;
    request.sets.resize(1);
    const CompileResultPtr built = shipped(request);
    const size_t victim = test::victimOf(*built);
    const auto kernel = static_cast<size_t>(built->program.calls[victim].kernel);
    request.options.service = test::faultyService(built->kernels[kernel].tirHash, fault);
    JobContext job(2);
    const auto out = compareTensors(request, job);
    ASSERT_TRUE(out) << out.error().text();
    expectBlamed(*out, victim);
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultyKernelElsewhere,
    testing::Combine(testing::Values("llvm -mtriple=aarch64-linux-gnu", "c -mcpu=cortex-m4"),
                     testing::Values(KernelFault::WrongSchedule, KernelFault::WrongFormula)),
    [](const auto& cell) {
        return std::string(std::get<0>(cell.param)[0] == 'c' ? "cortex_m4" : "aarch64") +
               (std::get<1>(cell.param) == KernelFault::WrongFormula ? "_formula" : "_schedule");
    });

/// An executor here, or a target that is emulated.
struct Flipped
{
    const char* name;
    ExecutorKind executor = ExecutorKind::Aot;
    const char* target = "";
};

class FlippedWeight : public testing::TestWithParam<Flipped>
{
};

TEST_P(FlippedWeight, RanksFirst)
{
    CompareRequest request =
        test::requestFor(test::digits(), test::digitsData(), GetParam().executor);
    if (*GetParam().target) {
        TENON_NEED_TOOL("arm-none-eabi-gcc");
        TENON_NEED_TOOL("qemu-system-arm");
        TENON_NEED_TOOL("qemu-aarch64");
        request.options.target = GetParam().target;
    }
    request.sets.resize(1);
    const CompileResultPtr built = shipped(request);
    const size_t victim = test::victimOf(*built);
    size_t flipped = 0;
    request.device = test::runHere(test::flipIn(test::weightBytes(*built, victim), flipped));
    JobContext job(2);
    const auto out = compareTensors(request, job);
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_GE(flipped, 2U) << "in the program with taps and in that of single calls";
    expectBlamed(*out, victim);
}

INSTANTIATE_TEST_SUITE_P(
    All, FlippedWeight,
    testing::Values(Flipped{"graph", ExecutorKind::Graph}, Flipped{"aot", ExecutorKind::Aot},
                    Flipped{"vm", ExecutorKind::Vm},
                    Flipped{"aarch64", ExecutorKind::Aot, "llvm -mtriple=aarch64-linux-gnu"},
                    Flipped{"cortex_m4", ExecutorKind::Aot, "c -mcpu=cortex-m4"}),
    [](const auto& cell) { return std::string(cell.param.name); });

class SaturatingLayer : public testing::Test
{
protected:
    void SetUp() override
    {
        m_real = write("real.onnx", {});
        auto names = tensorNames(*m_real, m_folder.file("real.onnx"));
        CHECK(names) << names.error().text();
        m_names = std::move(*names);
    }

    std::shared_ptr<const Loaded> write(const std::string& name, const std::vector<double>& scales)
    {
        std::ofstream(m_folder.file(name), std::ios::binary)
            << test::modelOf(test::convolutions(scales)).SerializeAsString();
        auto loaded = loadModel(m_folder.file(name), {});
        CHECK(loaded && !hasErrors(loaded->diagnostics));
        return std::make_shared<const Loaded>(std::move(*loaded));
    }

    static Comparison compared(const CompareRequest& request)
    {
        JobContext job(2);
        auto out = compareTensors(request, job);
        CHECK(out) << out.error().text();
        return std::move(*out);
    }

    /// What 8 bits need for each result of the model of floats.
    std::vector<double> scales() const
    {
        std::vector<double> out;
        for (const ComparedTensor& tensor : compared(test::requestFor(m_real, {m_data})).tensors)
            if (tensor.title.work.starts_with("conv"))
                out.push_back(tensor.cumulative.referenceLargest / 255);
        CHECK(out.size() == 3U) << "three convolutions make " << out.size() << " tensors";
        return out;
    }

    Comparison besideFloats(const std::vector<double>& scales, const char* target = "")
    {
        const auto quantized = write("quantized.onnx", scales);
        CompareRequest request = test::requestFor(quantized, {m_data});
        if (*target) request.options.target = target;
        request.limits.isOtherModel = true; // floats are rounded, too
        auto own = tensorNames(*quantized, m_folder.file("quantized.onnx"));
        CHECK(own) << own.error().text();
        request.reference =
            modelReference(std::move(*own), m_real, m_names, CompileOptions(), test::runHere());
        return compared(request);
    }

    test::TemporaryFolder m_folder;
    std::shared_ptr<const Loaded> m_real;
    TensorNames m_names;
    NamedValues m_data{{"x", seededTensor(kFloat32, {1, 4, 12, 12}, 5)}};
};

void expectSaturated(const Comparison& out)
{
    ASSERT_TRUE(out.first());
    const ComparedTensor& first = out.tensors[*out.first()];
    EXPECT_EQ(first.name, "q1");
    EXPECT_EQ(out.ranked().front(), *out.first());
    ASSERT_TRUE(first.isolated);
    EXPECT_TRUE(first.isolated->isOutside);
    EXPECT_GT(first.isolated->saturated, 0);
}

TEST_F(SaturatingLayer, RanksFirstBesideTheModelOfFloats)
{
    std::vector<double> small = scales();
    small[1] /= 6;
    expectSaturated(besideFloats(small));
}

TEST_F(SaturatingLayer, RanksFirstOnOtherProcessors)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    TENON_NEED_TOOL("qemu-aarch64");
    std::vector<double> small = scales();
    small[1] /= 6;
    for (const char* target : {"llvm -mtriple=aarch64-linux-gnu", "c -mcpu=cortex-m4"}) {
        SCOPED_TRACE(target);
        expectSaturated(besideFloats(small, target));
    }
}

TEST_F(SaturatingLayer, IsNoneWhereScalesFit)
{
    for (const ComparedTensor& tensor : besideFloats(scales()).tensors) {
        EXPECT_FALSE(tensor.cumulative.isOutside)
            << tensor.name << ", " << tensor.type << ": " << tensor.cumulative.sqnrDb << " dB";
        EXPECT_FALSE(tensor.isolated && tensor.isolated->isOutside) << tensor.name;
    }
}

} // namespace
} // namespace tenon::compiler
