// SPDX-License-Identifier: Apache-2.0
// Cuts, scales and lays out pictures; cuts sounds or fills them with silence.
#include "app/runs/samples/sample_tensors.h"

#include "app/runs/samples/spectrogram.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

namespace tenon::runs {

namespace {

std::string fileName(const std::string& path)
{
    return std::filesystem::path(path).filename().string();
}

/// The part of the picture that is scaled to the plan's size.
PictureArea areaOf(const Picture& picture, const PicturePlan& plan, int64_t width, int64_t height)
{
    const double w = static_cast<double>(picture.width), h = static_cast<double>(picture.height);
    if (plan.fit != PictureFit::Cover) return {0, 0, w, h};
    const double shorter = std::min(w, h);
    double scale = std::min(w / static_cast<double>(width), h / static_cast<double>(height));
    if (plan.resize) scale = shorter / static_cast<double>(*plan.resize);
    const double cutWidth = scale * static_cast<double>(width);
    const double cutHeight = scale * static_cast<double>(height);
    return {(w - cutWidth) / 2, (h - cutHeight) / 2, cutWidth, cutHeight};
}

/// All of the picture within the size, black beside it.
ScaledPicture contained(const Picture& picture, int64_t width, int64_t height)
{
    const double scale =
        std::min(static_cast<double>(width) / static_cast<double>(picture.width),
                 static_cast<double>(height) / static_cast<double>(picture.height));
    const auto side = [&](int64_t of, int64_t most) {
        return std::clamp<int64_t>(std::llround(static_cast<double>(of) * scale), 1, most);
    };
    const int64_t w = side(picture.width, width), h = side(picture.height, height);
    const ScaledPicture inner = scaledTo(
        picture, {0, 0, static_cast<double>(picture.width), static_cast<double>(picture.height)}, w,
        h);
    ScaledPicture out{width, height, std::vector<float>(static_cast<size_t>(width * height * 3))};
    const int64_t left = (width - w) / 2, top = (height - h) / 2;
    for (int64_t y = 0; y < h; ++y)
        std::copy_n(inner.values.begin() + y * w * 3, w * 3,
                    out.values.begin() + ((y + top) * width + left) * 3);
    return out;
}

ScaledPicture fitted(const Picture& picture, const PicturePlan& plan)
{
    const int64_t width = plan.width.value_or(picture.width);
    const int64_t height = plan.height.value_or(picture.height);
    if (plan.fit == PictureFit::Contain) return contained(picture, width, height);
    return scaledTo(picture, areaOf(picture, plan, width, height), width, height);
}

/// Of a pixel in the order of the plan; luminance where there is one channel.
double channelOf(const float* pixel, int channel, const PicturePlan& plan)
{
    const double red = static_cast<double>(pixel[0]), green = static_cast<double>(pixel[1]),
                 blue = static_cast<double>(pixel[2]);
    if (plan.channels == 1)
        return red == green && green == blue ? red : 0.299 * red + 0.587 * green + 0.114 * blue;
    return static_cast<double>(pixel[plan.isBlueFirst ? 2 - channel : channel]);
}

/// Integers are rounded and stay within their type.
void storeValues(DataType dtype, std::span<std::byte> bytes, int64_t at,
                 const std::vector<double>& values)
{
    const bool isFloat = dtype.isFloat();
    const bool isSigned = dtype.kind == DtypeKind::Int;
    const int bits = std::min(dtype.bits - (isSigned ? 1 : 0), 53);
    const double most = std::ldexp(1.0, bits) - 1;
    for (const double value : values) {
        if (isFloat)
            storeNumber(dtype, bytes, at++, value);
        else
            storeInteger(dtype, bytes, at++,
                         static_cast<int64_t>(
                             std::nearbyint(std::clamp(value, isSigned ? -most - 1 : 0.0, most))));
    }
}

Result<Tensor> tensorOf(const ManifestTensor& input, std::vector<int64_t> shape,
                        const std::vector<std::vector<double>>& examples)
{
    const auto dtype = parseDataType(input.dtype);
    if (!dtype) return dtype.error();
    return Tensor::make(*dtype, std::move(shape), [&](std::span<std::byte> out) {
        int64_t at = 0;
        for (const std::vector<double>& values : examples) {
            storeValues(*dtype, out, at, values);
            at += static_cast<int64_t>(values.size());
        }
    });
}

/// The input's shape with the sizes that it leaves open.
std::vector<int64_t> pictureShape(const ManifestTensor& input, const PicturePlan& plan,
                                  int64_t width, int64_t height, int64_t count)
{
    std::vector<int64_t> shape{height, width};
    const size_t rank = input.shape.size();
    if (rank >= 3 && plan.layout == PictureLayout::ChannelsFirst)
        shape.insert(shape.begin(), plan.channels);
    else if (rank >= 3)
        shape.push_back(plan.channels);
    if (rank == 4) shape.insert(shape.begin(), count);
    return shape;
}

Status checkCount(const ManifestTensor& input, size_t given)
{
    const int64_t batch = input.shape.size() == 4 ? input.shape[0] : 1;
    if (batch < 0 || static_cast<size_t>(batch) == given) return kDone;
    return makeError(DiagnosticCode::ShapeMismatch,
                     "input " + core::quoted(input.name) + " takes " + std::to_string(batch) +
                         (batch == 1 ? " picture" : " pictures") + " at a time but " +
                         std::to_string(given) + " were given; give --image " +
                         std::to_string(batch) + (batch == 1 ? " time" : " times"));
}

Status addPictures(const ManifestTensor& input, const std::vector<std::string>& paths,
                   const Preprocessing& said, SampleTensors& out)
{
    const auto plan = planPicture(input, said);
    if (!plan) return plan.error();
    if (Status counted = checkCount(input, paths.size()); !counted) return counted;
    std::vector<std::vector<double>> examples;
    std::vector<int64_t> shape;
    std::vector<std::string> names;
    for (const std::string& path : paths) {
        const auto picture = readPicture(path);
        if (!picture) return picture.error();
        const std::vector<int64_t> own = pictureShape(
            input, *plan, plan->width.value_or(picture->width),
            plan->height.value_or(picture->height), static_cast<int64_t>(paths.size()));
        if (!shape.empty() && own != shape)
            return makeError(DiagnosticCode::ShapeMismatch,
                             "the pictures have different sizes and the model takes any; say one "
                             "with size=WxH",
                             {.file = path});
        shape = own;
        examples.push_back(pictureValues(*picture, *plan));
        names.push_back(fileName(path));
    }
    auto tensor = tensorOf(input, std::move(shape), examples);
    if (!tensor) return tensor.error();
    out.tensors.emplace_back(input.name, std::move(*tensor));
    out.shown.push_back(plan->text());
    out.made.push_back(core::quoted(input.name) + " from " + join(names, ", ") + ": " +
                       plan->text());
    return kDone;
}

/// Silence behind a sound that is too short; "" or what was cut or added.
std::string setLength(std::vector<float>& samples, int64_t length)
{
    const auto had = static_cast<int64_t>(samples.size());
    samples.resize(static_cast<size_t>(length));
    if (had == length) return {};
    return had > length ? ", the last " + thousands(had - length) + " samples cut off"
                        : ", " + thousands(length - had) + " samples of silence behind it";
}

Diagnostic soundShapeError(const ManifestTensor& input, const char* why)
{
    return makeError(DiagnosticCode::ShapeMismatch, "input " + core::quoted(input.name) + " with " +
                                                        std::to_string(input.shape.size()) +
                                                        " dimensions takes no sound: " + why +
                                                        "; give tensors with --inputs");
}

/// The size that holds the samples: the only one that is not 1, or the last.
Result<size_t> soundAxis(const ManifestTensor& input, size_t from)
{
    if (input.shape.size() <= from) return soundShapeError(input, "it has too few of them");
    for (size_t i = 0; i + 1 + from < input.shape.size(); ++i)
        if (input.shape[i] > 1)
            return soundShapeError(input, "those before the last one have to be 1");
    return input.shape.size() - 1;
}

std::vector<int64_t> closedShape(const ManifestTensor& input)
{
    std::vector<int64_t> shape = input.shape;
    for (int64_t& size : shape)
        if (size < 0) size = 1;
    return shape;
}

std::string rateText(double rate) { return "rate=" + exact(rate); }

Status addWave(const ManifestTensor& input, Sound sound, const std::string& path,
               SampleTensors& out)
{
    const auto axis = soundAxis(input, 0);
    if (!axis) return axis.error();
    std::vector<int64_t> shape = closedShape(input);
    const bool isOpen = input.shape[*axis] < 0;
    shape[*axis] = isOpen ? static_cast<int64_t>(sound.samples.size()) : input.shape[*axis];
    const std::string changed = setLength(sound.samples, shape[*axis]);
    auto tensor = tensorOf(input, shape, {{sound.samples.begin(), sound.samples.end()}});
    if (!tensor) return tensor.error();
    out.tensors.emplace_back(input.name, std::move(*tensor));
    out.shown.push_back(rateText(sound.rate) + " features=wave");
    out.made.push_back(core::quoted(input.name) + " from " + fileName(path) + ": " +
                       out.shown.back() + changed);
    return kDone;
}

Status addMel(const ManifestTensor& input, Sound sound, const Preprocessing& said,
              const std::string& path, SampleTensors& out)
{
    const auto axis = soundAxis(input, 1);
    if (!axis) return axis.error();
    MelShape mel{sound.rate, said.window, said.hop, said.bands.value_or(input.shape[*axis]),
                 said.floor};
    if (mel.bands < 0) return soundShapeError(input, "say how many with bands=");
    if (input.shape[*axis] >= 0 && mel.bands != input.shape[*axis])
        return makeError(DiagnosticCode::ShapeMismatch,
                         "input " + core::quoted(input.name) + " has " +
                             std::to_string(input.shape[*axis]) + " bands, not " +
                             std::to_string(mel.bands));
    std::vector<int64_t> shape = closedShape(input);
    shape[*axis] = mel.bands;
    const int64_t frames = input.shape[*axis - 1];
    const int64_t length = frames > 0
                               ? mel.window + (frames - 1) * mel.hop
                               : std::max(mel.window, static_cast<int64_t>(sound.samples.size()));
    const std::string changed = setLength(sound.samples, length);
    shape[*axis - 1] = framesIn(length, mel);
    const std::vector<float> values = melSpectrogram(sound.samples, mel);
    auto tensor = tensorOf(input, shape, {{values.begin(), values.end()}});
    if (!tensor) return tensor.error();
    out.tensors.emplace_back(input.name, std::move(*tensor));
    out.shown.push_back(rateText(mel.rate) + " features=mel window=" + std::to_string(mel.window) +
                        " hop=" + std::to_string(mel.hop) + " bands=" + std::to_string(mel.bands) +
                        " floor=" + exact(mel.floor));
    out.made.push_back(core::quoted(input.name) + " from " + fileName(path) + ": " +
                       out.shown.back() + changed);
    return kDone;
}

Status addSound(const ManifestTensor& input, const std::string& path, const Preprocessing& said,
                SampleTensors& out)
{
    auto sound = readSound(path);
    if (!sound) return sound.error();
    if (said.rate && *said.rate * 1000 < sound->rate)
        return makeError(DiagnosticCode::BadArgument,
                         "rate=" + exact(*said.rate) + " is less than a thousandth of the file's " +
                             exact(sound->rate) + "; say samples in a second",
                         {.file = path});
    Sound taken = said.rate ? resampled(*sound, *said.rate) : std::move(*sound);
    return said.features == SoundFeatures::Mel ? addMel(input, std::move(taken), said, path, out)
                                               : addWave(input, std::move(taken), path, out);
}

/// A model with one input takes what is given; among several those of the right shape do.
std::vector<const ManifestTensor*> inputsFor(const std::vector<ManifestTensor>& inputs,
                                             bool arePictures)
{
    std::vector<const ManifestTensor*> out;
    for (const ManifestTensor& input : inputs)
        if (inputs.size() == 1 || takesPictures(input) == arePictures) out.push_back(&input);
    return out;
}

} // namespace

std::vector<double> pictureValues(const Picture& picture, const PicturePlan& plan)
{
    const ScaledPicture scaled = fitted(picture, plan);
    const auto pixels = static_cast<size_t>(scaled.width * scaled.height);
    const auto channels = static_cast<size_t>(plan.channels);
    std::vector<double> out(pixels * channels);
    for (size_t p = 0; p < pixels; ++p)
        for (size_t c = 0; c < channels; ++c) {
            const double byte = channelOf(&scaled.values[p * 3], static_cast<int>(c), plan);
            const size_t at =
                plan.layout == PictureLayout::ChannelsFirst ? c * pixels + p : p * channels + c;
            out[at] = (byte * plan.scale - plan.mean[c]) / plan.deviation[c];
        }
    return out;
}

Result<SampleTensors> sampleTensors(const std::vector<ManifestTensor>& inputs,
                                    const SampleFiles& files)
{
    const auto said = parsePreprocessing(files.preprocessing);
    if (!said) return said.error();
    SampleTensors out;
    if (!files.pictures.empty()) {
        const auto taking = inputsFor(inputs, true);
        if (taking.empty())
            return makeError(DiagnosticCode::ShapeMismatch,
                             "no input of the model takes pictures (1 or 3 channels, first or "
                             "last); give tensors with --inputs");
        if (Status added = addPictures(*taking.front(), files.pictures, *said, out); !added)
            return added.error();
    }
    if (files.sounds.size() > 1)
        return makeError(DiagnosticCode::BadArgument, "one sound at a time; several were given");
    if (!files.sounds.empty()) {
        const auto taking = inputsFor(inputs, false);
        if (taking.empty())
            return makeError(DiagnosticCode::ShapeMismatch,
                             "no input of the model takes sounds; give tensors with --inputs");
        if (Status added = addSound(*taking.front(), files.sounds.front(), *said, out); !added)
            return added.error();
    }
    return out;
}

} // namespace tenon::runs
