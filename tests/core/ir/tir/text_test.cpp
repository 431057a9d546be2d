// SPDX-License-Identifier: Apache-2.0
// The loop IR's text: every construct survives printing and parsing, and wrong text is refused.
#include "core/ir/tir/text.h"
#include "core/ir/tir/visit.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::tir {
namespace {

std::string printedAgain(const std::string& text)
{
    const Result<PrimFunc> function = parsePrimFunc(text);
    if (!function) return function.error().location.detail + ": " + function.error().message + "\n";
    const Status status = verify(*function);
    if (!status)
        return std::string(codeText(status.error().code)) + ": " + status.error().message + "\n";
    return print(*function);
}

TEST(TirText, RoundTripsEveryConstruct)
{
    test::expectGolden("tests/core/ir/tir/round_trip.txt", [](const test::GoldenCase& c) {
        const std::string once = printedAgain(c.input);
        EXPECT_EQ(once, printedAgain(once)) << c.title;
        return once;
    });
}

TEST(TirText, RefusesWrongText)
{
    test::expectGolden("tests/core/ir/tir/bad_text.txt",
                       [](const test::GoldenCase& c) { return printedAgain(c.input); });
}

TEST(TirText, KeepsSpecialNumbersAndTypes)
{
    const Buffer out = makeBuffer("out", {4}, kFloat32);
    PrimFunc function{.name = "main", .params = {out}};
    std::vector<Stmt> stmts;
    const double values[] = {std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), 1e-38, 0.10000000149011612};
    for (int64_t i = 0; i < 4; ++i) stmts.push_back(store(out, {i}, floatImm(values[i])));
    stmts.push_back(evaluate(intImm(-5, kInt8)));
    stmts.push_back(evaluate(call(Intrinsic::Reinterpret, kInt32, {load(out, {0})})));
    function.body = seq(stmts);
    const Result<PrimFunc> back = parsePrimFunc(print(function));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_TRUE(structuralEqual(function, *back)) << print(*back);
}

TEST(TirText, MakesNamesUniqueAndMapsLines)
{
    const Buffer out = makeBuffer("out", {4}, kFloat32);
    const Var i = makeVar("i");
    const Var j = makeVar("i");
    const Stmt body = store(out, {Expr(i) + Expr(j)}, floatImm(0));
    PrimFunc function{.name = "main", .params = {out}};
    function.body = forLoop({.var = i, .extent = 2}, forLoop({.var = j, .extent = 2}, body));
    std::unordered_map<const StmtNode*, int> lines;
    EXPECT_EQ(print(function, &lines), "@T.prim_func\n"
                                       "def main(out: T.Buffer((4,), \"float32\")):\n"
                                       "    for i in T.serial(2):\n"
                                       "        for i_1 in T.serial(2):\n"
                                       "            out[i + i_1] = T.float32(0)\n");
    EXPECT_EQ(lines.at(body.get()), 5);
    EXPECT_EQ(lines.at(function.body.get()), 3);
}

} // namespace
} // namespace tenon::tir
