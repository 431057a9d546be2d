// SPDX-License-Identifier: Apache-2.0
// Divisions of data need care, those of indices and those by known numbers do not.
#include "core/ir/tir/division.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::tir {
namespace {

bool mayFail(const std::string& type, const std::string& value)
{
    const auto function =
        parsePrimFunc("@T.prim_func\ndef main(a: T.Buffer((8,), \"" + type +
                      "\"), b: T.Buffer((8,), \"" + type + "\"), y: T.Buffer((8,), \"" + type +
                      "\")):\n    for i in T.serial(8):\n        y[i] = " + value + "\n");
    EXPECT_TRUE(function) << function.error().text();
    return function && mayDivideByZero(function->body);
}

TEST(Division, OfDataByDataMayMeetZero)
{
    for (const char* type : {"int8", "uint8", "int32", "uint32", "int64", "uint64"}) {
        EXPECT_TRUE(mayFail(type, "a[i] / b[i]")) << type;
        EXPECT_TRUE(mayFail(type, "T.truncmod(a[i], b[i])")) << type;
    }
    EXPECT_TRUE(mayFail("int64", "a[i] // b[i]"));
    EXPECT_TRUE(mayFail("int64", "a[i] % b[i]"));
    EXPECT_TRUE(mayFail("int64", "T.int64(7) / b[i]"));
}

TEST(Division, ByANumberOrWithinBoundsDoesNot)
{
    EXPECT_FALSE(mayFail("int64", "a[i] // 3"));
    EXPECT_FALSE(mayFail("int64", "a[i] / T.int64(-3)"));
    EXPECT_FALSE(mayFail("int64", "a[i // 2] + a[i % 4]"));
    EXPECT_FALSE(mayFail("float32", "a[i] / b[i]"));
}

} // namespace
} // namespace tenon::tir
