// SPDX-License-Identifier: Apache-2.0
// Whole compiles of models built in code: provenance, caching, incremental recompiles, cancel,
// errors, values by running.
#include "compiler/driver/compile.h"
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "remote/session/local_board.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <set>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Loaded> load(const std::string& bytes)
{
    const auto owner = std::make_shared<const std::string>(bytes);
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*owner)), owner, "", "zoo.onnx", {});
    CHECK(loaded) << loaded.error().text();
    return std::make_shared<const Loaded>(std::move(*loaded));
}

class Compile : public ::testing::Test
{
protected:
    void SetUp() override
    {
        m_folder = fs::temp_directory_path() / ("tenon_compile_" + std::to_string(::getpid()));
        fs::remove_all(m_folder);
        fs::create_directories(m_folder);
    }
    void TearDown() override { fs::remove_all(m_folder); }

    CompileOptions options(ExecutorKind executor = ExecutorKind::Aot, int optLevel = 3) const
    {
        CompileOptions o;
        o.executor = executor;
        o.optLevel = optLevel;
        o.cacheFolder = (m_folder / "cache").string();
        o.passes.verify = VerifyEach::Pass;
        return o;
    }
    static CompileResultPtr compiled(const std::shared_ptr<const Loaded>& loaded,
                                     const CompileOptions& options)
    {
        JobContext job(2);
        auto result = compile(loaded, options, job);
        CHECK(result) << result.error().text();
        return *result;
    }
    fs::path m_folder;
};

Tensor randomInput(const std::vector<int64_t>& shape)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> spread(-1, 1);
    std::vector<float> values(static_cast<size_t>(elementCount(shape)));
    for (float& v : values) v = spread(random);
    return Tensor::of(kFloat32, shape, values);
}

size_t changesOf(const CompileResult& result, std::string_view pass)
{
    size_t changes = 0;
    for (const PassRecord& record : result.passes.records)
        if (record.name == pass) changes += record.changes.size();
    return changes;
}

/// Scales of a normalization make weights products of two constants until they are folded.
TEST_F(Compile, passesThatCutKernelsFindTheWeightsBehindNormalizations)
{
    const auto deeplab = compiled(
        load(test::makeDeeplabMobilenet({.imageSize = 64, .channelDivisor = 4})), options());
    EXPECT_GT(changesOf(*deeplab, "CropKernels"), 0U);
    const auto generator = compiled(load(test::makeDcgan({.channelDivisor = 4})), options());
    EXPECT_GT(changesOf(*generator, "SplitPhases"), 0U);
}

TEST_F(Compile, everyPassChangesMobileNetAndEverySourceNodeIsAccountedFor)
{
    CompileOptions chosen = options();
    // Its cache holds what lies between convolutions, which then stay apart.
    chosen.target = "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n2";
    const auto result =
        compiled(load(test::makeMobilenetV2({.imageSize = 64, .channelDivisor = 2})), chosen);
    std::set<std::string> idle;
    for (const char* pass :
         {"SimplifyInference", "FoldScaleAxis", "FoldConstant", "AlterOpLayout", "FuseOps"}) {
        if (changesOf(*result, pass) == 0) idle.insert(pass);
    }
    EXPECT_TRUE(idle.empty()) << *idle.begin();
    const Conservation conservation = checkConservation(result->passes);
    EXPECT_TRUE(conservation.violations.empty()) << conservation.violations.front();
    EXPECT_EQ(conservation.inKernels + conservation.inLedger,
              result->loaded->module.sources().size());
    for (const KernelCall& call : result->program.calls) {
        size_t convolutions = 0;
        for (const SourceId source : call.sources)
            convolutions += result->loaded->module.sources()[source.value].op == "Conv";
        EXPECT_LE(convolutions, 1u) << call.name;
    }
}

