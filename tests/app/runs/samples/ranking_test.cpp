// SPDX-License-Identifier: Apache-2.0
// The largest classes with their labels.
#include "app/runs/samples/ranking.h"
#include "tests/app/runs/samples/sample_files.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::runs {
namespace {

TEST(Ranking, SortsScoresAndTellsTheirSoftmax)
{
    const Tensor scores = Tensor::of<float>(kFloat32, {1, 4}, {1, 3, 2, 3});
    const auto rankings = rankingsOf(scores, {"a", "b", "c", "d"}, 3);
    ASSERT_EQ(rankings.size(), 1U);
    EXPECT_TRUE(rankings[0].isSoftmax);
    const auto& classes = rankings[0].classes;
    ASSERT_EQ(classes.size(), 3U);
    EXPECT_EQ(classes[0].index, 1); // the first of two that are equal
    EXPECT_EQ(classes[1].index, 3);
    EXPECT_EQ(classes[2].label, "c");
    const double sum = std::exp(1) + 2 * std::exp(3) + std::exp(2);
    EXPECT_NEAR(classes[0].probability, std::exp(3) / sum, 1e-12);
    EXPECT_EQ(classes[0].value, 3);
}

TEST(Ranking, KeepsProbabilitiesAndExamplesApart)
{
    const Tensor shares = Tensor::of<float>(kFloat32, {2, 3}, {0.5F, 0.25F, 0.25F, 0, 0, 1});
    const auto rankings = rankingsOf(shares, {}, 5);
    ASSERT_EQ(rankings.size(), 2U);
    EXPECT_FALSE(rankings[0].isSoftmax);
    EXPECT_EQ(rankings[0].classes.size(), 3U);
    EXPECT_EQ(rankings[1].classes[0].index, 2);
    EXPECT_EQ(rankings[1].classes[0].probability, 1);
    EXPECT_EQ(rankings[1].classes[0].label, "");
}

TEST(Ranking, GivesTheBackgroundItsName)
{
    const auto rankings =
        rankingsOf(Tensor::of<float>(kFloat32, {3}, {5, 1, 9}), {"cat", "dog"}, 2);
    EXPECT_EQ(rankings[0].classes[0].label, "dog");
    EXPECT_EQ(rankings[0].classes[1].label, "background");
}

TEST(Ranking, LeavesOutWhatHoldsNoScores)
{
    EXPECT_TRUE(isScores(Tensor::of<float>(kFloat32, {1, 3, 1, 1}, {1, 2, 3})));
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{1, 2, 2}, {1, 1}, {4, 1}, {0, 3}, {}})
        EXPECT_FALSE(isScores(Tensor::make(kFloat32, shape, [](auto) {})));
    EXPECT_TRUE(rankingsOf(Tensor::make(kFloat32, {1, 4, 4}, [](auto) {}), {}, 5).empty());
}

TEST(Ranking, ReadsLabelsWhateverEndsTheirLines)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("labels.txt");
    test::writeText(path, "\xef\xbb\xbf"
                          "tench, Tinca tinca\r\n\ngoldfish\n\n");
    const auto labels = readLabels(path);
    ASSERT_TRUE(labels);
    EXPECT_EQ(*labels, (std::vector<std::string>{"tench, Tinca tinca", "", "goldfish"}));
    test::writeText(path, "\n \n");
    EXPECT_FALSE(readLabels(path));
    test::writeText(path, std::string("a\0b", 3));
    EXPECT_FALSE(readLabels(path));
    EXPECT_FALSE(readLabels(folder.file("missing")));
}

} // namespace
} // namespace tenon::runs
