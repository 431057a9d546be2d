// SPDX-License-Identifier: Apache-2.0
// Titles of kernels that stand in a column of a table.
#include "app/cli/short_title.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::cli {
namespace {

TEST(ShortTitle, KeepsBothEndsOfALongOne)
{
    EXPECT_EQ(shortTitle("conv 3x3 + relu · features.0"), "conv 3x3 + relu · features.0");
    const std::string cut = shortTitle("conv 1x1 int8 + add int8 + mul int8 + clip int8 · "
                                       "MobileNetV2/expanded_conv_10/project, add");
    EXPECT_EQ(cut, "conv 1x1 int8 + add int8 + ...d_conv_10/project, add");
    EXPECT_EQ(cut.size(), 52U);
}

TEST(ShortTitle, CutsNoLetterInPieces)
{
    for (size_t ahead = 0; ahead < 4; ++ahead) {
        std::string title(ahead, 'a');
        for (int i = 0; i < 40; ++i) title += "·";
        const std::string cut = shortTitle(title);
        EXPECT_LT(cut.size(), title.size());
        EXPECT_EQ(std::count(cut.begin(), cut.end(), '\xc2'),
                  std::count(cut.begin(), cut.end(), '\xb7'));
    }
}

} // namespace
} // namespace tenon::cli
