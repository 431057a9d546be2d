// SPDX-License-Identifier: Apache-2.0
// Pictures: read, refused, and scaled as an independent evaluation does.
#include "app/runs/samples/picture.h"
#include "core/base/file.h"
#include "tests/app/runs/samples/sample_files.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::runs {
namespace {

std::string messageOf(const Result<Picture>& picture)
{
    return picture ? "read" : picture.error().message;
}

TEST(Picture, ReadsAPngToTheBit)
{
    const test::TemporaryFolder folder;
    const Picture made = test::patternedPicture(13, 7);
    test::writePng(folder.file("a.jpg"), made); // by content, not by name
    const auto read = readPicture(folder.file("a.jpg"));
    ASSERT_TRUE(read) << messageOf(read);
    EXPECT_EQ(read->width, 13);
    EXPECT_EQ(read->height, 7);
    EXPECT_EQ(read->pixels, made.pixels);
}

TEST(Picture, ReadsAJpegNearly)
{
    Picture made{32, 16, {}};
    for (int i = 0; i < 32 * 16; ++i) // smooth: what JPEG keeps
        for (int c = 0; c < 3; ++c)
            made.pixels.push_back(static_cast<uint8_t>(40 + (i % 32) * 4 + (i / 32) * 2));
    const auto read = decodeJpeg(test::jpegBytes(made));
    ASSERT_TRUE(read) << messageOf(read);
    ASSERT_EQ(read->pixels.size(), made.pixels.size());
    for (size_t i = 0; i < made.pixels.size(); ++i)
        EXPECT_LE(std::abs(int{read->pixels[i]} - int{made.pixels[i]}), 3) << i;
}

TEST(Picture, SaysWhatIsNone)
{
    const test::TemporaryFolder folder;
    test::writeText(folder.file("text.png"), "no picture");
    const auto none = readPicture(folder.file("text.png"));
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().message.find("neither a PNG nor a JPEG"), std::string::npos);
    EXPECT_EQ(none.error().location.file, folder.file("text.png"));
    EXPECT_FALSE(readPicture(folder.file("missing.png")));
    test::writeText(folder.file("empty.png"), "");
    EXPECT_FALSE(readPicture(folder.file("empty.png")));
}

TEST(Picture, RefusesWhatIsCutOff)
{
    const test::TemporaryFolder folder;
    test::writePng(folder.file("a.png"), test::patternedPicture(40, 40));
    const auto png = readFile(folder.file("a.png"));
    ASSERT_TRUE(png);
    const std::string jpeg = test::jpegBytes(test::patternedPicture(40, 40));
    for (const double part : {0.2, 0.5, 0.9}) {
        const auto cut = [&](const std::string& all) {
            return all.substr(0, static_cast<size_t>(part * static_cast<double>(all.size())));
        };
        EXPECT_NE(messageOf(decodePng(cut(*png))).find("damaged"), std::string::npos) << part;
        EXPECT_NE(messageOf(decodeJpeg(cut(jpeg))).find("damaged"), std::string::npos) << part;
    }
}

TEST(Picture, RefusesMoreThanFitsBeforeDecoding)
{
    EXPECT_TRUE(checkPictureSize(8192, 8192));
    EXPECT_FALSE(checkPictureSize(8193, 8192));
    EXPECT_FALSE(checkPictureSize(int64_t{1} << 40, int64_t{1} << 40));
    EXPECT_FALSE(checkPictureSize(0, 4));
}

void expectValues(const ScaledPicture& scaled, const std::vector<double>& wanted)
{
    ASSERT_EQ(scaled.values.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(static_cast<double>(scaled.values[i]), wanted[i], 2e-3) << i;
}

/// The same triangles as dense matrices, evaluated elsewhere in binary64.
TEST(Picture, ScalesByTriangles)
{
    const Picture picture = test::patternedPicture(7, 5);
    expectValues(scaledTo(picture, {0, 0, 7, 5}, 3, 2),
                 {98.61, 126.675, 136.455, 129.444, 154.38, 131.401, 129.182, 126.494, 137.104,
                  106.065, 134.13, 146.403, 118.417, 131.717, 127.219, 128.325, 141.429, 127.104});
    const double scale = 5.0 / 3;
    expectValues(scaledTo(picture, {(7 - 2 * scale) / 2, 0, 2 * scale, 5}, 2, 3),
                 {117.353, 170.353, 133.0, 163.286, 158.202, 153.118, 86.34, 114.242, 120.392,
                  116.497, 139.379, 135.49, 147.353, 157.328, 132.882, 109.387, 119.361, 94.916});
}

TEST(Picture, KeepsAPictureOfTheSameSize)
{
    const Picture picture = test::patternedPicture(9, 4);
    const ScaledPicture same = scaledTo(picture, {0, 0, 9, 4}, 9, 4);
    for (size_t i = 0; i < picture.pixels.size(); ++i)
        EXPECT_EQ(same.values[i], static_cast<float>(picture.pixels[i]));
}

TEST(Picture, GrowsOnePixelToAny)
{
    const Picture picture{1, 1, {10, 20, 30}};
    const ScaledPicture grown = scaledTo(picture, {0, 0, 1, 1}, 3, 5);
    for (size_t i = 0; i < grown.values.size(); i += 3) {
        EXPECT_EQ(grown.values[i], 10);
        EXPECT_EQ(grown.values[i + 2], 30);
    }
}

} // namespace
} // namespace tenon::runs
