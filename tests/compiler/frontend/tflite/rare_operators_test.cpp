// SPDX-License-Identifier: Apache-2.0
// Operators that few models hold: values by hand, and files in which nothing fits.
#include "tests/compiler/frontend/tflite/operator_run.h"
#include "tests/conformance/tflite/tflite_case.h"

#include <set>

namespace tenon::test {
namespace {

using Type = TfliteType;
using core::Tensor;
using Numbers = std::vector<double>;

Tensor whole(std::vector<int64_t> shape, const std::vector<int32_t>& values)
{
    return Tensor::of<int32_t>(core::kInt32, std::move(shape), values);
}

TEST(TfliteRare, ReadsBitsAsAnotherType)
{
    TfliteWriter same, parts, joined;
    same.op("BITCAST", {same.input("x", Type::Float32, {2})}, {same.output("y", Type::Int32, {2})});
    EXPECT_EQ(numbersOf(same, {{"x", floats({2}, {1, -2})}}), (Numbers{0x3f800000, -0x40000000}));
    parts.op("BITCAST", {parts.input("x", Type::Int32, {1})},
             {parts.output("y", Type::Int8, {1, 4})});
    EXPECT_EQ(numbersOf(parts, {{"x", whole({1}, {-2})}}), (Numbers{-2, -1, -1, -1}));
    joined.op("BITCAST", {joined.input("x", Type::Int8, {2, 4})},
              {joined.output("y", Type::Float32, {2})});
    EXPECT_EQ(numbersOf(joined, {{"x", bytes({2, 4}, {0, 0, -128, 63, 0, 0, 0, -64})}}),
              (Numbers{1, -2}));
}

TEST(TfliteRare, ShiftsKeepTheSignAndStayInTheWord)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int32, {4}), n = w.input("n", Type::Int32, {4});
    w.op("RIGHT_SHIFT", {x, n}, {w.output("y", Type::Int32, {4})});
    EXPECT_EQ(numbersOf(w, {{"x", whole({4}, {-9, 9, -9, 9})}, {"n", whole({4}, {1, 2, 99, -3})}}),
              (Numbers{-5, 2, -1, 9}));
}

TEST(TfliteRare, FillsGapsAndBorders)
{
    TfliteWriter gaps, borders;
    const int x = gaps.input("x", Type::Float32, {2, 2});
    gaps.op("DILATE",
            {x, gaps.constant<int32_t>("by", Type::Int32, {2}, {1, 2}),
             gaps.constant<float>("fill", Type::Float32, {}, {9})},
            {gaps.output("y", Type::Float32, {2, 3})});
    EXPECT_EQ(numbersOf(gaps, {{"x", floats({2, 2}, {1, 0, 3, 4})}}), (Numbers{1, 9, 0, 3, 9, 4}));
    const int z = borders.input("x", Type::Float32, {3});
    borders.op("STABLEHLO_PAD", {z, borders.constant<float>("fill", Type::Float32, {}, {9})},
               {borders.output("y", Type::Float32, {5})},
               FlatOut()
                   .numbers(0, std::vector<int64_t>{1})
                   .numbers(1, std::vector<int64_t>{-1})
                   .numbers(2, std::vector<int64_t>{1}));
    EXPECT_EQ(numbersOf(borders, {{"x", floats({3}, {1, 2, 3})}}), (Numbers{9, 1, 9, 2, 9}));
}

TEST(TfliteRare, ReducesWindows)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {2, 4});
    const auto sizes = [&](const char* name, const std::vector<int64_t>& values) {
        return w.constant<int64_t>(name, Type::Int64, {2}, values);
    };
    w.op("REDUCE_WINDOW",
         {x, w.constant<float>("start", Type::Float32, {}, {100}), sizes("window", {2, 2}),
          sizes("strides", {1, 1}), sizes("dilations", {1, 2})},
         {w.output("y", Type::Float32, {1, 2})}, FlatOut().number(0, int32_t{1}));
    EXPECT_EQ(numbersOf(w, {{"x", floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})}}), (Numbers{116, 120}));
}

TEST(TfliteRare, SaysWhyAnOperatorIsNotImported)
{
    TfliteWriter w;
    const int shape = w.constant<int32_t>("shape", Type::Int32, {1}, {3});
    w.op("RANDOM_UNIFORM", {shape}, {w.output("y", Type::Float32, {3})});
    const auto model = w.file();
    const auto loaded = compiler::loadTfliteBytes(model, nullptr, "model.tflite", {});
    ASSERT_TRUE(loaded);
    ASSERT_FALSE(loaded->diagnostics.empty());
    EXPECT_NE(loaded->diagnostics[0].text().find("draws random numbers"), std::string::npos);
}

