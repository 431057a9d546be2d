// SPDX-License-Identifier: Apache-2.0
// A schedule remembers its first failure and goes on without doing anything.
#include "compiler/schedule/schedule.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

Schedule relu()
{
    const auto function = tir::parsePrimFunc(R"(@T.prim_func
def main(a: T.Buffer((6, 10), "float32"), c: T.Buffer((6, 10), "float32")):
    with T.block("root"):
        for i in T.serial(6):
            for j in T.serial(10):
                with T.block("relu"):
                    vi = T.axis.spatial(6, i)
                    vj = T.axis.spatial(10, j)
                    c[vi, vj] = T.max(a[vi, vj], T.float32(0))
)");
    CHECK(function) << function.error().text();
    return Schedule(*function);
}

TEST(Schedule, RemembersItsFirstFailure)
{
    Schedule schedule = relu();
    schedule.vectorize("k");
    ASSERT_TRUE(schedule.hasFailed());
    const std::string first = schedule.status().error().message;
    EXPECT_NE(first.find("`k`"), std::string::npos) << first;
    schedule.unroll("l");
    schedule.fail(makeError(DiagnosticCode::BadSchedule, "later"));
    EXPECT_EQ(schedule.status().error().message, first);
}

TEST(Schedule, DoesNothingAfterAFailureAndNamesWhatExists)
{
    Schedule schedule = relu();
    const std::string before = tir::print(schedule.function());
    schedule.fuse({"j", "i"});
    ASSERT_TRUE(schedule.hasFailed());
    EXPECT_EQ(schedule.split("j", {-1, 5}), (Schedule::Loops{"j", "j"}));
    EXPECT_EQ(schedule.splitOverlap("j", 4), (Schedule::Loops{"j", "j"}));
    EXPECT_EQ(schedule.peel("i", 4), "i");
    EXPECT_EQ(schedule.cacheWrite("relu", tir::Scope::Register), "relu");
    EXPECT_EQ(schedule.decomposeReduction("relu", "i"), "relu");
    EXPECT_EQ(schedule.rfactor("j", 0), "relu");
    EXPECT_EQ(schedule.fuseAxes("relu", 0), "i");
    schedule.parallel("i");
    EXPECT_EQ(tir::print(schedule.function()), before);
    EXPECT_TRUE(schedule.trace().empty());
}

TEST(Schedule, TriesWithoutFailing)
{
    Schedule schedule = relu();
    EXPECT_FALSE(schedule.tries().computeInline("relu"));
    EXPECT_FALSE(schedule.hasFailed());
    schedule.parallel("i");
    EXPECT_TRUE(schedule.status());
    EXPECT_EQ(schedule.trace().size(), 1u);
}

TEST(Schedule, HoldsWhatHasStridesInCompactBuffers)
{
    const auto function = tir::parsePrimFunc(R"(@T.prim_func
def main(a: T.Buffer((6, 8), "float32", strides=(20, 1)), c: T.Buffer((6,), "float32", strides=(3,))):
    with T.block("root"):
        for i in T.serial(6):
            for k in T.serial(8):
                with T.block("sum"):
                    vi = T.axis.spatial(6, i)
                    vk = T.axis.reduce(8, k)
                    with T.init():
                        c[vi] = T.float32(0)
                    c[vi] = c[vi] + a[vi, vk]
)");
    ASSERT_TRUE(function) << function.error().text();
    Schedule schedule(*function);
    schedule.cacheRead("sum", "a", tir::Scope::Local);
    schedule.rfactor("k", 1);
    schedule.cacheWrite("sum", tir::Scope::Register);
    ASSERT_TRUE(schedule.status()) << schedule.status().error().text();
    const std::string text = tir::print(schedule.function());
    EXPECT_NE(text.find("a_local = T.alloc_buffer((6, 8), \"float32\", scope=\"local\")"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("c_rf = T.alloc_buffer((6, 8), \"float32\")"), std::string::npos) << text;
    EXPECT_NE(text.find("c_register = T.alloc_buffer((6,), \"float32\", scope=\"register\")"),
              std::string::npos)
        << text;
}

} // namespace
} // namespace tenon::compiler