/// Ids are handed out once, so that another run of the same model has others: nothing may follow
/// from them, neither what is decided nor what is told.
TEST_F(Compile, anotherRunOfTheSameModelDecidesAndTellsTheSame)
{
    const std::pair<const char*, test::ZooOptions> models[] = {
        {"dscnn", {.channelDivisor = 8}},
        {"resnext50_32x4d", {.imageSize = 32, .channelDivisor = 16}},
        {"shufflenet_v2_x1_0", {.imageSize = 32, .channelDivisor = 8}},
        {"transformer", {.channelDivisor = 8}},
        {"lstm_stack", {.channelDivisor = 16}}};
    for (const auto& [name, zoo] : models) {
        SCOPED_TRACE(name);
        const auto loaded = load(test::makeZooModel(name, zoo));
        const auto first = compiled(loaded, options());
        const auto again = compiled(loaded, options());
        ASSERT_EQ(first->passes.records.size(), again->passes.records.size());
        for (size_t i = 0; i < first->passes.records.size(); ++i) {
            const PassRecord &one = first->passes.records[i], &two = again->passes.records[i];
            SCOPED_TRACE(one.name);
            ASSERT_EQ(one.changes.size(), two.changes.size());
            for (size_t k = 0; k < one.changes.size(); ++k) {
                ASSERT_EQ(one.changes[k].rule, two.changes[k].rule);
                ASSERT_EQ(one.changes[k].reason, two.changes[k].reason);
            }
        }
        ASSERT_EQ(first->program.calls.size(), again->program.calls.size());
        for (size_t i = 0; i < first->program.calls.size(); ++i) {
            const KernelCall &one = first->program.calls[i], &two = again->program.calls[i];
            EXPECT_EQ(one.name, two.name);
            EXPECT_EQ(one.fromNodes, two.fromNodes);
            EXPECT_EQ(one.movedBytes, two.movedBytes) << one.name;
        }
        EXPECT_EQ(first->memory.plan.totalBytes(), again->memory.plan.totalBytes());
    }
}

TEST_F(Compile, aSecondCompileTakesEveryKernelFromTheCache)
{
    const auto loaded = load(test::makeDscnn({}));
    const auto first = compiled(loaded, options());
    const auto second = compiled(loaded, options());
    ASSERT_EQ(first->kernels.size(), second->kernels.size());
    for (size_t i = 0; i < first->kernels.size(); ++i) {
        EXPECT_FALSE(first->kernels[i].fromCache);
        EXPECT_TRUE(second->kernels[i].fromCache) << second->kernels[i].function;
        EXPECT_EQ(*first->kernels[i].object, *second->kernels[i].object);
        EXPECT_EQ(first->kernels[i].scheduleTrace, second->kernels[i].scheduleTrace);
    }
}

TEST_F(Compile, oneChangedNodeRecompilesItsKernelOnly)
{
    const std::string bytes = test::makeDscnn({});
    tenon_onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(bytes));
    for (tenon_onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
        if (node.op_type() != "Relu") continue;
        node.set_op_type("Sigmoid");
        break;
    }
    static_cast<void>(compiled(load(bytes), options()));
    const auto changed = compiled(load(model.SerializeAsString()), options());
    std::vector<std::string> recompiled;
    for (const CompiledKernel& kernel : changed->kernels)
        if (!kernel.fromCache) recompiled.push_back(kernel.function);
    ASSERT_EQ(recompiled.size(), 1u);
    EXPECT_NE(recompiled[0].find("sigmoid"), std::string::npos) << recompiled[0];
}

TEST_F(Compile, graphAndAotAgreeWithTheEvaluatorAtEveryOptLevel)
{
    const auto loaded = load(test::makeDscnn({}));
    const NodeRecord& parameter = loaded->module.node(loaded->module.main().params.at(0));
    const Tensor input = randomInput(*constantShape(loaded->module.type({parameter.id, 0}).shape));
    JobContext job(2);
    for (const ExecutorKind executor : {ExecutorKind::Graph, ExecutorKind::Aot}) {
        std::vector<Tensor> reference;
        for (int level = 0; level <= 3; ++level) {
            const auto result = compiled(loaded, options(executor, level));
            const std::string path = (m_folder / "model.so").string();
            const auto written = writeArtifact(*result, path);
            ASSERT_TRUE(written) << written.error().text();
            remote::RunRequest request;
            request.artifactPath = path;
            request.inputs = {{parameter.name, input}};
            request.threads = static_cast<unsigned>(1 + level % 2);
            request.poison = true;
            request.serverPath =
                (fs::path(TENON_PROGRAM).parent_path() / "tenon-rpc-server").string();
            const auto outputs = remote::runArtifact(request, job);
            ASSERT_TRUE(outputs) << outputs.error().text();
            if (reference.empty()) {
                auto expected = evaluateGraph(loaded->module, {{parameter.name, input}}, job);
                ASSERT_TRUE(expected) << expected.error().text();
                reference = *expected;
            }
            ASSERT_EQ(outputs->size(), reference.size());
            for (int64_t i = 0; i < reference[0].size(); ++i)
                EXPECT_NEAR((*outputs)[0].number(i), reference[0].number(i), 1e-4)
                    << executorName(executor) << " at level " << level;
        }
    }
}

