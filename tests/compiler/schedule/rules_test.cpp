// SPDX-License-Identifier: Apache-2.0
// Schedule rules: their traces for AVX-512 as written, and on every kind of vector unit the
// scheduled kernel computes what the unscheduled one does.
#include "compiler/ops/op.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr TargetFacts kAvx512{.vectorBytes = 64,
                              .vectorRegisters = 32,
                              .hasFma = true,
                              .hasEmbeddedBroadcast = true,
                              .l1Bytes = 49152,
                              .l2Bytes = int64_t{2} << 20,
                              .threads = 4};
constexpr TargetFacts kAvx2{.vectorBytes = 32, .vectorRegisters = 16, .hasFma = true, .threads = 2};
constexpr TargetFacts kNeon{.vectorBytes = 16, .vectorRegisters = 32, .hasFma = true, .threads = 4};
constexpr TargetFacts kSse{};
constexpr TargetFacts kScalar{.vectorBytes = 4}; ///< C source, and RISC-V without vectors

/// Why the rule that claims the function does not schedule it; "" when it does.
std::string refusal(const tir::PrimFunc& function, const TargetFacts& facts)
{
    for (const ScheduleRule& rule : allScheduleRules()) {
        if (!rule.matches(function, facts)) continue;
        Schedule schedule(function);
        const Status status = rule.apply(schedule, facts);
        return status ? "" : std::string(rule.name) + ": " + status.error().text();
    }
    return "no rule";
}

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
    for (const TargetFacts& facts : {kAvx512, kAvx2, kNeon, kSse, kScalar}) {
        const auto kernel = scheduleKernel(function, facts);
        ASSERT_TRUE(kernel) << title << ": " << kernel.error().text();
        EXPECT_EQ(refusal(function, facts), "") << title;
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
                         testing::Values("conv2d_nchwc", "conv2d_plain", "conv2d_winograd",
                                         "conv_chain", "default", "matmul", "softmax", "window",
                                         "attention"),
                         [](const auto& param) { return std::string(param.param); });

class EveryOp : public testing::TestWithParam<const OpDef*>
{
};

TEST_P(EveryOp, ComputesTheSameScheduled)
{
    const auto function = test::exampleKernel(std::string(GetParam()->example));
    if (!function) GTEST_SKIP() << function.error().text();
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
