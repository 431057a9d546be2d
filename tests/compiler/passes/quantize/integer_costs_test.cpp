// SPDX-License-Identifier: Apache-2.0
// Which layers take longer in integers than in floats, by the figures of the target.
#include "compiler/passes/quantize/integer_costs.h"
#include "compiler/passes/use_index.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// As of a Haswell: products of bytes by pairs of 16-bit ones, as many as of floats.
PassContext avx2()
{
    PassContext context;
    context.facts = {.vectorBytes = 32, .hasFma = true, .floatMacs = 16, .byteMacs = 16};
    context.code.byteProducts = kUInt8;
    return context;
}

/// As of a Cortex-A72.
PassContext neon()
{
    PassContext context;
    context.facts = {.vectorBytes = 16,
                     .vectorRegisters = 32,
                     .hasFma = true,
                     .hasLaneOperand = true,
                     .hasHalfLanes = true,
                     .floatMacs = 4,
                     .byteMacs = 6};
    context.code.byteProducts = kInt8;
    return context;
}

/// Of a convolution of `in` to 128 channels with a kernel such as "3, 3".
std::optional<std::string> whyFloats(const PassContext& context, const std::string& kernel,
                                     const std::string& attrs, int64_t in = 32,
                                     const std::string& image = "28, 28",
                                     const std::string& op = "nn.conv2d", double rounded = 1)
{
    const std::string channels = std::to_string(in);
    const std::string filters = op == "nn.conv2d" ? "128, " + channels : channels + ", 128";
    const auto module =
        parseModule("def @main(%x: Tensor[(1, " + channels + ", " + image +
                    "), float32]) {\n  %w = rand(1) : Tensor[(" + filters + ", " + kernel +
                    "), float32]\n  %0 = " + op + "(%x, %w" + attrs + ")\n  return %0\n}\n");
    EXPECT_TRUE(module) << module.error().text();
    RunPassesOptions options;
    options.pipeline = {"InferType"};
    JobContext job;
    PassContext typing = context;
    typing.job = &job;
    const auto trace = runPasses(*module, typing, options);
    EXPECT_TRUE(trace) << trace.error().text();
    const Module& typed = trace->last();
    const GraphFunction& function = *openFunctions(typed).front();
    const NodeRecord& layer = typed.node(function.order.back());
    return IntegerCosts(typed, function, context).whyFloats(layer, rounded);
}

template <typename... Arguments>
bool isDearer(const Arguments&... arguments)
{
    return whyFloats(arguments...).has_value();
}

constexpr const char* kPadded = ", padding=[1, 1, 1, 1]";
constexpr const char* kPaddedByTwo = ", padding=[2, 2, 2, 2]";

TEST(IntegerCosts, FollowThePointsThatFloatsHave)
{
    // Integers have points for 3 x 3 and for rows, but along one axis only of 5 x 5.
    for (const PassContext& context : {avx2(), neon()}) {
        EXPECT_FALSE(isDearer(context, "1, 1", "")) << "as many products";
        EXPECT_FALSE(isDearer(context, "3, 3", kPadded));
        EXPECT_FALSE(isDearer(context, "1, 5", ", padding=[0, 2, 0, 2]", 32, "1, 2048"));
        EXPECT_TRUE(isDearer(context, "5, 5", kPaddedByTwo, 128));
    }
}

TEST(IntegerCosts, KnowThatFloatsFillUpTheirChannels)
{
    EXPECT_TRUE(isDearer(avx2(), "5, 5", kPaddedByTwo, 122));
    EXPECT_FALSE(isDearer(avx2(), "1, 1", "", 18));
}

TEST(IntegerCosts, KnowThatIntegersFillUpTheirChannels)
{
    EXPECT_FALSE(isDearer(neon(), "3, 3", kPadded, 18));
}

