// SPDX-License-Identifier: Apache-2.0
// The preprocessing line: read, refused, and filled from an input.
#include "app/runs/samples/preprocessing.h"

#include <gtest/gtest.h>

namespace tenon::runs {
namespace {

const ManifestTensor kImage{"image", "float32", {1, 3, 224, 224}};

std::string planText(const ManifestTensor& input, const std::string& line)
{
    const auto said = parsePreprocessing(line);
    if (!said) return said.error().message;
    const auto plan = planPicture(input, *said);
    return plan ? plan->text() : plan.error().message;
}

TEST(Preprocessing, TakesSizeLayoutAndScaleFromTheInput)
{
    EXPECT_EQ(planText(kImage, ""),
              "size=224x224 fit=cover layout=nchw order=rgb scale=1/255 mean=0,0,0 std=1,1,1");
    EXPECT_EQ(planText({"x", "uint8", {1, 96, 64, 3}}, ""),
              "size=64x96 fit=cover layout=nhwc order=rgb scale=1 mean=0,0,0 std=1,1,1");
    EXPECT_EQ(planText({"x", "int8", {1, 32, 32, 1}}, ""),
              "size=32x32 fit=cover layout=nhwc scale=1 mean=128 std=1");
    EXPECT_EQ(planText({"x", "float32", {28, 28}}, ""),
              "size=28x28 fit=cover layout=nhwc scale=1/255 mean=0 std=1");
    EXPECT_EQ(planText({"x", "float32", {-1, 3, -1, -1}}, ""),
              "fit=cover layout=nchw order=rgb scale=1/255 mean=0,0,0 std=1,1,1");
}

TEST(Preprocessing, TellsALineThatMeansTheSame)
{
    for (const std::string line :
         {"imagenet resize=256", "signed order=bgr fit=stretch", "raw mean=103.9,116.8,123.7",
          "unit fit=contain", "scale=0.5 std=2"}) {
        const std::string text = planText(kImage, line);
        EXPECT_EQ(planText(kImage, text), text) << line;
    }
    EXPECT_NE(planText(kImage, "imagenet resize=256").find("std=0.229,0.224,0.225"),
              std::string::npos);
    EXPECT_NE(planText(kImage, "signed").find("scale=1/127.5 mean=1,1,1"), std::string::npos);
}

TEST(Preprocessing, SaysWhichEntryIsWrong)
{
    const auto why = [](const std::string& line) { return planText(kImage, line); };
    EXPECT_NE(why("colour=red").find("there is no entry `colour=red`"), std::string::npos);
    EXPECT_NE(why("mean").find("there is no entry `mean`"), std::string::npos);
    for (const std::string line :
         {"size=0", "size=224x", "size=99999999", "scale=1/0", "scale=nan", "mean=1,2,3,4",
          "mean=a", "std=0", "fit=big", "layout=cn", "rate=-5", "hop=0", "floor=0", "order=rbg"})
        EXPECT_NE(why(line).find("`" + line + "` cannot be read"), std::string::npos) << line;
    EXPECT_NE(why("size=128x224")
                  .find("the width is 128 but input `image` (1, 3, 224, 224) of "
                        "float32 has 224"),
              std::string::npos);
    EXPECT_NE(planText({"x", "float32", {1, 1, 8, 8}}, "mean=1,2,3").find("1 channel"),
              std::string::npos);
}

TEST(Preprocessing, KnowsWhatTakesNoPictures)
{
    EXPECT_TRUE(takesPictures(kImage));
    EXPECT_TRUE(takesPictures({"x", "uint8", {1, 96, 96, 1}}));
    EXPECT_FALSE(takesPictures({"x", "float32", {1, 16000}}));
    EXPECT_FALSE(takesPictures({"x", "float32", {1, 64, 7, 7}}));
    EXPECT_NE(planText({"x", "float32", {1, 64, 7, 7}}, "").find("takes no pictures"),
              std::string::npos);
    EXPECT_NE(planText(kImage, "layout=nhwc").find("takes no pictures in this layout"),
              std::string::npos);
}

} // namespace
} // namespace tenon::runs
