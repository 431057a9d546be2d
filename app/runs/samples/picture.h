// SPDX-License-Identifier: Apache-2.0
// Picture: the pixels of a PNG or JPEG file, and the same in another size.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runs {

using namespace core;

/// Three bytes for every pixel: red, green, blue; rows from the top.
struct Picture
{
    int64_t width = 0;
    int64_t height = 0;
    std::vector<uint8_t> pixels;

    uint8_t at(int64_t x, int64_t y, int channel) const
    {
        return pixels[static_cast<size_t>((y * width + x) * 3 + channel)];
    }
};

/// Larger ones are refused before they are decoded.
constexpr int64_t kMostPixels = int64_t{1} << 26;

/// By content, whatever the file is called. Errors: IoFailure, BadArgument for what is no picture
/// or is damaged.
Result<Picture> readPicture(const std::string& path);
Result<Picture> decodePng(std::string_view bytes);
Result<Picture> decodeJpeg(std::string_view bytes);
/// kDone for a picture that may be decoded.
Status checkPictureSize(int64_t width, int64_t height);

/// Values 0 to 255 of a picture that was scaled; three for every pixel.
struct ScaledPicture
{
    int64_t width = 0;
    int64_t height = 0;
    std::vector<float> values;
};

/// A part of a picture, in pixels.
struct PictureArea
{
    double left = 0;
    double top = 0;
    double width = 0;
    double height = 0;
};

/// `area` in another size: every new pixel is the mean of what it covers, weighted by triangles
/// (bilinear where it grows, without aliasing where it shrinks), without rounding.
ScaledPicture scaledTo(const Picture& picture, const PictureArea& area, int64_t width,
                       int64_t height);

} // namespace tenon::runs