TEST(IntegerCosts, FollowTheProductsOfTheTarget)
{
    PassContext dots = avx2();
    dots.facts.byteMacs = 64;
    EXPECT_FALSE(isDearer(dots, "3, 3", kPadded));
    PassContext none = avx2();
    none.code.byteProducts.reset();
    EXPECT_TRUE(isDearer(none, "1, 1", ""));
    none.code.savesMemory = true;
    EXPECT_FALSE(isDearer(none, "1, 1", "")) << "memory counts for more than time";
}

TEST(IntegerCosts, CountPackedColumnsAndWhatIsRoundedBehindAPool)
{
    // Rows of five taps are two words, and the columns of one channel are packed into them first.
    EXPECT_FALSE(isDearer(avx2(), "7, 7", ", padding=[3, 3, 3, 3]", 1)) << "rows of two words";
    EXPECT_FALSE(isDearer(avx2(), "5, 5", kPaddedByTwo, 1));
    EXPECT_TRUE(isDearer(avx2(), "5, 5", kPaddedByTwo, 1, "28, 28", "nn.conv2d", 0.25));
}

bool isBelowTable(const PassContext& context, double perVector)
{
    const auto module = parseModule("def @main(%x: Tensor[(1,), float32]) {\n  return %x\n}\n");
    const GraphFunction& function = *openFunctions(*module).front();
    return IntegerCosts(*module, function, context).isBelowTable(perVector);
}

TEST(IntegerCosts, KnowWhereShortFunctionsTakeLessThanTables)
{
    constexpr double kHardSwish = 5, kSigmoid = 25;
    EXPECT_TRUE(isBelowTable(avx2(), kHardSwish));
    EXPECT_FALSE(isBelowTable(avx2(), kSigmoid));
    PassContext narrow = avx2(), tables = avx2(), small = avx2();
    narrow.facts.vectorBytes = 16;
    tables.code.hasByteTables = true;
    small.code.savesMemory = true;
    for (const PassContext& context : {narrow, tables, small})
        EXPECT_FALSE(isBelowTable(context, kHardSwish));
}

TEST(IntegerCosts, SayWhyALayerStaysInFloats)
{
    const auto why = whyFloats(avx2(), "5, 5", kPaddedByTwo);
    ASSERT_TRUE(why);
    EXPECT_NE(why->find("by tiles of 4 x 4"), std::string::npos) << *why;
    PassContext none = avx2();
    none.code.byteProducts.reset();
    EXPECT_EQ(whyFloats(none, "1, 1", ""), "the target has no products of bytes");
}

TEST(IntegerCosts, FollowThePhasesOfTransposedConvolutions)
{
    // Of one pixel, floats have a dense layer, and integers a convolution of padding.
    EXPECT_TRUE(isDearer(neon(), "4, 4", "", 32, "1, 1", "nn.conv2d_transpose"));
    EXPECT_FALSE(isDearer(neon(), "2, 2", ", strides=[2, 2]", 32, "28, 28", "nn.conv2d_transpose"));
    // Each phase of 2 x 2 has tiles in both, those of 5 x 5 along both axes in floats only.
    EXPECT_FALSE(isDearer(avx2(), "4, 4", ", strides=[2, 2], padding=[1, 1, 1, 1]", 128, "28, 28",
                          "nn.conv2d_transpose"));
    EXPECT_TRUE(isDearer(avx2(), "10, 10", ", strides=[2, 2], padding=[4, 4, 4, 4]", 128, "28, 28",
                         "nn.conv2d_transpose"));
}

TEST(IntegerCosts, CountTapsThatOnlyFloatsLeaveOut)
{
    const std::string far = ", padding=[24, 24, 24, 24], dilation=[24, 24]";
    EXPECT_TRUE(isDearer(neon(), "3, 3", far));
    EXPECT_FALSE(isDearer(neon(), "3, 3", ", padding=[2, 2, 2, 2], dilation=[2, 2]"));
}

} // namespace
} // namespace tenon::compiler
