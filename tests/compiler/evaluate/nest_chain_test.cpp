// SPDX-License-Identifier: Apache-2.0
// Values that pass through inner buffers too large for the cache: stretch by stretch where the
// nests allow it, and the same values in either case.
#include "compiler/evaluate/evaluate.h"
#include "compiler/te/te.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

using te::Expr;
using Indices = std::vector<Expr>;

constexpr int64_t kRows = 96;
constexpr int64_t kColumns = 4096; // 1.5 MiB of float32 with kRows

Tensor numbered(std::vector<int64_t> shape)
{
    std::vector<float> values(static_cast<size_t>(elementCount(shape)));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((i * 2654435761u) % 1000003) / 1000.0f;
    return Tensor::of(kFloat32, std::move(shape), values);
}

/// Values of `out` of one input of kRows x kColumns, by one thread and by three.
std::vector<float> evaluated(const te::TensorRef& in, const te::Tensors& out, size_t which = 0)
{
    const auto function = te::createPrimFunc("main", {in}, out);
    CHECK(function) << function.error().text();
    std::vector<float> first;
    for (const unsigned threads : {1u, 3u}) {
        const auto results =
            evaluate(*function, {numbered({kRows, kColumns})}, JobContext(threads));
        CHECK(results) << results.error().text();
        const auto values = (*results)[which].as<float>();
        if (threads == 1)
            first.assign(values.begin(), values.end());
        else
            EXPECT_TRUE(std::equal(first.begin(), first.end(), values.begin(), values.end()));
    }
    return first;
}

te::TensorRef input() { return te::placeholder("x", {Expr(kRows), Expr(kColumns)}, kFloat32); }

te::TensorRef doubled(const te::TensorRef& x)
{
    return te::compute("doubled", x->shape(),
                       [&](const Indices& i) { return te::at(x, i) * tir::floatImm(2); });
}

float at(const Tensor& x, int64_t row, int64_t column)
{
    return x.as<float>()[static_cast<size_t>(row * kColumns + column)];
}

TEST(NestChain, handsValuesOnThroughSeveralBuffers)
{
    // As a Winograd transform: transposed, combined, and stored in blocks of 4 of what was cut.
    const auto x = input();
    const auto turned = te::compute("turned", {Expr(kColumns), Expr(kRows)}, [&](const Indices& i) {
        return te::at(x, {i[1], i[0]});
    });
    const auto pairs =
        te::compute("pairs", {Expr(kColumns), Expr(2), Expr(kRows / 2)}, [&](const Indices& i) {
            return tir::select(tir::equal(i[1], Expr(0)), te::at(turned, {i[0], i[2]}),
                               te::at(turned, {i[0], i[2] + kRows / 2}) -
                                   te::at(turned, {i[0], i[2]}));
        });
    const auto blocked = te::compute(
        "blocked", {Expr(2), Expr(kColumns / 4), Expr(kRows / 2), Expr(4)}, [&](const Indices& i) {
            return te::at(pairs, {i[1] * 4 + i[3], i[0], i[2]});
        });
    const std::vector<float> got = evaluated(x, {blocked});
    const Tensor in = numbered({kRows, kColumns});
    size_t place = 0;
    for (int64_t half = 0; half < 2; ++half)
        for (int64_t block = 0; block < kColumns / 4; ++block)
            for (int64_t row = 0; row < kRows / 2; ++row)
                for (int64_t c = 0; c < 4; ++c) {
                    const float low = at(in, row, block * 4 + c);
                    const float high = at(in, row + kRows / 2, block * 4 + c);
                    ASSERT_EQ(got[place++], half == 0 ? low : high - low) << place;
                }
}

TEST(NestChain, keepsApartWhatCrossesStretches)
{
    const auto x = input();
    const auto two = doubled(x);
    const auto sums =
        te::compute("sums", {Expr(kRows - 1), Expr(kColumns - 1)}, [&](const Indices& i) {
            return te::at(two, i) + te::at(two, {i[0] + 1, i[1] + 1});
        });
    const std::vector<float> got = evaluated(x, {sums});
    const Tensor in = numbered({kRows, kColumns});
    for (int64_t row = 0; row + 1 < kRows; ++row)
        for (int64_t column = 0; column + 1 < kColumns; ++column)
            ASSERT_EQ(got[static_cast<size_t>(row * (kColumns - 1) + column)],
                      at(in, row, column) * 2 + at(in, row + 1, column + 1) * 2);
}

TEST(NestChain, readsBackwardsAndWithinAStretch)
{
    const auto x = input();
    const auto two = doubled(x);
    const auto mirrored = te::compute("mirrored", x->shape(), [&](const Indices& i) {
        return te::at(two, {i[0], Expr(kColumns - 1) - i[1]});
    });
    const auto upside = te::compute("upside", x->shape(), [&](const Indices& i) {
        return te::at(two, {Expr(kRows - 1) - i[0], i[1]});
    });
    const Tensor in = numbered({kRows, kColumns});
    const std::vector<float> left = evaluated(x, {mirrored}), down = evaluated(x, {upside});
    for (int64_t row = 0; row < kRows; ++row)
        for (int64_t column = 0; column < kColumns; ++column) {
            const auto place = static_cast<size_t>(row * kColumns + column);
            ASSERT_EQ(left[place], at(in, row, kColumns - 1 - column) * 2);
            ASSERT_EQ(down[place], at(in, kRows - 1 - row, column) * 2);
        }
}

TEST(NestChain, sumsWhatItMadeInFullBuffers)
{
    const auto x = input();
    const auto two = doubled(x);
    const auto total = te::reduce("total", {Expr(kColumns)}, {Expr(kRows)}, te::Combiner::Sum,
                                  [&](const Indices& i, const Indices& r) {
                                      return te::at(two, {r[0], i[0]});
                                  });
    const std::vector<float> got = evaluated(x, {total});
    const Tensor in = numbered({kRows, kColumns});
    for (int64_t column = 0; column < kColumns; ++column) {
        double sum = 0;
        for (int64_t row = 0; row < kRows; ++row) sum += at(in, row, column) * 2;
        ASSERT_FLOAT_EQ(got[static_cast<size_t>(column)], static_cast<float>(sum));
    }
}

TEST(NestChain, stopsWhenCancelled)
{
    const auto x = input();
    const auto two = doubled(x);
    const auto four = doubled(two);
    const auto function = te::createPrimFunc("main", {x}, {four});
    ASSERT_TRUE(function);
    JobContext job(2);
    job.requestStop();
    const auto result = evaluate(*function, {numbered({kRows, kColumns})}, job);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, DiagnosticCode::Cancelled);
}

} // namespace
} // namespace tenon::compiler
