// SPDX-License-Identifier: Apache-2.0
// Comparisons in which nothing is wrong: every tensor is found, in the model's form, whatever the
// executor, in one piece or in many, with the kernels that `compile` ships.
#include "compiler/compare/tensor_names.h"
#include "compiler/frontend/load_model.h"
#include "compiler/passes/numeric_check.h"
#include "core/base/text.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

namespace tenon::compiler {
namespace {

Comparison compared(const CompareRequest& request)
{
    JobContext job(2);
    auto out = compareTensors(request, job);
    CHECK(out) << out.error().text();
    return std::move(*out);
}

std::shared_ptr<const Loaded> zooModel(const std::string& name)
{
    return test::modelFrom(test::makeZooModel(name, {.imageSize = 64, .channelDivisor = 8}));
}

class CompareExecutors : public testing::TestWithParam<ExecutorKind>
{
};

TEST_P(CompareExecutors, FindsEveryTensorWithinTolerance)
{
    const Comparison out =
        compared(test::requestFor(test::digits(), test::digitsData(), GetParam()));
    ASSERT_FALSE(out.tensors.empty());
    EXPECT_EQ(out.executor, executorName(GetParam()));
    EXPECT_FALSE(out.first());
    for (const ComparedTensor& tensor : out.tensors) {
        EXPECT_TRUE(tensor.isInModel) << tensor.function;
        EXPECT_FALSE(tensor.nodes.empty());
        ASSERT_TRUE(tensor.isolated) << tensor.name;
        EXPECT_FALSE(tensor.isolated->isOutside) << tensor.name;
        EXPECT_GT(tensor.cumulative.sqnrDb, 80) << tensor.name;
    }
    EXPECT_FALSE(out.absorbed.empty()) << "fusion leaves tensors out";
}

TEST_P(CompareExecutors, RunsTheKernelsThatCompileShips)
{
    CompareRequest request = test::requestFor(test::digits(), test::digitsData(), GetParam());
    request.sets.resize(1);
    std::vector<CompileResultPtr> programs;
    request.device = [&](const CompileResultPtr& program, const NamedValues& inputs,
                         JobContext& job) {
        programs.push_back(program);
        return test::runHere()(program, inputs, job);
    };
    compared(request);
    JobContext job(2);
    const auto shipped = compile(request.loaded, request.options, job);
    ASSERT_TRUE(shipped);
    ASSERT_EQ(programs.size(), 2U) << "with taps, and every call alone";
    for (const CompileResultPtr& program : programs) {
        std::map<std::string, std::string> objects;
        for (const CompiledKernel& kernel : program->kernels)
            objects[kernel.symbol] = *kernel.object;
        for (const CompiledKernel& kernel : (*shipped)->kernels)
            EXPECT_EQ(objects[kernel.symbol], *kernel.object) << kernel.name;
    }
}

INSTANTIATE_TEST_SUITE_P(All, CompareExecutors, testing::ValuesIn(kAllExecutors),
                         [](const auto& cell) { return std::string(executorName(cell.param)); });

TEST(Compare, SaysInWhichFormTheProgramHoldsATensor)
{
    const Comparison out = compared(test::requestFor(test::digits(), test::digitsData()));
    std::set<std::string> forms;
    for (const ComparedTensor& tensor : out.tensors) forms.insert(tensor.form);
    const bool isBlocked = std::any_of(forms.begin(), forms.end(), [](const std::string& form) {
        return form.starts_with("channels in blocks of");
    });
    EXPECT_TRUE(isBlocked);
}

TEST(Compare, FindsTheSameInPieces)
{
    CompareRequest request = test::requestFor(test::digits(), test::digitsData());
    const Comparison whole = compared(request);
    request.pieceBytes = 1;
    const Comparison pieces = compared(request);
    EXPECT_EQ(pieces.builds, 2 * pieces.tensors.size()) << "each tensor in a program of its own";
    ASSERT_EQ(pieces.tensors.size(), whole.tensors.size());
    for (size_t i = 0; i < whole.tensors.size(); ++i) {
        EXPECT_EQ(pieces.tensors[i].cumulative.maxAbs, whole.tensors[i].cumulative.maxAbs);
        EXPECT_EQ(pieces.tensors[i].isolated->maxAbs, whole.tensors[i].isolated->maxAbs);
    }
}

TEST(Compare, KnowsWhatOnlyTheShapeOfAnOutputDiffersFrom)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("gru.onnx");
    std::ofstream(path, std::ios::binary) << test::makeZooModel("gru_stack", {.channelDivisor = 8});
    auto loaded = loadModel(path, {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    const auto model = std::make_shared<const Loaded>(std::move(*loaded));
    const auto names = tensorNames(*model, path);
    ASSERT_TRUE(names) << names.error().text();
    // The output of the file has an axis of directions, which the kernel's result has not.
    const GraphFunction& main = model->module.main();
    const auto gru = std::find_if(main.order.begin(), main.order.end(),
                                  [&](NodeId id) { return model->module.node(id).op == "nn.gru"; });
    ASSERT_NE(gru, main.order.end());
    const Shape& own = model->module.type({*gru, 0}).shape;
    ASSERT_EQ(own.size(), 3U);
    CompareRequest request = test::requestFor(model, test::seeded(*model));
    std::vector<int64_t> shape = *constantShape(own);
    shape.insert(shape.begin() + 1, 1);
    const NamedValues given{{names->at({*gru, 0}).front(), seededTensor(kFloat32, shape, 1)}};
    request.reference = namedReference(*names, given);
    const Comparison out = compared(request);
    const auto compared =
        std::find_if(out.tensors.begin(), out.tensors.end(), [](const ComparedTensor& tensor) {
            return tensor.title.work.starts_with("gru");
        });
    ASSERT_NE(compared, out.tensors.end());
    EXPECT_GT(compared->cumulative.maxAbs, 0.1) << "the reference is made up";
    EXPECT_TRUE(out.notCompared.empty()) << out.notCompared.front();
}

TEST(Compare, HandsOutTheValuesOfTheWorstSet)
{
    CompareRequest request = test::requestFor(test::digits(), test::digitsData());
    std::map<size_t, std::pair<Tensor, Tensor>> kept;
    request.keep = [&](size_t tensor, const Tensor& reference, const Tensor& device) -> Status {
        kept[tensor] = {reference, device};
        return kDone;
    };
    const Comparison out = compared(request);
    ASSERT_EQ(kept.size(), out.tensors.size());
    for (size_t i = 0; i < out.tensors.size(); ++i) {
        const auto& [reference, device] = kept[i];
        EXPECT_EQ(device.typeText(), out.tensors[i].type);
        EXPECT_EQ(reference.typeText(), out.tensors[i].type);
        const TensorError again = tensorError(device, {}, reference, {}, out.limits);
        EXPECT_EQ(again.maxAbs, out.tensors[i].cumulative.maxAbs) << "of another set";
    }
}

/// Three layers of int8 whose last result is given away as floats.
std::shared_ptr<const Loaded> dequantizedLayers()
{
    const std::string last = "node Mul y f2,k -> y\noutput y ";
    std::string text = test::convolutions({0.02, 0.02, 0.02});
    CHECK(text.find(last) != std::string::npos) << text;
    return test::modelFrom(
        test::modelOf(core::replaced(text, last, "output f2 ")).SerializeAsString());
}

/// Runs here, and moves the first `count` floats by so much.
ProgramRunner movingFloats(size_t count, float by)
{
    return [run = test::runHere(), count, by](const CompileResultPtr& program,
                                              const NamedValues& inputs,
                                              JobContext& job) -> Result<std::vector<Tensor>> {
        auto out = run(program, inputs, job);
        if (!out) return out;
        for (Tensor& tensor : *out) {
            if (tensor.dtype() != kFloat32) continue;
            const auto values = tensor.as<float>();
            std::vector<float> moved(values.begin(), values.end());
            for (size_t i = 0; i < std::min(count, moved.size()); ++i)
                moved[i] += moved[i] > 1 ? -by : by;
            tensor = Tensor::of<float>(kFloat32, tensor.shape(), moved);
        }
        return out;
    };
}

TEST(Compare, JudgesDequantizedFloatsInStepsWhereTheirKernelRunsAlone)
{
    const auto model = dequantizedLayers();
    CompareRequest request = test::requestFor(model, test::seeded(*model));
    const auto lastOf = [&](size_t count, float by) {
        request.device = movingFloats(count, by);
        const Comparison out = compared(request);
        CHECK(out.tensors.back().isolated) << "the last kernel runs alone";
        return out.tensors.back();
    };
    const ComparedTensor one = lastOf(1, 0.02F);
    EXPECT_EQ(one.isolated->maxUlps, 1) << "steps, no units in the last place";
    EXPECT_FALSE(one.isolated->isOutside);
    EXPECT_FALSE(one.cumulative.isOutside);
    EXPECT_TRUE(lastOf(1, 0.06F).isolated->isOutside) << "three steps";
    EXPECT_TRUE(lastOf(60, 0.02F).isolated->isOutside) << "a tenth of all";
}

TEST(Compare, BlamesNobodyForIntegersOfWhatIsNoNumber)
{
    const auto model = dequantizedLayers();
    std::vector<NamedValues> sets = test::seeded(*model);
    Tensor& data = sets.front().front().second;
    const auto values = data.as<float>();
    std::vector<float> some(values.begin(), values.end());
    some[7] = std::nanf("");
    data = Tensor::of<float>(kFloat32, data.shape(), some);
    CompareRequest request = test::requestFor(model, sets);
    const Comparison out = compared(request);
    EXPECT_FALSE(out.first());
    for (const ComparedTensor& tensor : out.tensors)
        EXPECT_FALSE(tensor.isolated && tensor.isolated->isOutside) << tensor.name;
}

TEST(Compare, EndsWhenTheValuesCannotBeKept)
{
    CompareRequest request = test::requestFor(test::digits(), test::digitsData());
    request.keep = [](size_t, const Tensor&, const Tensor&) -> Status {
        return makeError(DiagnosticCode::IoFailure, "the disk is full");
    };
    JobContext job(2);
    const auto out = compareTensors(request, job);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().message, "the disk is full");
}

TEST(Compare, FollowsTensorsThroughThePassesOfNetworks)
{
    for (const char* name : {"resnet18", "mobilenet_v2", "shufflenet_v2_x1_0", "squeezenet1_1"}) {
        const auto loaded = zooModel(name);
        if (!loaded->facts.nodeCount) continue;
        const Comparison out = compared(test::requestFor(loaded, test::seeded(*loaded)));
        size_t found = 0;
        for (const ComparedTensor& tensor : out.tensors) {
            found += tensor.isInModel ? 1 : 0;
            EXPECT_GT(tensor.cumulative.sqnrDb, 60) << name << ", " << tensor.name;
            ASSERT_TRUE(tensor.isolated) << name << ", " << tensor.name;
            EXPECT_GT(tensor.isolated->sqnrDb, 60) << name << ", " << tensor.name;
        }
        EXPECT_GT(found * 10, out.tensors.size() * 8) << name;
    }
}

/// A convolution in 8 bits, and SiLU as a table of its results.
std::string lookUpModel()
{
    std::string text = "opset 13\ninput x float32 1,4,12,12\ninit w float32 4,4,3,3\n"
                       "ints i int64 1 = 0\nnode Cast zc i -> z to=3\n"
                       "floats s float32 1 = 0.008\nfloats t float32 1 = 0.05\n";
    const auto quantized = [&](const std::string& name, const std::string& scale) {
        text += "node QuantizeLinear q" + name + " " + name + "," + scale + ",z -> e" + name +
                "\nnode DequantizeLinear d" + name + " e" + name + "," + scale + ",z -> f" + name +
                "\n";
    };
    quantized("x", "s");
    quantized("w", "s");
    text += "node Conv c fx,fw -> a pads=[1,1,1,1]\n";
    quantized("a", "t");
    text += "node Sigmoid g fa -> b\nnode Mul m fa,b -> h\n";
    quantized("h", "t");
    return text + "node Conv k fh,fw -> y pads=[1,1,1,1]\noutput y float32 1,4,12,12\n";
}

class CompareTables : public testing::TestWithParam<std::pair<const char*, const char*>>
{
};

/// Of either signedness: -1 and 0 lie beside each other, whatever their bits are as an index.
TEST_P(CompareTables, FindTheValuesTheyAreLookedUpWith)
{
    const auto model = test::modelFrom(test::modelOf(lookUpModel()).SerializeAsString());
    CompareRequest request = test::requestFor(model, test::seeded(*model));
    const auto [target, form] = GetParam();
    request.options.target = target;
    const Comparison out = compared(request);
    EXPECT_FALSE(out.first());
    const auto index =
        std::find_if(out.tensors.begin(), out.tensors.end(),
                     [](const ComparedTensor& tensor) { return tensor.name == "qa"; });
    ASSERT_NE(index, out.tensors.end()) << "what the table is looked up with";
    EXPECT_NE(index->form.find(form), std::string::npos) << index->form;
}

INSTANTIATE_TEST_SUITE_P(All, CompareTables,
                         testing::Values(std::pair("llvm -mcpu=x86-64",
                                                   "zero point moved by 128, uint8"),
                                         std::pair("llvm -mcpu=x86-64-v2", "its bits as uint8"),
                                         std::pair("llvm -mcpu=haswell", "its bits as uint8")),
                         [](const auto& cell) { return "target" + std::to_string(cell.index); });

} // namespace
} // namespace tenon::compiler
