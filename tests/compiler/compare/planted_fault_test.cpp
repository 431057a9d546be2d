// SPDX-License-Identifier: Apache-2.0
// Faults that were planted: each must be the first tensor outside tolerance and rank first.
#include "compiler/compare/tensor_names.h"
#include "compiler/frontend/load_model.h"
#include "compiler/passes/numeric_check.h"
#include "core/base/text.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
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

/// Index of the call in the middle whose kernel nobody else calls, and that computes.
size_t victimOf(const CompileResult& built)
{
    const auto& calls = built.program.calls;
    for (size_t c = calls.size() / 2; c-- > 0;) {
        const auto users = std::count_if(calls.begin(), calls.end(), [&](const KernelCall& call) {
            return call.kernel == calls[c].kernel;
        });
        if (users == 1 && calls[c].macs > 0) return c;
    }
    return 0;
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
    const size_t victim = victimOf(*built);
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
    const size_t victim = victimOf(*built);
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

/// The constant of most elements that the call reads.
const Tensor& weightOf(const ExecutorProgram& program, const KernelCall& call)
{
    const Tensor* out = nullptr;
    for (const int argument : call.arguments) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(argument)];
        if (tensor.role == TensorRole::Constant && (!out || tensor.constant.size() > out->size()))
            out = &tensor.constant;
    }
    CHECK(out) << call.name << " has no weight";
    return *out;
}

TEST(FlippedWeight, RanksFirst)
{
    for (const ExecutorKind executor : kAllExecutors) {
        CompareRequest request = test::requestFor(test::digits(), test::digitsData(), executor);
        const CompileResultPtr built = shipped(request);
        const size_t victim = victimOf(*built);
        const auto bytes = weightOf(built->program, built->program.calls[victim]).bytes();
        const std::string weight(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        size_t flipped = 0;
        request.device = test::runHere([&](std::string& file) {
            const size_t at = file.find(weight);
            if (at == std::string::npos) return;
            ++flipped;
            // The highest bit of the exponent of a weight in the middle.
            file[at + weight.size() / 8 * 4 + 3] ^= 0x40;
        });
        JobContext job(2);
        const auto out = compareTensors(request, job);
        ASSERT_TRUE(out) << out.error().text();
        EXPECT_GE(flipped, 2U) << "in the program with taps and in that of single calls";
        expectBlamed(*out, victim);
    }
}

/// Three convolutions; with `scales`, each result in 8 bits, as the input and the weights are.
std::string network(const std::vector<double>& scales)
{
    const bool isQuantized = !scales.empty();
    std::string text = "opset 13\ninput x float32 1,4,12,12\ninit w float32 4,4,3,3\n"
                       "floats k float32 1 = 1\n";
    if (isQuantized)
        text += "ints i int64 1 = 0\nnode Cast zc i -> z to=3\nfloats sw float32 1 = 0.005\n"
                "node QuantizeLinear qw w,sw,z -> ew\nnode DequantizeLinear dw ew,sw,z -> fw\n"
                "floats sx float32 1 = 0.008\nnode QuantizeLinear qx x,sx,z -> ex\n"
                "node DequantizeLinear dx ex,sx,z -> fx\n";
    std::string data = isQuantized ? "fx" : "x";
    for (size_t i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i), weight = isQuantized ? "fw" : "w";
        text += "node Conv c" + n + " " + data + "," + weight + " -> a" + n + " pads=[1,1,1,1]\n";
        text += "node Relu r" + n + " a" + n + " -> b" + n + "\n";
        data = "b" + n;
        if (!isQuantized) continue;
        text += "floats s" + n + " float32 1 = " + core::exact(scales[i]) + "\n";
        text += "node QuantizeLinear q" + n + " b" + n + ",s" + n + " -> e" + n + "\n";
        text += "node DequantizeLinear d" + n + " e" + n + ",s" + n + " -> f" + n + "\n";
        data = "f" + n;
    }
    return text + "node Mul y " + data + ",k -> y\noutput y float32 1,4,12,12\n";
}

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
            << test::modelOf(network(scales)).SerializeAsString();
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

    Comparison besideFloats(const std::vector<double>& scales)
    {
        const auto quantized = write("quantized.onnx", scales);
        CompareRequest request = test::requestFor(quantized, {m_data});
        request.limits.leastSqnrDb = request.limits.leastMixedDb; // floats are rounded, too
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

TEST_F(SaturatingLayer, RanksFirstBesideTheModelOfFloats)
{
    std::vector<double> small = scales();
    small[1] /= 6;
    const Comparison out = besideFloats(small);
    ASSERT_TRUE(out.first());
    const ComparedTensor& first = out.tensors[*out.first()];
    EXPECT_EQ(first.name, "q1");
    EXPECT_EQ(out.ranked().front(), *out.first());
    ASSERT_TRUE(first.isolated);
    EXPECT_TRUE(first.isolated->isOutside);
    EXPECT_GT(first.isolated->saturated, 0);
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
