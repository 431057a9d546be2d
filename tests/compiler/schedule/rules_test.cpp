// SPDX-License-Identifier: Apache-2.0
// Schedule rules: their traces for AVX-512 as written, and on every kind of vector unit the
// scheduled kernel computes what the unscheduled one does.
#include "compiler/ops/op.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"
#include "tests/support/golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TargetFacts kAvx512{.vectorBytes = 64,
                              .vectorRegisters = 32,
                              .hasFma = true,
                              .hasEmbeddedBroadcast = true,
                              .l1Bytes = 49152,
                              .l2Bytes = int64_t{2} << 20,
                              .threads = 4};
constexpr TargetFacts kAvx2Pair{
    .vectorBytes = 32, .vectorRegisters = 16, .hasFma = true, .threads = 2};
constexpr TargetFacts kNeon{.vectorBytes = 16,
                            .vectorRegisters = 32,
                            .hasFma = true,
                            .hasLaneOperand = true,
                            .hasHalfLanes = true,
                            .threads = 4};
constexpr TargetFacts kSse{};
constexpr TargetFacts kScalar{.vectorBytes = 4}; ///< C source, and RISC-V without vectors

/// Extent of the longest vector loop.
int64_t longestVector(const tir::PrimFunc& function)
{
    const std::string text = tir::print(function), begin = "T.vectorized(";
    int64_t longest = 0;
    for (size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
        longest = std::max<int64_t>(longest, std::stoll(text.substr(at + begin.size())));
    return longest;
}

void expectSame(const tir::PrimFunc& function, const std::string& title)
{
    for (const TargetFacts& facts : {kAvx512, kAvx2Pair, kNeon, kSse, kScalar}) {
        const auto kernel = scheduleKernel(function, facts);
        ASSERT_TRUE(kernel) << title << ": " << kernel.error().text();
        EXPECT_EQ(kernel->refusal, "") << title;
        // A longer one is unrolled whole, and LLVM takes the square of its length.
        EXPECT_LE(longestVector(kernel->function), 64)
            << title << ", vectors of " << facts.vectorBytes << " bytes";
        EXPECT_EQ(test::scheduleDifference(function, kernel->function), "")
            << title << ", vectors of " << facts.vectorBytes << " bytes\n"
            << tir::print(kernel->function);
    }
}

std::string traced(const test::GoldenCase& c)
{
    const auto function = test::fusedKernel(c.input);
    if (!function) return function.error().text() + "\n";
    expectSame(*function, c.title);
    const auto kernel = scheduleKernel(*function, kAvx512);
    if (!kernel) return kernel.error().text() + "\n";
    std::string text = "rule " + kernel->rule + "\n";
    for (const TraceStep& step : kernel->trace) text += step.text() + "\n";
    return text;
}

class Rule : public testing::TestWithParam<const char*>
{
};

TEST_P(Rule, IsAsWrittenAndComputesTheSame)
{
    test::expectGolden(std::string("tests/compiler/schedule/rules/") + GetParam() + ".txt", traced);
}

INSTANTIATE_TEST_SUITE_P(All, Rule,
                         testing::Values("conv2d_nchwc", "conv2d_plain", "conv2d_strassen",
                                         "conv2d_winograd", "conv_chain", "default", "matmul",
                                         "softmax", "window", "attention"),
                         [](const auto& param) { return std::string(param.param); });

/// A row sum that says it is the anchor of some family.
tir::PrimFunc rowSums(const std::string& kind, const std::string& anchor)
{
    const auto function = tir::parsePrimFunc(R"(@T.prim_func
def main(a: T.Buffer((6, 8), "float32"), b: T.Buffer((8,), "float32"), c: T.Buffer((6,), "float32")):
    with T.block("root"):
        for i in T.serial(6):
            for k in T.serial(8):
                with T.block("rows"):
                    vi = T.axis.spatial(6, i)
                    vk = T.axis.reduce(8, k)
                    with T.init():
                        c[vi] = T.float32(0)
                    c[vi] = c[vi] + a[vi, vk] * b[vk]
)");
    CHECK(function) << function.error().text();
    tir::PrimFunc out = *function;
    out.attrs = {{"kind", kind}, {"anchor", anchor}};
    return out;
}

/// Inputs of two steps are loaded together; of all rows at once they would fill the registers.
TEST(Rules, MultiplyPairsOfBytesRowByRow)
{
    const auto function =
        test::fusedKernel("%x: Tensor[(27, 64), int8], %w: Tensor[(8, 16, 4), int32]\n"
                          "%y = qnn.contrib_dense_pack(%x, %w)\n");
    ASSERT_TRUE(function) << function.error().text();
    TargetFacts facts = kNeon;
    facts.floatMacs = 4;
    facts.byteMacs = 6;
    const auto kernel = scheduleKernel(*function, facts);
    ASSERT_TRUE(kernel) << kernel.error().text();
    std::string text;
    for (const TraceStep& step : kernel->trace) text += step.text() + "\n";
    EXPECT_NE(text.find("\"k_0\", \"m_1\", \"k_1\""), std::string::npos) << text;
    EXPECT_EQ(test::scheduleDifference(*function, kernel->function), "");
}

TEST(Rules, LeaveKernelsThatOnlyClaimToBeTheirs)
{
    for (const char* kind : {"attention", "conv2d", "conv2d_nchwc", "conv2d_strassen",
                             "conv2d_transpose", "conv2d_winograd", "dense", "dense_pack",
                             "depthwise_conv2d_nchwc", "layer_norm", "matmul", "pool", "softmax"})
        for (const char* anchor : {"rows", "absent", ""}) {
            const tir::PrimFunc function = rowSums(kind, anchor);
            const auto kernel = scheduleKernel(function, kAvx512);
            ASSERT_TRUE(kernel) << kind << ", " << anchor;
            EXPECT_EQ(test::scheduleDifference(function, kernel->function), "") << kind;
        }
    EXPECT_EQ(scheduleKernel(rowSums("matmul", "rows"), kAvx512)->refusal,
              "matmul: `matmul` of block `rows`: its axes are `SR`, not `*SSR` of known sizes");
    EXPECT_EQ(scheduleKernel(rowSums("softmax", "absent"), kAvx512)->refusal,
              "softmax: `softmax` names block `absent` which does not exist");
}

/// A core whose second-level cache is small, so that small weights pass once.
TargetFacts sharedBy(int threads)
{
    TargetFacts facts = kNeon;
    facts.l2Bytes = 20 << 10;
    facts.threads = static_cast<unsigned>(threads);
    return facts;
}

/// Steps of the kernel's trace, after a comparison of what it computes.
std::string stepsFor(const tir::PrimFunc& function, const TargetFacts& facts)
{
    const auto kernel = scheduleKernel(function, facts);
    if (!kernel) return kernel.error().text();
    EXPECT_EQ(kernel->refusal, "");
    EXPECT_EQ(test::scheduleDifference(function, kernel->function), "")
        << facts.threads << " threads";
    std::string text;
    for (const TraceStep& step : kernel->trace) text += step.text() + "\n";
    return text;
}

TEST(Rules, PadForEachThreadWhatItReads)
{
    const auto conv = test::fusedKernel(
        R"(%x: Tensor[(1, 4, 12, 8, 4), float32], %w: Tensor[(8, 4, 3, 3, 4, 4), float32]
%c = nn.contrib_conv2d_NCHWc(%x, %w, data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c", padding=[1, 1, 1, 1], strides=[1, 1], dilation=[1, 1])
)");
    ASSERT_TRUE(conv) << conv.error().text();
    EXPECT_THAT(stepsFor(*conv, sharedBy(3)), HasSubstr("compute_at(\"pad\", \"oh_0_0\")"));
    EXPECT_THAT(stepsFor(*conv, sharedBy(8)), HasSubstr("compute_at(\"pad\", \"oc_outer_0_0\")"))
        << "eight blocks, twelve rows";
    EXPECT_THAT(stepsFor(*conv, sharedBy(7)), Not(HasSubstr("compute_at(\"pad\"")))
        << "shares are uneven";
}

TEST(Rules, TransformDataForEachThreadThatSharesFilters)
{
    const auto conv = test::fusedKernel(
        R"(%x: Tensor[(1, 8, 5, 5, 4), float32], %w: Tensor[(4, 4, 4, 8, 4, 8), float32]
%c = nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout="NCHW4c", kernel_layout="OHWI4i8o", out_layout="NCHW4c", padding=[1, 1, 1, 1], tile_size=[2, 2])
)");
    ASSERT_TRUE(conv) << conv.error().text();
    EXPECT_THAT(stepsFor(*conv, sharedBy(2)),
                HasSubstr("compute_at(\"data_tiles\", \"i1_1_0_0\")"));
    EXPECT_THAT(stepsFor(*conv, sharedBy(3)), HasSubstr("compute_at(\"data_tiles\", \"i2_1_0\")"))
        << "four blocks of filters, three rows of tiles";
}

TEST(Rules, ShareFiltersThatAreTransformedInTheKernelForAnyNumberOfImages)
{
    const auto conv = test::fusedKernel(
        R"(%x: Tensor[(3, 8, 5, 5, 4), float32], %w: Tensor[(4, 8, 3, 3, 4, 8), float32]
%c = nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout="NCHW4c", kernel_layout="OIHW4i8o", out_layout="NCHW4c", padding=[1, 1, 1, 1], tile_size=[2, 2])
)");
    ASSERT_TRUE(conv) << conv.error().text();
    EXPECT_THAT(stepsFor(*conv, sharedBy(2)), HasSubstr("compute_at(\"data_tiles\", \"i1_1_0_0\")"))
        << "three images would not divide";
}

