// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions of all steps, kernels, dilations, paddings and groups: what they are
// split into computes what the definition does, and none is left.
#include "compiler/passes/pass.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Along
{
    int64_t input, kernel, stride, dilation, before, after, extra;

    int64_t results() const
    {
        return (input - 1) * stride + (kernel - 1) * dilation + 1 + extra - before - after;
    }
};

struct Layer
{
    std::string batch;
    int64_t groups, inputs, outputs;
    Along rows, columns;

    std::string text() const
    {
        const auto both = [](int64_t a, int64_t b) {
            return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
        };
        const std::vector<int64_t> padding{rows.before, columns.before, rows.after, columns.after};
        return "def @main(%x: Tensor[(" + batch + ", " + std::to_string(groups * inputs) + ", " +
               std::to_string(rows.input) + ", " + std::to_string(columns.input) +
               "), float32]) {\n  %w = rand(1) : Tensor[(" + std::to_string(groups * inputs) +
               ", " + std::to_string(outputs) + ", " + std::to_string(rows.kernel) + ", " +
               std::to_string(columns.kernel) + "), float32]\n  %0 = nn.conv2d_transpose(%x, %w, " +
               "dilation=" + both(rows.dilation, columns.dilation) +
               ", groups=" + std::to_string(groups) +
               ", output_padding=" + both(rows.extra, columns.extra) + ", padding=[" +
               join(padding, ", ") + "], strides=" + both(rows.stride, columns.stride) +
               ")\n  return %0\n}\n";
    }
};

/// Axes of which every step meets every dilation.
std::vector<Along> axes()
{
    std::vector<Along> out;
    int64_t i = 0;
    for (int64_t stride = 1; stride <= 5; ++stride)
        for (int64_t dilation = 1; dilation <= 4; ++dilation)
            for (const int64_t kernel : {1, 2, 3, 4}) {
                const int64_t reach = (kernel - 1) * dilation + 1;
                const Along along{.input = 1 + i % 6,
                                  .kernel = kernel,
                                  .stride = stride,
                                  .dilation = dilation,
                                  .before = i % 5 % reach,
                                  .after = i % 7 % reach,
                                  .extra = i % 3 % stride};
                ++i;
                if (along.results() > 0) out.push_back(along);
            }
    return out;
}

PassTrace split(const std::string& text)
{
    const auto module = parseModule(text);
    EXPECT_TRUE(module) << module.error().text();
    RunPassesOptions options;
    options.pipeline = {"InferType", "SplitPhases", "CropKernels", "SplitTaps"};
    options.verify = VerifyEach::Pass;
    options.verifyNumerics = true;
    options.numericTolerance = 1e-4;
    PassContext context;
    context.facts.vectorBytes = 32;
    Result<PassTrace> trace = runPasses(*module, context, options);
    EXPECT_TRUE(trace) << trace.error().text();
    return trace ? std::move(*trace) : PassTrace();
}

bool hasTransposed(const Module& module)
{
    const std::vector<NodeId>& order = module.main().order;
    return std::any_of(order.begin(), order.end(),
                       [&](NodeId id) { return module.node(id).op == "nn.conv2d_transpose"; });
}

TEST(SplitPhases, ComputesAnyTransposedConvolutionByOthers)
{
    struct Channels
    {
        std::string batch;
        int64_t groups, inputs, outputs;
    };
    const std::vector<Channels> channels{{"1", 1, 7, 5}, {"3", 1, 1, 3},  {"1", 3, 1, 1},
                                         {"1", 2, 3, 2}, {"1", 1, 13, 1}, {"2", 1, 8, 3}};
    const std::vector<Along> all = axes();
    ASSERT_GT(all.size(), 70U);
    for (size_t i = 0; i < all.size(); ++i) {
        const Channels& c = channels[i % channels.size()];
        const Layer layer{c.batch,   c.groups, c.inputs,
                          c.outputs, all[i],   all[(7 * i + 3) % all.size()]};
        SCOPED_TRACE(layer.text());
        const PassTrace trace = split(layer.text());
        ASSERT_FALSE(trace.records.empty());
        EXPECT_FALSE(hasTransposed(trace.last()));
    }
}

// Of large steps most phases are zeros; each would be a kernel to compile.
TEST(SplitPhases, LeavesThousandsOfPhases)
{
    const Along wide{
        .input = 3, .kernel = 2, .stride = 40, .dilation = 3, .before = 0, .after = 0, .extra = 0};
    EXPECT_TRUE(hasTransposed(split(Layer{"1", 1, 4, 4, wide, wide}.text()).last()));
}

} // namespace
} // namespace tenon::compiler