const std::set<std::string> kOps{"ATAN2",
                                 "BIDIRECTIONAL_SEQUENCE_LSTM",
                                 "BIDIRECTIONAL_SEQUENCE_RNN",
                                 "BITCAST",
                                 "BUCKETIZE",
                                 "CONV_3D_TRANSPOSE",
                                 "HASHTABLE_LOOKUP",
                                 "LSTM",
                                 "MATRIX_DIAG",
                                 "MATRIX_SET_DIAG",
                                 "RIGHT_SHIFT",
                                 "RNN",
                                 "SEGMENT_SUM",
                                 "SPARSE_TO_DENSE",
                                 "UNIDIRECTIONAL_SEQUENCE_RNN",
                                 "UNIQUE",
                                 "UNSORTED_SEGMENT_MAX",
                                 "UNSORTED_SEGMENT_SUM"};

/// True when the file is refused; a refusal says something.
bool isRefused(const TfliteWriter& model)
{
    const auto file = model.file();
    const auto loaded = compiler::loadTfliteBytes(file, nullptr, "model.tflite", {});
    if (!loaded) return !loaded.error().text().empty();
    for (const core::Diagnostic& d : loaded->diagnostics)
        if (d.severity == core::Severity::Error) return !d.text().empty();
    return false;
}

TEST(TfliteRare, RefusesOperatorsWithoutOperands)
{
    for (const TfliteCase& one : allTfliteCases()) {
        if (!kOps.contains(one.op) || one.type == "int64") continue;
        TfliteWriter model = one.model;
        model.setInputs(0, {});
        EXPECT_TRUE(isRefused(model)) << one.op << " " << one.what;
    }
}

TEST(TfliteRare, SurvivesTensorsOfAnotherTypeOrShape)
{
    size_t refused = 0;
    std::set<std::string> seen;
    for (const TfliteCase& one : allTfliteCases()) {
        if (!kOps.contains(one.op) || !seen.insert(one.op + one.what).second) continue;
        for (size_t tensor = 0; tensor < one.model.tensorCount(); ++tensor) {
            for (const Type type : {Type::Float32, Type::Int8, Type::Bool, Type::String}) {
                TfliteWriter model = one.model;
                model.retype(tensor, type);
                refused += isRefused(model);
            }
            for (const std::vector<int32_t>& shape :
                 {std::vector<int32_t>{}, {0}, {7}, {-1, 3}, {2, 0, 4}, {1 << 30, 1 << 30}}) {
                TfliteWriter model = one.model;
                model.reshape(tensor, shape);
                refused += isRefused(model);
            }
        }
    }
    EXPECT_GT(refused, 1000u);
}

TEST(TfliteRare, TransformsRowsIntoTheirSpectrum)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 4});
    const int complex = w.tensor("c", Type::Complex64, {1, 3});
    w.op("RFFT2D", {x, w.constant<int32_t>("n", Type::Int32, {2}, {1, 4})}, {complex});
    w.op("REAL", {complex}, {w.output("real", Type::Float32, {1, 3})});
    w.op("IMAG", {complex}, {w.output("imaginary", Type::Float32, {1, 3})});
    w.op("COMPLEX_ABS", {complex}, {w.output("size", Type::Float32, {1, 3})});
    const auto got = resultsOf(w, {{"x", floats({1, 4}, {1, 4, 4, 0})}});
    ASSERT_EQ(got.size(), 3u);
    const Numbers wanted[] = {{9, -3, 1}, {0, -4, 0}, {9, 5, 1}};
    for (size_t i = 0; i < 3; ++i)
        for (size_t k = 0; k < 3; ++k) EXPECT_NEAR(got[i].numbers()[k], wanted[i][k], 1e-5) << i;
}

TEST(TfliteRare, ComplexNumbersGoNowhereElse)
{
    const auto refusal = [](const char* op, bool isResult) {
        TfliteWriter w;
        const int x = w.input("x", Type::Float32, {1, 4});
        const int complex = w.tensor("c", Type::Complex64, {1, 3});
        w.op("RFFT2D", {x, w.constant<int32_t>("n", Type::Int32, {2}, {1, 4})}, {complex});
        const int y = w.output("y", isResult ? Type::Complex64 : Type::Float32, {1, 3});
        w.op(op, {complex}, {y}, FlatOut().numbers(0, std::vector<int32_t>{1, 3}));
        const std::vector<std::byte> bytes = w.file();
        const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "m.tflite", {});
        if (!loaded) return loaded.error().text();
        return loaded->diagnostics.empty() ? std::string() : loaded->diagnostics[0].text();
    };
    EXPECT_NE(refusal("NEG", true).find("complex numbers are taken from RFFT2D"), std::string::npos)
        << refusal("NEG", true);
    EXPECT_NE(refusal("RESHAPE", true).find("the output `y` holds complex numbers"),
              std::string::npos)
        << refusal("RESHAPE", true);
}

} // namespace
} // namespace tenon::test
