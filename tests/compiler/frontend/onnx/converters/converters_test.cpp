// SPDX-License-Identifier: Apache-2.0
// The converter table's own rules.
#include "compiler/frontend/onnx/converters/converters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

TEST(Converters, AreSortedByOperatorThenVersion)
{
    const auto all = allConverters();
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Converter& a, const Converter& b) {
        return a.op != b.op ? a.op < b.op : a.sinceVersion < b.sinceVersion;
    }));
}

TEST(Converters, AreChosenByOpset)
{
    int oldest = 0;
    const Converter* old = findConverter("Slice", 9, &oldest);
    const Converter* young = findConverter("Slice", 13, &oldest);
    ASSERT_TRUE(old && young);
    EXPECT_EQ(old->sinceVersion, 1);
    EXPECT_EQ(young->sinceVersion, 10);
    EXPECT_EQ(findConverter("HardSwish", 13, &oldest), nullptr);
    EXPECT_EQ(oldest, 14);
    EXPECT_EQ(findConverter("Quux", 13, &oldest), nullptr);
    EXPECT_EQ(oldest, 0);
}

} // namespace
} // namespace tenon::compiler
