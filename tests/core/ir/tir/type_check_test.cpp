// SPDX-License-Identifier: Apache-2.0
// Operators and functions refuse operands of types that they do not take.
#include "core/ir/tir/text.h"
#include "core/ir/tir/type_check.h"

#include <gtest/gtest.h>

namespace tenon::tir {
namespace {

TEST(TypeCheck, RefusesOperandsThatAreNotTaken)
{
    const auto said = [](const std::string& value) -> std::string {
        const auto function = parsePrimFunc(
            "@T.prim_func\ndef f(a: T.Buffer((8,), \"float32\"), n: T.Buffer((8,), \"int32\"), "
            "c: T.Buffer((8,), \"float32\")):\n    for i in T.serial(8):\n        c[i] = " +
            value + "\n");
        if (!function) return function.error().message;
        const Status done = checkTypes(*function);
        return done ? "" : done.error().message;
    };
    EXPECT_EQ(said("T.if_then_else(i < 4 and n[i] > T.int32(0), T.exp(a[i]), a[i] / T.float32(2))"),
              "");
    for (const char* value :
         {"T.Cast(\"float32\", T.exp(i))", "T.Cast(\"float32\", T.exp(n[i]))",
          "T.if_then_else(i, a[i], a[i])", "T.Select(i, a[i], a[i])", "a[i] // a[i]",
          "T.Cast(\"float32\", i and i)", "T.Cast(\"float32\", not i)",
          "T.Cast(\"float32\", (i < 3) + (i < 4))", "T.bitwise_and(a[i], a[i])",
          "T.pow(a[i], T.float64(2))", "T.if_then_else(i < 3, a[i], n[i])"})
        EXPECT_NE(said(value).find("do not fit"), std::string::npos)
            << value << ": " << said(value);
}

} // namespace
} // namespace tenon::tir
