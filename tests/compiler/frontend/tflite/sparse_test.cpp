// SPDX-License-Identifier: Apache-2.0
// Weights whose zeros are left out, and constants without elements.
#include "tests/compiler/frontend/tflite/operator_run.h"

namespace tenon::test {
namespace {

using Type = TfliteType;
using Numbers = std::vector<double>;

FlatOut dense(int32_t size) { return FlatOut().number(0, int8_t{0}).number(1, size); }

/// A level that lists what it has, in numbers of 8 bits.
FlatOut listed(const std::vector<uint8_t>& segments, const std::vector<uint8_t>& indices)
{
    return FlatOut()
        .number(0, int8_t{1})
        .number(2, uint8_t{3})
        .table(3, FlatOut().numbers(0, segments))
        .number(4, uint8_t{3})
        .table(5, FlatOut().numbers(0, indices));
}

FlatOut sparsity(const std::vector<int32_t>& order, const std::vector<int32_t>& blocks,
                 std::vector<FlatOut> levels)
{
    return FlatOut().numbers(0, order).numbers(1, blocks).tables(2, std::move(levels));
}

/// A model that adds zeros to what DENSIFY makes of `values`.
TfliteWriter densified(std::vector<int32_t> shape, const std::vector<float>& values, FlatOut how)
{
    TfliteWriter w;
    const int sparse = w.constant<float>("sparse", Type::Float32, shape, values);
    w.makeSparse(sparse, std::move(how));
    const int full = w.tensor("full", Type::Float32, shape);
    w.op("DENSIFY", {sparse}, {full});
    w.op("ADD", {w.input("x", Type::Float32, {}), full}, {w.output("y", Type::Float32, shape)});
    return w;
}

Numbers valuesOf(const TfliteWriter& model) { return numbersOf(model, {{"x", floats({}, {0})}}); }

TEST(TfliteSparse, RowsListTheirColumns)
{
    EXPECT_EQ(valuesOf(densified({2, 3}, {5, 6, 7},
                                 sparsity({0, 1}, {}, {dense(2), listed({0, 1, 3}, {2, 0, 1})}))),
              (Numbers{0, 0, 5, 6, 7, 0}));
    // The same by columns.
    EXPECT_EQ(
        valuesOf(densified({2, 3}, {6, 7, 5},
                           sparsity({1, 0}, {}, {dense(3), listed({0, 1, 2, 3}, {1, 1, 0})}))),
        (Numbers{0, 0, 5, 6, 7, 0}));
}

TEST(TfliteSparse, BlocksAreDense)
{
    EXPECT_EQ(
        valuesOf(densified({4, 4}, {1, 2, 3, 4, 5, 6, 7, 8},
                           sparsity({0, 1, 2, 3}, {0, 1},
                                    {dense(2), listed({0, 1, 2}, {1, 0}), dense(2), dense(2)}))),
        (Numbers{0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0}));
}

TEST(TfliteSparse, WhatDoesNotFitIsNamed)
{
    const auto refusal = [](FlatOut how, const std::vector<float>& values) {
        const std::vector<std::byte> bytes = densified({2, 3}, values, std::move(how)).file();
        const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "model.tflite", {});
        if (!loaded) return loaded.error().text();
        return loaded->diagnostics.empty() ? std::string() : loaded->diagnostics[0].text();
    };
    const auto rows = [](const std::vector<uint8_t>& segments,
                         const std::vector<uint8_t>& indices) {
        return sparsity({0, 1}, {}, {dense(2), listed(segments, indices)});
    };
    const std::pair<FlatOut, const char*> kCases[] = {
        {rows({0, 1, 3}, {2, 0, 3}), "has the index 3 among 3"},
        {rows({0, 1, 4}, {2, 0, 1}), "segments outside of its indices"},
        {rows({0, 3, 1}, {2, 0, 1}), "segments outside of its indices"},
        {rows({0, 3}, {2, 0, 1}), "has segments amiss"},
        {rows({0, 1, 2}, {2, 0}), "has 12 bytes of data but its type and shape need 8"},
        {sparsity({0, 1}, {}, {dense(2), dense(2)}), "has 2 entries where the shape has 3"},
        {sparsity({0, 0}, {}, {dense(2), dense(3)}), "does not list each dimension once"},
        {sparsity({0, 1}, {7}, {dense(2), dense(3)}), "does not list each dimension once"},
        {sparsity({0, 1, 2}, {1}, {dense(2), dense(1), dense(2)}), "do not divide dimension 1"}};
    for (const auto& [how, message] : kCases) {
        const std::string said = refusal(how, {5, 6, 7});
        EXPECT_NE(said.find(message), std::string::npos) << message << ": " << said;
        EXPECT_NE(said.find("`sparse`"), std::string::npos) << said;
    }
}

TEST(TfliteSparse, AShapeWithoutElementsMakesAScalar)
{
    TfliteWriter w;
    const int shape = w.constant<int32_t>("shape", Type::Int32, {0}, {});
    w.op("RESHAPE", {w.input("x", Type::Float32, {1, 1}), shape},
         {w.output("y", Type::Float32, {})});
    const auto got = resultsOf(w, {{"x", floats({1, 1}, {7})}});
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].shape().empty());
    EXPECT_EQ(got[0].numbers(), (Numbers{7}));
}

} // namespace
} // namespace tenon::test