TEST(Rules, TakePartsOfRowsOrSeveralImagesAsWinogradSteps)
{
    const auto wide = test::fusedKernel(
        R"(%x: Tensor[(1, 1, 7, 62, 4), float32], %w: Tensor[(1, 6, 6, 1, 4, 8), float32]
%c = nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout="NCHW4c", kernel_layout="OHWI4i8o", out_layout="NCHW4c", padding=[1, 1, 1, 1], tile_size=[4, 4])
)");
    ASSERT_TRUE(wide) << wide.error().text();
    EXPECT_THAT(stepsFor(*wide, sharedBy(1)), HasSubstr("split(\"i3_1\", factors=[-1, 16])"))
        << "four tiles of sixteen";
    const auto small = test::fusedKernel(
        R"(%x: Tensor[(6, 4, 3, 3, 4), float32], %w: Tensor[(4, 4, 4, 4, 4, 4), float32]
%c = nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout="NCHW4c", kernel_layout="OHWI4i4o", out_layout="NCHW4c", padding=[1, 1, 1, 1], tile_size=[2, 2])
)");
    ASSERT_TRUE(small) << small.error().text();
    EXPECT_THAT(stepsFor(*small, sharedBy(1)), HasSubstr("split(\"i0_1\", factors=[-1, 2])"))
        << "two images of six";
}

