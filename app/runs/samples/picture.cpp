// SPDX-License-Identifier: Apache-2.0
// Tells pictures by their first bytes, and scales them row by row and column by column.
#include "app/runs/samples/picture.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::runs {

namespace {

constexpr std::string_view kPng("\x89PNG\r\n\x1a\n");
constexpr std::string_view kJpeg("\xff\xd8\xff");

/// Which old pixels make one new pixel, and with which weights.
struct Tap
{
    int64_t first = 0;
    std::vector<float> weights;
};

/// Triangles over `length` old pixels that begin at `start` of `size`, one for each new pixel.
std::vector<Tap> tapsOf(int64_t size, double start, double length, int64_t count)
{
    const double step = length / static_cast<double>(count);
    const double reach = std::max(step, 1.0);
    std::vector<Tap> taps(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
        const double centre = start + (static_cast<double>(i) + 0.5) * step;
        const auto from = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5));
        const auto to = std::min<int64_t>(size, static_cast<int64_t>(centre + reach + 0.5));
        Tap& tap = taps[static_cast<size_t>(i)];
        tap.first = std::clamp<int64_t>(from, 0, size - 1);
        double sum = 0;
        for (int64_t x = tap.first; x < std::max(to, tap.first + 1); ++x) {
            const double away = std::abs(static_cast<double>(x) + 0.5 - centre) / reach;
            tap.weights.push_back(static_cast<float>(std::max(0.0, 1 - away)));
            sum += static_cast<double>(tap.weights.back());
        }
        if (sum <= 0)
            tap.weights.assign(1, 1); // beside the picture: its edge
        else
            for (float& weight : tap.weights) weight = static_cast<float>(weight / sum);
    }
    return taps;
}

} // namespace

Status checkPictureSize(int64_t width, int64_t height)
{
    if (width > 0 && height > 0 && width <= kMostPixels / height) return kDone;
    return makeError(DiagnosticCode::BadArgument,
                     "a picture of " + thousands(width) + " x " + thousands(height) +
                         " pixels is not read; scale it down to at most " + thousands(kMostPixels) +
                         " pixels");
}

Result<Picture> readPicture(const std::string& path)
{
    const auto file = MappedFile::open(path);
    if (!file) return file.error();
    const std::string_view bytes = (*file)->text();
    auto picture =
        bytes.substr(0, kPng.size()) == kPng ? decodePng(bytes)
        : bytes.substr(0, kJpeg.size()) == kJpeg
            ? decodeJpeg(bytes)
            : Result<Picture>(
                  makeError(DiagnosticCode::BadArgument,
                            "this is neither a PNG nor a JPEG picture; convert it to one of them"));
    if (!picture) picture.error().location.file = path;
    return picture;
}

ScaledPicture scaledTo(const Picture& picture, const PictureArea& area, int64_t width,
                       int64_t height)
{
    const std::vector<Tap> across = tapsOf(picture.width, area.left, area.width, width);
    const std::vector<Tap> down = tapsOf(picture.height, area.top, area.height, height);
    ScaledPicture out{width, height, std::vector<float>(static_cast<size_t>(width * height * 3))};
    const auto rowSize = static_cast<size_t>(width * 3);
    const int64_t firstRow = down.front().first;
    const int64_t endRow = down.back().first + static_cast<int64_t>(down.back().weights.size());
    std::vector<float> rows(static_cast<size_t>(endRow - firstRow) * rowSize);
    for (int64_t y = firstRow; y < endRow; ++y)
        for (int64_t x = 0; x < width; ++x) {
            const Tap& tap = across[static_cast<size_t>(x)];
            float* to =
                &rows[static_cast<size_t>(y - firstRow) * rowSize + static_cast<size_t>(x * 3)];
            for (size_t k = 0; k < tap.weights.size(); ++k)
                for (int c = 0; c < 3; ++c)
                    to[c] +=
                        tap.weights[k] *
                        static_cast<float>(picture.at(tap.first + static_cast<int64_t>(k), y, c));
        }
    for (int64_t y = 0; y < height; ++y) {
        const Tap& tap = down[static_cast<size_t>(y)];
        float* to = &out.values[static_cast<size_t>(y) * rowSize];
        for (size_t k = 0; k < tap.weights.size(); ++k) {
            const float* from = &rows[(static_cast<size_t>(tap.first - firstRow) + k) * rowSize];
            for (size_t x = 0; x < rowSize; ++x) to[x] += tap.weights[k] * from[x];
        }
    }
    return out;
}

} // namespace tenon::runs
