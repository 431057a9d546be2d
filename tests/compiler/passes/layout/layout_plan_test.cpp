// SPDX-License-Identifier: Apache-2.0
// Layouts of whole functions: which blocks values get, and that they cost no more than the widest.
#include "compiler/codegen/back_end.h"
#include "compiler/passes/layout/layout_plan.h"
#include "compiler/passes/pass.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr LayoutMachine kPlanMachine{.lanes = 16, .maxError = 1e-5};

Module typedModel(const std::string& text)
{
    const Result<Module> module = parseModule(text);
    EXPECT_TRUE(module) << module.error().text();
    RunPassesOptions options;
    options.pipeline = {"InferType"};
    PassContext context;
    context.target = *parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server");
    const auto machine = machineSpec(context.target);
    context.code = machine->backEnd->traits(*machine);
    const Result<PassTrace> trace = runPasses(*module, context, options);
    EXPECT_TRUE(trace) << trace.error().text();
    return trace->last();
}

/// Blocks of the results of all operators, in order.
std::vector<int64_t> blocksOf(const std::string& text)
{
    const Module module = typedModel(text);
    const GraphFunction& function = *openFunctions(module).front();
    const ErrorBudget budget(module, function, kPlanMachine, kOutputError);
    const LayoutPlan plan(module, function, kPlanMachine, budget);
    std::vector<int64_t> blocks;
    for (const NodeId id : function.order)
        if (module.node(id).kind == NodeKind::Op) blocks.push_back(plan.block({id, 0}));
    return blocks;
}

/// Two convolutions of `in` channels, joined for a third one; of one pixel per result, whose plain
/// form is as fast as blocks, or of three rows.
std::string joinOf(int64_t in, int64_t a, int64_t b, int64_t rows = 3)
{
    const auto weight = [&](const std::string& name, int64_t out, int64_t channels) {
        return "  %" + name + " = rand(1) : Tensor[(" + std::to_string(out) + ", " +
               std::to_string(channels) + ", " + std::to_string(rows) + ", 1), float32]\n";
    };
    return "def @main(%x: Tensor[(1, " + std::to_string(in) + ", 28, 28), float32]) {\n" +
           weight("w1", a, in) + weight("w2", b, in) + weight("w3", 32, a + b) +
           "  %0 = nn.conv2d(%x, %w1)\n"
           "  %1 = nn.conv2d(%x, %w2)\n"
           "  %2 = concatenate(%0, %1, axis=1)\n"
           "  %3 = nn.conv2d(%2, %w3)\n"
           "  return %3\n}\n";
}

TEST(LayoutPlan, takesTheWidestBlocksWhereTheyAgree)
{
    EXPECT_EQ(blocksOf(joinOf(32, 32, 16)), (std::vector<int64_t>{16, 16, 16, 16}));
}

TEST(LayoutPlan, takesNarrowerBlocksRatherThanTransform)
{
    EXPECT_EQ(blocksOf(joinOf(8, 8, 16)), (std::vector<int64_t>{8, 8, 8, 16}));
}

TEST(LayoutPlan, computesPointwiseConvolutionsOfNarrowChannelsPlain)
{
    EXPECT_EQ(blocksOf(joinOf(8, 8, 16, 1)), (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(LayoutPlan, keepsSmallConvolutionsPlain)
{
    EXPECT_EQ(blocksOf("def @main(%x: Tensor[(1, 16, 2, 16), float32]) {\n"
                       "  %w = rand(1) : Tensor[(16, 16, 1, 1), float32]\n"
                       "  %0 = nn.conv2d(%x, %w)\n"
                       "  %1 = nn.softmax(%0, axis=1)\n"
                       "  return %1\n}\n"),
              (std::vector<int64_t>{0, 0}));
}

/// A first layer at a stride, whose blocks would fill `channels` of 16 lanes.
std::string stemOf(int64_t channels)
{
    const std::string c = std::to_string(channels);
    return "def @main(%x: Tensor[(1, 3, 96, 96), float32]) {\n"
           "  %w1 = rand(1) : Tensor[(" +
           c +
           ", 3, 3, 3), float32]\n"
           "  %w2 = rand(2) : Tensor[(" +
           c +
           ", 1, 3, 3), float32]\n"
           "  %0 = nn.conv2d(%x, %w1, padding=[1, 1, 1, 1], strides=[2, 2])\n"
           "  %1 = nn.conv2d(%0, %w2, padding=[1, 1, 1, 1], groups=" +
           c + ")\n  return %1\n}\n";
}

TEST(LayoutPlan, computesFewChannelsAtAStrideAlongRows)
{
    EXPECT_EQ(blocksOf(stemOf(8)).front(), 0);
    EXPECT_EQ(blocksOf(stemOf(16)).front(), 16);
}

TEST(LayoutPlan, leavesFloatsBetweenLayersOfBytesInTheBlocksOfBytes)
{
    const std::string text = R"(def @main(%x: Tensor[(1, 32, 28, 28), int8]) {
  %w = rand(1) : Tensor[(32, 32, 1, 1), int8]
  %s = const(0.25f) : Tensor[(), float32]
  %z = const(0) : Tensor[(), int8]
  %0 = qnn.conv2d(%x, %w)
  %1 = qnn.requantize(%0, %s, %z, out_dtype=T.int8)
  %2 = qnn.dequantize(%1, %s, %z)
  %3 = nn.relu(%2)
  %4 = qnn.quantize(%3, %s, %z, out_dtype=T.int8)
  %5 = qnn.conv2d(%4, %w)
  return %5
}
)";
    const std::vector<int64_t> blocks = blocksOf(text);
    EXPECT_EQ(std::vector<int64_t>(blocks.begin() + 2, blocks.begin() + 5),
              (std::vector<int64_t>{16, 16, 16}));
}

TEST(LayoutPlan, saysWhatTheAlternativesCost)
{
    const Module module = typedModel(joinOf(32, 32, 16));
    const GraphFunction& function = *openFunctions(module).front();
    const ErrorBudget budget(module, function, kPlanMachine, kOutputError);
    const LayoutPlan plan(module, function, kPlanMachine, budget);
    for (const NodeId id : function.order) {
        if (module.node(id).op != "nn.conv2d") continue;
        const std::string reason = plan.weighed("", {id, 0});
        EXPECT_NE(reason.find(" kcycles around it"), std::string::npos) << reason;
        EXPECT_NE(reason.find(" in NCHW8c"), std::string::npos) << reason;
    }
}

} // namespace
} // namespace tenon::compiler
