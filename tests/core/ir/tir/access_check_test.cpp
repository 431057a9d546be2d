// SPDX-License-Identifier: Apache-2.0
// What is proven to stay inside its buffers, and what is refused with the reason.
#include "core/ir/tir/access_check.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::tir {
namespace {

/// What is said of a function whose one statement stands in the loops i < 8 and j < 4.
std::string said(const std::string& statement)
{
    const auto function = parsePrimFunc("@T.prim_func\n"
                                        "def f(a: T.Buffer((8, 4), \"float32\"), n: T.Buffer((8,), "
                                        "\"int32\"), c: T.Buffer((8, 4), \"float32\")):\n"
                                        "    for i in T.serial(8):\n"
                                        "        for j in T.serial(4):\n" +
                                        statement);
    EXPECT_TRUE(function) << function.error().text();
    if (!function) return "no text";
    EXPECT_TRUE(verify(*function));
    const Status done = checkAccesses(*function);
    return done ? "" : done.error().message;
}

std::string saidOfStore(const std::string& store) { return said("            " + store + "\n"); }

TEST(AccessCheck, ProvesWhatLoopsAndConditionsBound)
{
    for (const char* store : {
             "c[i, j] = a[i, j]",
             "c[i, j] = a[7 - i, 3 - j]",
             "c[(i * 4 + j) // 4, (i * 4 + j) % 4] = a[i, j]",
             "c[i, j] = T.if_then_else(i > 0, a[i - 1, j], T.float32(0))",
             "c[i, j] = T.if_then_else(i < 1, T.float32(0), a[i - 1, j])",
             "c[i, j] = T.if_then_else(j >= 1 and j + 2 < 5, a[i, j + 1], T.float32(0))",
             "c[i, j] = T.if_then_else(i * 2 + j < 8, a[i * 2 + j, j], T.float32(0))",
             "c[i, j] = a[T.min(T.max(T.Cast(\"int64\", n[i]), 0), 7), j]",
             "c[i, j] = T.if_then_else(i == 2, a[i + 5, j], T.float32(0))",
         })
        EXPECT_EQ(saidOfStore(store), "") << store;
}

TEST(AccessCheck, RefusesWhatMayLieOutside)
{
    const auto expectSaid = [](const std::string& store, const std::string& part) {
        const std::string message = saidOfStore(store);
        EXPECT_NE(message.find(part), std::string::npos) << store << ": " << message;
    };
    expectSaid("c[i, j] = a[i + 1, j]", "index `i + 1` of `a` is not proven to be inside its 8");
    expectSaid("c[i, j] = a[i + 1, j]", "it goes from 1 to 8");
    expectSaid("c[i, j] = a[i, j - 1]", "it goes from -1 to 2");
    expectSaid("c[i, i] = a[i, j]", "index `i` of `c`");
    expectSaid("c[i, j] = a[T.Cast(\"int64\", n[i]), j]", "index");
    expectSaid("c[i, j] = T.Select(i > 0, a[i - 1, j], T.float32(0))", "it goes from -1 to 6");
    expectSaid("c[i, j] = T.if_then_else(i > 0 or j > 0, a[i - 1, j], T.float32(0))", "-1");
    expectSaid("c[i, j] = T.if_then_else(i < 7, T.float32(0), a[i + 1, j])", "`i + 1`");
    expectSaid("c[i, j] = T.if_then_else(j > 0, a[i - 1, j], T.float32(0))", "-1");
    expectSaid("a[i, j] = T.float32(1)", "input `a` is written");
}

TEST(AccessCheck, TakesBlocksAtTheirWord)
{
    const std::string head = "            with T.block(\"c\"):\n";
    EXPECT_EQ(said(head + "                vi = T.axis.spatial(8, i)\n"
                          "                vj = T.axis.spatial(4, j)\n"
                          "                c[vi, vj] = a[vi, vj]\n"),
              "");
    EXPECT_EQ(said(head + "                vi = T.axis.spatial(8, (i * 4 + j) // 2)\n"
                          "                T.where(i * 4 + j < 16)\n"
                          "                c[vi, 0] = a[vi, 0]\n"),
              "");
    EXPECT_NE(said(head + "                vi = T.axis.spatial(8, i + j)\n"
                          "                c[vi, 0] = a[vi, 0]\n")
                  .find("axis `vi` of extent 8 is bound to `i + j`: it goes from 0 to 10"),
              std::string::npos);
}

} // namespace
} // namespace tenon::tir
