// SPDX-License-Identifier: Apache-2.0
// The CSV form of planning problems: reading, writing, and errors that name the line.
#include "compiler/memory/plan_csv.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(PlanCsv, ReadsHalfOpenLifetimes)
{
    const PlanCsv csv = *readPlanCsv("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\r\nb3,0,9,4\n\n");
    ASSERT_EQ(csv.problem.buffers.size(), 3u);
    EXPECT_EQ(csv.problem.buffers[0].last, 2);
    EXPECT_EQ(csv.problem.conflicts[0], std::vector<int>{2});
    EXPECT_FALSE(csv.offsets);
    EXPECT_EQ(lowerBound(csv.problem), 8);
}

TEST(PlanCsv, ReadsColumnsInAnyOrder)
{
    const PlanCsv csv = *readPlanCsv("size,offset,alignment,upper,lower,id\n7,64,16,5,2,x\n");
    const BufferInfo& buffer = csv.problem.buffers.at(0);
    EXPECT_EQ(buffer.name, "x");
    EXPECT_EQ(buffer.sizeBytes, 7);
    EXPECT_EQ(buffer.alignment, 16);
    EXPECT_EQ(buffer.first, 2);
    EXPECT_EQ(csv.offsets, std::vector<int64_t>{64});
}

TEST(PlanCsv, WritesWhatItReads)
{
    const std::string input = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\n";
    const PlanCsv csv = *readPlanCsv(input);
    const MemoryPlan plan = *planMemory("linear_scan", csv.problem);
    const std::string written = writePlanCsv(csv.problem, plan);
    EXPECT_EQ(written, "id,lower,upper,size,offset\nb1,0,3,4,4\nb2,3,9,4,4\nb3,0,9,4,0\n");
    const PlanCsv again = *readPlanCsv(written);
    EXPECT_EQ(again.offsets, (std::vector<int64_t>{4, 4, 0}));
    EXPECT_EQ(again.problem.buffers[1].first, 3);
}

TEST(PlanCsv, ErrorsNameTheLine)
{
    const std::pair<const char*, const char*> cases[] = {
        {"", "line 1: the header must name"},
        {"id,lower,upper\n", "line 1: the header must name"},
        {"id,lower,upper,size\nb,0,3\n", "line 2: expected 4 cells but found 3"},
        {"id,lower,upper,size\nb,0,3,4\nc,0,x,4\n", "line 3: `x` is not a number"},
        {"id,lower,upper,size\nb,3,3,4\n", "line 2: the lifetime of `b` must end behind"},
        {"id,lower,upper,size\nb,0,3,-4\n", "line 2: -4 is out of range"},
        {"id,lower,upper,size\nb,0,3,99999999999999999999\n", "line 2: `999"},
    };
    for (const auto& [text, saying] : cases) {
        const core::Result<PlanCsv> csv = readPlanCsv(text);
        ASSERT_FALSE(csv) << text;
        EXPECT_NE(csv.error().message.find(saying), std::string::npos) << csv.error().message;
    }
}

} // namespace
} // namespace tenon::compiler