TEST(Rules, MakeTilesOfAllStepsEven)
{
    const auto conv = test::fusedKernel(
        R"(%x: Tensor[(1, 16, 2, 67, 4), float32], %w: Tensor[(16, 16, 1, 1, 4, 4), float32]
%c = nn.contrib_conv2d_NCHWc(%x, %w, data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c")
)");
    ASSERT_TRUE(conv) << conv.error().text();
    TargetFacts facts = sharedBy(1);
    facts.l2Bytes = 56 << 10;
    EXPECT_THAT(stepsFor(*conv, facts),
                HasSubstr("split_overlap(\"oh_ow\", factor=9)\n"
                          "oh_ow_0_0, oh_ow_0_1 = split_overlap(\"oh_ow_0\", factor=5)"))
        << "three steps of 45 positions for 134";
}

/// A sequence of so many columns.
tir::PrimFunc sequence(const std::string& columns)
{
    const auto conv = test::fusedKernel(
        "%x: Tensor[(1, 4, 1, " + columns +
        ", 4), float32], %w: Tensor[(6, 4, 1, 3, 4, 4), float32]\n%c = nn.contrib_conv2d_NCHWc(%x, "
        "%w, data_layout=\"NCHW4c\", kernel_layout=\"OIHW4i4o\", out_layout=\"NCHW4c\", "
        "padding=[0, 1, 0, 1], strides=[1, 1])\n");
    CHECK(conv) << conv.error().text();
    return *conv;
}

/// The same for kernels as small as these.
TargetFacts sharedAtOnceBy(int threads)
{
    TargetFacts facts = sharedBy(threads);
    facts.forkCycles = 1;
    return facts;
}

TEST(Rules, ShareTheColumnsOfASequenceWhichHasOneRow)
{
    EXPECT_THAT(stepsFor(sequence("98"), sharedAtOnceBy(2)),
                HasSubstr("split(\"ow\", factors=[2, -1])"));
    EXPECT_THAT(stepsFor(sequence("98"), sharedAtOnceBy(3)),
                HasSubstr("split(\"ow\", factors=[2, -1])"))
        << "three do not divide 98";
    EXPECT_THAT(stepsFor(sequence("97"), sharedAtOnceBy(2)), Not(HasSubstr("split(\"ow\"")));
}

TEST(Rules, PassWeightsOverStepsOfASequenceThatStayInTheCache)
{
    const std::string steps = "ow_0_0, ow_0_1 = split_overlap(\"ow_0\"";
    EXPECT_THAT(stepsFor(sequence("397"), sharedAtOnceBy(1)), HasSubstr(steps));
    EXPECT_THAT(stepsFor(sequence("397"), sharedAtOnceBy(2)), HasSubstr(steps))
        << "blocks are shared";
    EXPECT_THAT(stepsFor(sequence("97"), sharedAtOnceBy(1)), Not(HasSubstr(steps)))
        << "all stay there";
    EXPECT_THAT(stepsFor(sequence("397"), sharedAtOnceBy(1)), Not(HasSubstr("compute_at(\"pad\"")))
        << "each step would pad all columns";
}

TEST(Rules, FillVectorsWithColumnsOfFewBytes)
{
    const auto conv = test::fusedKernel(
        R"(%x: Tensor[(1, 1, 9, 30, 4), int8], %w: Tensor[(1, 6, 6, 1, 4, 16), int16]
%c = qnn.contrib_conv2d_winograd_NCHWc(%x, %w, out_layout="NCHW4c", pad_value=-3, padding=[1, 1, 1, 1])
)");
    ASSERT_TRUE(conv) << conv.error().text();
    TargetFacts alone = kNeon;
    alone.threads = 1;
    const std::string steps = stepsFor(*conv, alone);
    EXPECT_THAT(steps, HasSubstr("fuse(\"pad_ax3_tail\", \"pad_ax4_tail\")"));
    EXPECT_THAT(steps, HasSubstr("fuse(\"data_rows_ax4\", \"data_rows_ax5\")"));
}

TEST(Rules, SumBytesAVectorOfThemAtATime)
{
    const auto sums = [](const std::string& plane) {
        const auto function = test::fusedKernel("%x: Tensor[(1, 3, " + plane +
                                                ", 4), int8]\n%0 = cast(%x, dtype=T.int32)\n"
                                                "%1 = sum(%0, axis=[2, 3], keepdims=1)\n");
        CHECK(function) << function.error().text();
        return stepsFor(*function, kNeon);
    };
    const std::string whole = sums("8, 16"), odd = sums("7, 7");
    EXPECT_THAT(whole, HasSubstr("split(\"k0_k1\", factors=[-1, 8])"));
    EXPECT_THAT(whole, Not(HasSubstr("peel")));
    EXPECT_THAT(odd, HasSubstr("peel(\"k0_k1_0\", count=12)")) << "and one that is left over";
    EXPECT_THAT(sums("5, 5"), Not(HasSubstr("rfactor"))) << "so few steps gain nothing";
}

TEST(Rules, CountADotProductOfBytesOnceWhenTheyShareWork)
{
    const auto isShared = [](const std::string& image) {
        const auto conv =
            test::fusedKernel("%x: Tensor[(1, 4, " + image +
                              ", 16), uint8], %w: Tensor[(1, 4, 1, 1, 4, 64), int32]\n" +
                              "%c = qnn.contrib_conv2d_NCHWc(%x, %w, out_layout=\"NCHW16c\")\n");
        CHECK(conv) << conv.error().text();
        const auto kernel = scheduleKernel(*conv, kAvx512);
        CHECK(kernel) << kernel.error().text();
        return !kernel->trace.empty() && kernel->trace.back().primitive == "parallel";
    };
    EXPECT_FALSE(isShared("25, 5")) << "half a million products";
    EXPECT_TRUE(isShared("50, 28"));
}

TEST(Rules, MultiplyFewRowsAtATimeWhereTheyShareASetOfTheCache)
{
    const auto rowsPerTile = [](int64_t depth) {
        const std::string k = std::to_string(depth);
        const auto product =
            test::fusedKernel("%x: Tensor[(28, " + k + "), float32], %w: Tensor[(2, " + k +
                              ", 16), float32]\n%y = nn.contrib_dense_pack(%x, "
                              "%w, weight_layout=\"NK16n\")\n");
        CHECK(product) << product.error().text();
        TargetFacts facts = kAvx512;
        facts.threads = 1;
        const std::string steps = stepsFor(*product, facts);
        const size_t at = steps.find("split_overlap(\"m\", factor=");
        return at == std::string::npos ? steps : steps.substr(at, steps.find('\n', at) - at);
    };
    EXPECT_EQ(rowsPerTile(1040), "split_overlap(\"m\", factor=14)");
    EXPECT_EQ(rowsPerTile(1024), "split_overlap(\"m\", factor=7)") << "4096 bytes apart";
}

TEST(Rules, ReadWeightsOfFewRowsWhereTheyLie)
{
    const auto copiesWeights = [](int64_t rows, const TargetFacts& facts) {
        const auto product = test::fusedKernel("%x: Tensor[(" + std::to_string(rows) +
                                               ", 64), float32], %w: Tensor[(10, 64), float32]\n"
                                               "%y = nn.dense(%x, %w)\n");
        CHECK(product) << product.error().text();
        return stepsFor(*product, facts).find("cache_read(\"dense\", \"p1\"") != std::string::npos;
    };
    EXPECT_FALSE(copiesWeights(1, kScalar));
    EXPECT_TRUE(copiesWeights(32, kScalar));
    EXPECT_FALSE(copiesWeights(1, kNeon));
    EXPECT_FALSE(copiesWeights(2, kNeon));
    EXPECT_TRUE(copiesWeights(3, kNeon));
}

TEST(Rules, CopyRowsOfAProductSideBySideWhereLanesAreOperands)
{
    const auto product = test::fusedKernel(
        R"(%x: Tensor[(50, 8), float32], %w: Tensor[(48, 8, 16), float32], %b: Tensor[(768,), float32]
%y = nn.contrib_dense_pack(%x, %w, weight_layout="NK16n")
%z = nn.bias_add(%y, %b, axis=1)
)");
    ASSERT_TRUE(product) << product.error().text();
    expectSame(*product, "50 rows, tiles of six");
    TargetFacts facts = kNeon;
    EXPECT_THAT(stepsFor(*product, facts), HasSubstr("permute_dims(\"p0_global\", order=[1, 0])"));
    facts.threads = 5;
    EXPECT_THAT(stepsFor(*product, facts), Not(HasSubstr("permute_dims(")))
        << "too few columns for each";
}

class EveryOp : public testing::TestWithParam<const OpDef*>
{
};

TEST_P(EveryOp, ComputesTheSameScheduled)
{
    const auto function = test::exampleKernel(std::string(GetParam()->example));
    ASSERT_TRUE(function) << function.error().text();
    expectSame(*function, std::string(GetParam()->name));
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(allOps().begin(), allOps().end()),
                         [](const auto& param) {
                             std::string name(param.param->name);
                             for (char& c : name)
                                 if (c == '.') c = '_';
                             return name;
                         });

} // namespace
} // namespace tenon::compiler