/// Relu of the first of so many inputs with so many dimensions.
std::string reluOf(int inputs, int rank)
{
    tenon_onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    auto& graph = *model.mutable_graph();
    for (int i = 0; i <= inputs; ++i) {
        auto& info = i < inputs ? *graph.add_input() : *graph.add_output();
        info.set_name(i < inputs ? "x" + std::to_string(i) : "y");
        auto& type = *info.mutable_type()->mutable_tensor_type();
        type.set_elem_type(1);
        for (int d = 0; d < rank; ++d) type.mutable_shape()->add_dim()->set_dim_value(1);
    }
    auto& node = *graph.add_node();
    node.set_op_type("Relu");
    node.add_input("x0");
    node.add_output("y");
    return model.SerializeAsString();
}

TEST_F(Compile, refusesWhatNoRuntimeTakes)
{
    JobContext job(1);
    EXPECT_TRUE(compile(load(reluOf(1, 32)), options(), job));
    for (const auto& [inputs, rank, says] :
         {std::tuple(1, 33, "33 dimensions"), std::tuple(65537, 1, "65537 inputs")}) {
        const auto result = compile(load(reluOf(inputs, rank)), options(), job);
        ASSERT_FALSE(result) << says;
        EXPECT_EQ(result.error().code, DiagnosticCode::UnsupportedFeature);
        EXPECT_NE(result.error().message.find(says), std::string::npos) << result.error().text();
    }
}

TEST_F(Compile, cancelStopsWithoutAResult)
{
    const auto loaded = load(test::makeDscnn({}));
    JobContext job(2);
    job.requestStop();
    const auto result = compile(loaded, options(), job);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, DiagnosticCode::Cancelled);
}

/// Ticks of progress that `run` gives; stops its job at tick `stopAt` (-1: never).
int ticksUntil(int stopAt, const std::function<Result<CompileResultPtr>(JobContext&)>& run,
               bool& wasCancelled)
{
    int ticks = 0;
    JobContext* self = nullptr;
    JobContext job(1, [&](double, const std::string&) {
        if (ticks++ == stopAt) self->requestStop();
    });
    self = &job;
    const auto result = run(job);
    wasCancelled = !result && result.error().code == DiagnosticCode::Cancelled;
    return ticks;
}

TEST_F(Compile, cancelStopsAtEveryStage)
{
    const auto loaded = load(test::makeDscnn({.channelDivisor = 16}));
    const auto run = [&](JobContext& job) { return compile(loaded, options(), job); };
    bool wasCancelled = false;
    const int ticks = ticksUntil(-1, run, wasCancelled);
    ASSERT_FALSE(wasCancelled);
    ASSERT_GT(ticks, 15); // passes, kernels, memory
    for (int i = 0; i < ticks; ++i) {
        EXPECT_EQ(ticksUntil(i, run, wasCancelled), i + 1) << "went on after the stop";
        EXPECT_TRUE(wasCancelled) << "tick " << i << " of " << ticks;
    }
}

TEST_F(Compile, targetsWithoutAGeneratorAreRefusedByName)
{
    CompileOptions o = options();
    o.target = "cuda -arch=sm_80";
    JobContext job;
    const auto result = compile(load(test::makeDscnn({})), o, job);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, DiagnosticCode::UnsupportedTarget);
    EXPECT_NE(result.error().message.find("target kind `cuda`"), std::string::npos);
}

} // namespace
} // namespace tenon::compiler
