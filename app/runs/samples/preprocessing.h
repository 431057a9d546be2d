// SPDX-License-Identifier: Apache-2.0
// Preprocessing: the line that says how pictures and sounds become numbers, and what it comes to
// for an input of a model.
#pragma once

#include "core/artifact/manifest.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runs {

using namespace core;

enum class PictureFit : uint8_t
{
    Cover,   ///< fills the size, the middle is cut out
    Stretch, ///< fills the size, whatever its sides' ratio
    Contain  ///< all of it, with black beside
};

enum class PictureLayout : uint8_t
{
    ChannelsFirst,
    ChannelsLast
};

enum class SoundFeatures : uint8_t
{
    Wave, ///< the samples themselves
    Mel   ///< logarithms of the power in mel bands, frame by frame
};

/// What was said; what was not is the input's, or the usual.
struct Preprocessing
{
    std::optional<int64_t> width;
    std::optional<int64_t> height;
    std::optional<int64_t> resize; ///< the shorter side before the middle is cut out
    PictureFit fit = PictureFit::Cover;
    std::optional<PictureLayout> layout;
    bool isBlueFirst = false;
    std::optional<double> scale; ///< bytes times this, less the mean, over the deviation
    std::vector<double> mean;
    std::vector<double> deviation;
    std::optional<double> rate; ///< samples in a second
    SoundFeatures features = SoundFeatures::Wave;
    int64_t window = 512;
    int64_t hop = 256;
    std::optional<int64_t> bands;
    double floor = 1e-3; ///< added to the power before the logarithm
};

/// "size=224x224 scale=1/255 mean=0.485,0.456,0.406 std=0.229,0.224,0.225 layout=nchw", or one of
/// the words `imagenet`, `signed`, `unit` and `raw` for usual scales. Error BadArgument names the
/// entry.
Result<Preprocessing> parsePreprocessing(std::string_view line);
/// The keys with what they take, for help and messages.
std::string preprocessingKeys();

/// Everything that pictures need to become one input.
struct PicturePlan
{
    std::optional<int64_t> width; ///< empty: the picture's own
    std::optional<int64_t> height;
    std::optional<int64_t> resize;
    PictureFit fit = PictureFit::Cover;
    PictureLayout layout = PictureLayout::ChannelsFirst;
    bool isBlueFirst = false;
    int channels = 3;
    double scale = 1;
    std::vector<double> mean; ///< one for each channel
    std::vector<double> deviation;

    std::string text() const; ///< as a line that parses to the same
};

/// Whether an input has the shape of pictures: one or three channels, first or last.
bool takesPictures(const ManifestTensor& input);

/// Error ShapeMismatch for an input that takes no pictures, BadArgument for what contradicts it.
Result<PicturePlan> planPicture(const ManifestTensor& input, const Preprocessing& said);

} // namespace tenon::runs
