// SPDX-License-Identifier: Apache-2.0
// Which convolutions become Winograd's within an error of the whole model.
#include "compiler/codegen/back_end.h"
#include "compiler/passes/error/error_budget.h"
#include "compiler/passes/error/error_gain.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/use_index.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

constexpr LayoutMachine kMachine{.lanes = 16, .maxError = kWinogradMaxError};

Module typed(const std::string& text)
{
    const Result<Module> module = parseModule(text);
    CHECK(module) << module.error().text();
    RunPassesOptions options;
    options.pipeline = {"InferType"};
    PassContext context;
    context.target = *parseTarget("llvm -mtriple=x86_64-linux-gnu -mcpu=icelake-server");
    const auto machine = machineSpec(context.target);
    context.code = machine->backEnd->traits(*machine);
    const Result<PassTrace> trace = runPasses(*module, context, options);
    CHECK(trace) << trace.error().text();
    return trace->last();
}

/// 3 x 3 convolutions with activations between, and what stands at the end; weights are `scale`
/// times as large as keeps the size of values.
std::string chain(int layers, double scale = 1, const std::string& end = "")
{
    const std::string range = std::to_string(scale * std::sqrt(6.0 / 288));
    std::string text = "def @main(%x: Tensor[(1, 32, 56, 56), float32]) {\n", last = "%x";
    for (int i = 0; i < layers; ++i) {
        const std::string n = std::to_string(i);
        text += "  %w" + n + " = rand(" + std::to_string(i + 1) + ", -" + range + ", " + range +
                ") : Tensor[(32, 32, 3, 3), float32]\n  %c" + n + " = nn.conv2d(" + last + ", %w" +
                n + ", padding=[1, 1, 1, 1])\n  %r" + n + " = nn.relu(%c" + n + ")\n";
        last = "%r" + n;
    }
    if (end.empty()) return text + "  return " + last + "\n}\n";
    return text + "  %y = " + end + "(" + last + ")\n  return %y\n}\n";
}

struct Choice
{
    std::vector<int64_t> tiles;
    double total;
};

Choice chosen(const Module& module, double outputError, const LayoutMachine& machine = kMachine)
{
    const GraphFunction& function = *openFunctions(module).front();
    const ErrorBudget budget(module, function, machine, outputError);
    Choice out{{}, budget.total()};
    for (const NodeId id : function.order)
        if (module.node(id).op == "nn.conv2d") out.tiles.push_back(budget.tile(id).rows);
    return out;
}

std::vector<double> gainsOf(const Module& module)
{
    const GraphFunction& function = *openFunctions(module).front();
    std::vector<double> gains;
    for (const LayerGain& layer : errorGains(module, function, ValueSamples(module, function)))
        gains.insert(gains.begin(), layer.gain);
    return gains;
}

/// Samples have fewer pixels than the model; a transposition makes channels of them.
TEST(ErrorBudget, TakesChannelsThatWereSides)
{
    const Module module = typed("def @main(%x: Tensor[(1, 4, 64, 64), float32]) {\n"
                                "  %w = rand(1, -0.1, 0.1) : Tensor[(32, 64, 3, 3), float32]\n"
                                "  %t = transpose(%x, axes=[0, 2, 1, 3])\n"
                                "  %p = nn.max_pool2d(%t, pool_size=[1, 1])\n"
                                "  %c = nn.conv2d(%p, %w, padding=[1, 1, 1, 1])\n"
                                "  return %c\n}\n");
    const Choice choice = chosen(module, 2e-5);
    ASSERT_EQ(choice.tiles.size(), 1u);
    EXPECT_GT(choice.total, 0);
}

TEST(ErrorBudget, takesTheFastestFormsWhereAnyErrorIsAllowed)
{
    EXPECT_EQ(chosen(typed(chain(4)), 1).tiles, (std::vector<int64_t>{4, 4, 4, 4}));
}

TEST(ErrorBudget, namesTheFasterFormThatItHasNoRoomFor)
{
    const Module module = typed(chain(4));
    const GraphFunction& function = *openFunctions(module).front();
    const ErrorBudget tight(module, function, kMachine, 1e-7), wide(module, function, kMachine, 1);
    for (const NodeId id : function.order) {
        if (module.node(id).op != "nn.conv2d") continue;
        EXPECT_EQ(refusedForm("a; " + tight.shareText(id) + "; 3 kcycles around it").substr(0, 40),
                  "tiles of 4 x 4 would be faster, but the ");
        EXPECT_EQ(refusedForm(wide.shareText(id)), "");
    }
}

TEST(ErrorBudget, takesTheMostExactFormsWhereNoErrorIsAllowed)
{
    // Sums of 32 products in place of 288.
    EXPECT_EQ(chosen(typed(chain(4)), 0).tiles, (std::vector<int64_t>{2, 2, 2, 2}));
}

TEST(ErrorBudget, keepsTheDirectMethodWhereThatIsAskedFor)
{
    const LayoutMachine never{.lanes = 16, .maxError = 0};
    EXPECT_EQ(chosen(typed(chain(4)), 1, never).tiles, (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST(ErrorBudget, staysWithinWhatIsAllowedAndUsesIt)
{
    const Module module = typed(chain(12, 1.3));
    const double least = chosen(module, 0).total, most = chosen(module, 1).total;
    ASSERT_LT(2 * least, most);
    int64_t before = 0;
    for (double budget = least; budget <= 1.1 * most; budget *= 1.2) {
        const Choice choice = chosen(module, budget);
        EXPECT_LE(choice.total, budget * (1 + 1e-9));
        const auto fours = std::count(choice.tiles.begin(), choice.tiles.end(), 4);
        EXPECT_GE(fours, before) << budget;
        before = fours;
    }
    EXPECT_EQ(before, 12);
}

TEST(ErrorBudget, goesByTheConvolutionAloneWhereItsEffectIsNotKnown)
{
    const Module module = typed(chain(2, 1, "nonzero"));
    EXPECT_EQ(chosen(module, kOutputError).tiles, (std::vector<int64_t>{4, 4}));
}

TEST(ErrorGain, doesNotDependOnTheSizeOfTheWeights)
{
    // The last layer's results grow with its weights; nothing else does.
    const std::vector<double> plain = gainsOf(typed(chain(1))),
                              large = gainsOf(typed(chain(1, 100)));
    ASSERT_EQ(plain.size(), 1u);
    EXPECT_NEAR(large[0] / plain[0], 1, 1e-3);
}

TEST(ErrorGain, growsWithTheDepthOfANormalizedNetwork)
{
    // Weights that normalization made larger: activations took a third of the variance away.
    const std::vector<double> gains = gainsOf(typed(chain(12, std::sqrt(1.47))));
    ASSERT_EQ(gains.size(), 12u);
    EXPECT_GT(gains.front(), 3 * gains.back());
}

TEST(ErrorGain, looksAtNothingInEmptyTensors)
{
    const Module empty = typed("def @main(%x: Tensor[(0, 3, 6, 8), float32]) {\n"
                               "  %y = reshape(%x, newshape=[0, 144])\n"
                               "  return %y\n}\n");
    EXPECT_TRUE(gainsOf(empty).empty());
}

TEST(ErrorGain, averagesOutInAPool)
{
    const double plain = gainsOf(typed(chain(1))).front();
    const double pooled = gainsOf(typed(chain(1, 1, "nn.global_avg_pool2d"))).front();
    EXPECT_LT(pooled, plain / 10); // 56 x 56 elements; means are smaller than the largest
}

} // namespace
} // namespace tenon::compiler
