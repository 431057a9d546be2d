// SPDX-License-Identifier: Apache-2.0
// Every primitive: text after a trace (or why it is refused), and the result computes the same.
#include "compiler/schedule/schedule.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/support.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// Input is a function, a line `>>>`, and a trace.
std::string scheduled(const test::GoldenCase& c)
{
    const size_t mark = c.input.find(">>>\n");
    if (mark == std::string::npos) return "the case has no trace\n";
    const Result<tir::PrimFunc> before = tir::parsePrimFunc(c.input.substr(0, mark));
    if (!before) return before.error().text() + "\n";
    Schedule schedule(*before);
    const Status status = schedule.replay(c.input.substr(mark + 4));
    if (!status) return status.error().text() + "\n";
    const Status valid = tir::verify(schedule.function());
    EXPECT_TRUE(valid) << c.title << ": " << (valid ? "" : valid.error().text());
    EXPECT_EQ(test::scheduleDifference(*before, schedule.function()), "") << c.title;

    // What was recorded replays to the same text.
    std::string trace;
    for (const TraceStep& step : schedule.trace()) trace += step.text() + "\n";
    Schedule again(*before);
    const Status replayed = again.replay(trace);
    EXPECT_TRUE(replayed) << c.title << ": " << (replayed ? "" : replayed.error().text());
    EXPECT_EQ(tir::print(again.function()), tir::print(schedule.function())) << c.title;
    return tir::print(schedule.function());
}

class Primitive : public testing::TestWithParam<const char*>
{
};

TEST_P(Primitive, IsAsWritten)
{
    test::expectGolden(std::string("tests/compiler/schedule/") + GetParam() + ".txt", scheduled);
}

INSTANTIATE_TEST_SUITE_P(All, Primitive,
                         testing::Values("bind", "cache_read", "cache_words", "cache_write",
                                         "compute_at", "compute_inline", "decompose_reduction",
                                         "fuse", "fuse_axes", "fuse_dims", "init_with_addends",
                                         "pad", "parallel", "peel", "permute_dims", "reorder",
                                         "reverse_compute_at", "reverse_compute_inline", "rfactor",
                                         "set_scope", "skip_zero_terms", "split", "split_overlap",
                                         "storage_align", "stream", "stream_result", "stream_rows",
                                         "tensorize", "tile", "unroll", "vectorize"),
                         [](const auto& param) { return std::string(param.param); });

} // namespace
} // namespace tenon::compiler
