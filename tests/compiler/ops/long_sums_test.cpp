// SPDX-License-Identifier: Apache-2.0
// Sums of so many terms that one chain of additions would be off.
#include "tests/compiler/ops/compiled_op.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test {
namespace {

using core::Tensor;

/// Equal terms are all rounded to the same side.
Tensor equalTerms(std::vector<int64_t> shape)
{
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return Tensor::of(core::kFloat32, std::move(shape),
                      std::vector<float>(static_cast<size_t>(count), 0.1f));
}

void expectTerms(const Tensor& sum, int64_t terms)
{
    const double wanted = static_cast<double>(0.1f) * static_cast<double>(terms);
    for (int64_t i = 0; i < sum.size(); ++i)
        EXPECT_LE(std::abs(sum.number(i) - wanted), 1e-5 * wanted) << sum.number(i);
}

TEST(LongSums, ofARowAreAddedInRuns)
{
    constexpr int64_t kTerms = 1 << 20;
    const Tensor x = equalTerms({2, kTerms});
    expectTerms(compiled(typeText("%x", {2, kTerms}) + " => sum(%x, axis=[1])", {x}, "default"),
                kTerms);
}

TEST(LongSums, ofAPlaneAreAddedInRuns)
{
    const Tensor x = equalTerms({1, 2, 512, 512});
    const Tensor mean =
        compiled(typeText("%x", {1, 2, 512, 512}) + " => nn.global_avg_pool2d(%x)", {x}, "default");
    expectTerms(mean, 1);
}

} // namespace
} // namespace tenon::test
