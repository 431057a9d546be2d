// SPDX-License-Identifier: Apache-2.0
// Rows of boxes that are filled up with zeros. Nothing evaluates them before, as their number is
// open: no case of canonicalize_ops.txt can be.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/passes/pass.h"
#include "compiler/passes/passes.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

struct Case
{
    std::string zeros = "0, 0, 0, 0, 0, 0, 0, 0, 0", rows = "3"; ///< behind those that are found
    std::string more = "%5", result = "%6";                      ///< read beside them
};

/// The best of four boxes, of which the first two overlap, with their number.
Module filled(const Case& one)
{
    const std::string text =
        R"(def @main(%boxes: Tensor[(1, 4, 4), float32], %scores: Tensor[(1, 1, 4), float32]) {
  %most = const([3]) : Tensor[(1,), int64]
  %limit = const([0.5f]) : Tensor[(1,), float32]
  %0:2 = vision.non_max_suppression(%boxes, %scores, %most, %limit, %limit, center_point_box=0)
  %1 = bind_dims(%0.1, names=s["_s0"])
  %start = const([0]) : Tensor[(1,), int64]
  %2 = dynamic_slice(%0.0, %start, axes=[0], sizes=s["_s0", "3"], strides=[1])
  %zeros = const([)" +
        one.zeros + "]) : Tensor[(" + one.rows + R"(, 3), int64]
  %3 = concatenate(%2, %zeros, axis=0)
  %places = const([0, 1, 2]) : Tensor[(3,), int64]
  %4 = take(%3, %places, axis=0)
  %5 = sizes(sizes=s["_s0"])
  %6 = less(%places, )" +
        one.more + R"()
  %7 = sizes(sizes=s["_s0"], scalar=1)
  %8 = cast(%7, dtype=T.int32)
  %9 = abs(%2)
  %10 = min(%2, axis=[0], keepdims=0, exclude=0)
  return %4, )" +
        one.result + ", %8\n}\n";
    auto module = parseModule(text);
    CHECK(module) << module.error().text();
    return *std::move(module);
}

Module passed(const Case& one)
{
    PassContext context;
    context.optLevel = 3;
    RunPassesOptions options;
    options.pipeline = {"InferType", "DeadCodeElimination", "CanonicalizeOps"};
    const Result<PassTrace> trace = runPasses(filled(one), context, options);
    CHECK(trace) << trace.error().text();
    return trace->last();
}

bool isOpen(const Module& module) { return printModule(module).find("_s0") != std::string::npos; }

TEST(FilledRows, AreThoseOfTheOperator)
{
    const Module module = passed({});
    EXPECT_FALSE(isOpen(module)) << printModule(module);
    const std::map<std::string, Tensor> inputs{
        {"boxes", Tensor::of<float>(kFloat32, {1, 4, 4},
                                    {0, 0, 2, 2, 0, 0, 2, 2.1F, 5, 5, 6, 6, 8, 8, 9, 9})},
        {"scores", Tensor::of<float>(kFloat32, {1, 1, 4}, {0.6F, 0.9F, 0.7F, 0.2F})}};
    const auto results = evaluateGraph(module, inputs, JobContext());
    ASSERT_TRUE(results) << results.error().text();
    using Numbers = std::vector<double>;
    EXPECT_EQ(results->at(0).numbers(), (Numbers{0, 0, 1, 0, 0, 2, 0, 0, 0}));
    EXPECT_EQ(results->at(1).numbers(), (Numbers{1, 1, 0}));
    EXPECT_EQ(results->at(2).numbers(), (Numbers{2}));
}

TEST(FilledRows, StayOpenWhereTheirNumberIsRead)
{
    EXPECT_TRUE(isOpen(passed({.result = "%9"}))) << "the rows themselves are a result's";
    EXPECT_TRUE(isOpen(passed({.result = "%2"})));
    EXPECT_TRUE(isOpen(passed({.result = "%10"}))) << "zeros would be least";
    EXPECT_TRUE(isOpen(passed({.result = "%5"}))) << "no two results share a value";
    EXPECT_TRUE(isOpen(passed({.more = "%1"}))) << "the names are data of theirs, too";
    EXPECT_TRUE(isOpen(passed({.zeros = "0, 0, 0, 0, 0, 0", .rows = "2"})))
        << "the third row may be none of both";
    EXPECT_TRUE(isOpen(passed({.zeros = "0, 0, 0, 0, 0, 1, 0, 0, 0"}))) << "no zeros";
}

} // namespace
} // namespace tenon::compiler
