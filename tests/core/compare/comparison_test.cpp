// SPDX-License-Identifier: Apache-2.0
// Who is to blame among tensors with given errors.
#include "core/compare/comparison.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

ComparedTensor tensor(double cumulativeDb, bool isOutside, std::optional<double> aloneDb = {},
                      bool isAloneOutside = false)
{
    ComparedTensor out;
    out.cumulative = {.sqnrDb = cumulativeDb, .isOutside = isOutside};
    if (aloneDb) out.isolated = TensorError{.sqnrDb = *aloneDb, .isOutside = isAloneOutside};
    return out;
}

TEST(Comparison, NamesTheFirstTensorOutside)
{
    Comparison comparison;
    comparison.tensors = {tensor(90, false), tensor(30, true), tensor(10, true)};
    EXPECT_EQ(comparison.first(), 1U);
    comparison.tensors.resize(1);
    EXPECT_FALSE(comparison.first());
}

TEST(Comparison, BlamesKernelsThatAreOffAloneBeforeWhatOnlyReceivedAnError)
{
    Comparison comparison;
    comparison.tensors = {tensor(90, false, 90), tensor(30, true, 25, true), tensor(5, true, 80),
                          tensor(4, true)};
    EXPECT_EQ(comparison.ranked(), (std::vector<size_t>{1, 3, 2, 0}));
}

} // namespace
} // namespace tenon::core
