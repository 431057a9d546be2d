// SPDX-License-Identifier: Apache-2.0
// Reads the line key by key, and fills what it leaves open from the input's shape and type.
#include "app/runs/samples/preprocessing.h"

#include "core/base/text.h"
#include "core/tensor/dtype.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tenon::runs {

namespace {

constexpr int64_t kMostSide = 16384;
constexpr int64_t kMostWindow = 65536;

/// Decimals, or a quotient such as 1/255.
std::optional<double> numberOf(std::string_view word)
{
    const size_t slash = word.find('/');
    if (slash != std::string_view::npos) {
        const auto above = numberOf(word.substr(0, slash));
        const auto below = numberOf(word.substr(slash + 1));
        if (!above || !below || *below == 0) return std::nullopt;
        return *above / *below;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

std::optional<int64_t> countOf(std::string_view word, int64_t most)
{
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value > 0 && value <= most ? std::optional(value) : std::nullopt;
}

bool readCount(std::string_view word, int64_t most, std::optional<int64_t>& to)
{
    to = countOf(word, most);
    return to.has_value();
}

bool readCount(std::string_view word, int64_t most, int64_t& to)
{
    const auto value = countOf(word, most);
    if (value) to = *value;
    return value.has_value();
}

/// "224" or "320x240", width first.
bool readSize(std::string_view word, Preprocessing& out)
{
    const size_t cross = word.find('x');
    const std::string_view tall = cross == std::string_view::npos ? word : word.substr(cross + 1);
    return readCount(word.substr(0, cross), kMostSide, out.width) &&
           readCount(tall, kMostSide, out.height);
}

bool readNumbers(std::string_view word, std::vector<double>& to)
{
    to.clear();
    for (const std::string& part : split(word, ',')) {
        const auto value = numberOf(trimmed(part));
        if (!value) return false;
        to.push_back(*value);
    }
    return !to.empty() && to.size() <= 3;
}

bool readDeviation(std::string_view word, std::vector<double>& to)
{
    if (!readNumbers(word, to)) return false;
    for (const double value : to)
        if (value == 0) return false;
    return true;
}

template <class Value, size_t N>
bool readWord(std::string_view word, const std::array<std::pair<std::string_view, Value>, N>& known,
              Value& to)
{
    for (const auto& [name, value] : known)
        if (word == name) {
            to = value;
            return true;
        }
    return false;
}

constexpr std::array<std::pair<std::string_view, PictureFit>, 3> kFits{
    {{"cover", PictureFit::Cover},
     {"stretch", PictureFit::Stretch},
     {"contain", PictureFit::Contain}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> kOrders{{{"rgb", false}, {"bgr", true}}};
constexpr std::array<std::pair<std::string_view, SoundFeatures>, 2> kFeatures{
    {{"wave", SoundFeatures::Wave}, {"mel", SoundFeatures::Mel}}};

bool readLayout(std::string_view word, std::optional<PictureLayout>& to)
{
    if (word == "nchw" || word == "chw")
        to = PictureLayout::ChannelsFirst;
    else if (word == "nhwc" || word == "hwc")
        to = PictureLayout::ChannelsLast;
    else
        return false;
    return true;
}

bool readPositive(std::string_view word, std::optional<double>& to)
{
    to = numberOf(word);
    return to && *to > 0;
}

/// What the entry is called, what it takes, and how it is read.
struct Key
{
    std::string_view name;
    std::string_view takes;
    bool (*read)(std::string_view word, Preprocessing& out);
};

constexpr std::array kKeys{
    Key{"size", "224x224", readSize},
    Key{"resize", "256: the shorter side before the middle is cut out",
        [](std::string_view word, Preprocessing& out) {
            return readCount(word, kMostSide, out.resize);
        }},
    Key{"fit", "cover, stretch or contain",
        [](std::string_view word, Preprocessing& out) { return readWord(word, kFits, out.fit); }},
    Key{"layout", "nchw or nhwc",
        [](std::string_view word, Preprocessing& out) { return readLayout(word, out.layout); }},
    Key{"order", "rgb or bgr",
        [](std::string_view word, Preprocessing& out) {
            return readWord(word, kOrders, out.isBlueFirst);
        }},
    Key{"scale", "1/255",
        [](std::string_view word, Preprocessing& out) {
            out.scale = numberOf(word);
            return out.scale.has_value();
        }},
    Key{"mean", "0.485,0.456,0.406",
        [](std::string_view word, Preprocessing& out) { return readNumbers(word, out.mean); }},
    Key{"std", "0.229,0.224,0.225, none of them 0",
        [](std::string_view word, Preprocessing& out) {
            return readDeviation(word, out.deviation);
        }},
    Key{"rate", "16000",
        [](std::string_view word, Preprocessing& out) { return readPositive(word, out.rate); }},
    Key{"features", "wave or mel",
        [](std::string_view word, Preprocessing& out) {
            return readWord(word, kFeatures, out.features);
        }},
    Key{"window", "512: samples of a frame",
        [](std::string_view word, Preprocessing& out) {
            return readCount(word, kMostWindow, out.window);
        }},
    Key{"hop", "256: samples from one frame to the next",
        [](std::string_view word, Preprocessing& out) {
            return readCount(word, kMostWindow, out.hop);
        }},
    Key{"bands", "40",
        [](std::string_view word, Preprocessing& out) {
            return readCount(word, kMostWindow, out.bands);
        }},
    Key{"floor", "0.001: added to the power before its logarithm",
        [](std::string_view word, Preprocessing& out) {
            const auto value = numberOf(word);
            if (value) out.floor = *value;
            return value && *value > 0;
        }},
};

/// A usual scale by its name.
bool readPreset(std::string_view word, Preprocessing& out)
{
    if (word == "imagenet") {
        out.scale = 1.0 / 255;
        out.mean = {0.485, 0.456, 0.406};
        out.deviation = {0.229, 0.224, 0.225};
    } else if (word == "unit") {
        out.scale = 1.0 / 255;
    } else if (word == "signed") {
        out.scale = 1 / 127.5;
        out.mean = {1};
    } else if (word == "raw") {
        out.scale = 1;
    } else {
        return false;
    }
    return true;
}

Diagnostic lineError(const std::string& what)
{
    return makeError(DiagnosticCode::BadArgument, "preprocessing: " + what);
}

std::string numberText(double value)
{
    if (value == 1.0 / 255) return "1/255";
    if (value == 1 / 127.5) return "1/127.5";
    return exact(value);
}

std::string numbersText(const std::vector<double>& values)
{
    std::vector<std::string> parts;
    for (const double value : values) parts.push_back(numberText(value));
    return join(parts, ",");
}

bool isChannels(int64_t size) { return size == 1 || size == 3; }

/// Where an input of 2 to 4 dimensions has its channels, rows and columns; -1: nowhere.
struct Axes
{
    PictureLayout layout = PictureLayout::ChannelsFirst;
    int channels = -1;
    int rows = 0;
    int columns = 0;
};

std::optional<Axes> axesOf(const ManifestTensor& input, std::optional<PictureLayout> said)
{
    const int rank = static_cast<int>(input.shape.size());
    if (rank == 2) return Axes{PictureLayout::ChannelsLast, -1, 0, 1};
    if (rank != 3 && rank != 4) return std::nullopt;
    const Axes first{PictureLayout::ChannelsFirst, rank - 3, rank - 2, rank - 1};
    const Axes last{PictureLayout::ChannelsLast, rank - 1, rank - 3, rank - 2};
    const auto fits = [&](const Axes& axes) {
        return isChannels(input.shape[static_cast<size_t>(axes.channels)]) &&
               (!said || *said == axes.layout);
    };
    if (fits(first)) return first;
    return fits(last) ? std::optional(last) : std::nullopt;
}

std::string inputText(const ManifestTensor& input)
{
    std::vector<std::string> sizes;
    for (size_t i = 0; i < input.shape.size(); ++i)
        sizes.push_back(input.shape[i] >= 0     ? std::to_string(input.shape[i])
                        : i < input.dims.size() ? input.dims[i]
                                                : std::string("?"));
    return "input " + core::quoted(input.name) + " (" + join(sizes, ", ") + ") of " + input.dtype;
}

/// A size of the input, of what was said, or neither.
Status takeSize(int64_t known, const char* what, const ManifestTensor& input,
                std::optional<int64_t>& size)
{
    if (known < 0) return kDone;
    if (size && *size != known)
        return lineError(std::string("the ") + what + " is " + std::to_string(*size) + " but " +
                         inputText(input) + " has " + std::to_string(known));
    size = known;
    return kDone;
}

/// One number holds for every channel.
Status spread(std::vector<double>& values, const char* key, double usual, const PicturePlan& plan,
              const ManifestTensor& input)
{
    const auto channels = static_cast<size_t>(plan.channels);
    if (values.empty()) values.push_back(usual);
    if (values.size() == 1) values.resize(channels, values[0]);
    if (values.size() == channels) return kDone;
    return lineError(std::string(key) + "= has " + std::to_string(values.size()) + " numbers but " +
                     inputText(input) + " has " + std::to_string(plan.channels) +
                     (plan.channels == 1 ? " channel" : " channels"));
}

} // namespace

std::string preprocessingKeys()
{
    std::vector<std::string> keys;
    for (const Key& key : kKeys)
        keys.push_back(std::string(key.name) + "=" + std::string(key.takes));
    return join(keys, "; ");
}

Result<Preprocessing> parsePreprocessing(std::string_view line)
{
    Preprocessing out;
    for (const std::string& entry : split(line, ' ')) {
        const std::string_view word = trimmed(entry);
        if (word.empty() || readPreset(word, out)) continue;
        const size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const Key* found = nullptr;
        for (const Key& key : kKeys)
            if (key.name == name) found = &key;
        if (!found || equals == std::string_view::npos)
            return lineError("there is no entry " + core::quoted(word) + "; there are " +
                             preprocessingKeys() + "; or imagenet, unit, signed, raw");
        if (!found->read(word.substr(equals + 1), out))
            return lineError(core::quoted(word) + " cannot be read; it takes " +
                             std::string(found->name) + "=" + std::string(found->takes));
    }
    return out;
}

bool takesPictures(const ManifestTensor& input)
{
    return input.shape.size() >= 3 && axesOf(input, std::nullopt).has_value();
}

Result<PicturePlan> planPicture(const ManifestTensor& input, const Preprocessing& said)
{
    const auto axes = axesOf(input, said.layout);
    if (!axes)
        return makeError(DiagnosticCode::ShapeMismatch,
                         inputText(input) + " takes no pictures" +
                             (said.layout ? " in this layout" : "") +
                             ": there is no dimension of 1 or 3 channels; give tensors with "
                             "--inputs");
    const auto dtype = parseDataType(input.dtype);
    if (!dtype) return dtype.error();
    PicturePlan plan{said.width,       said.height, said.resize, said.fit,  axes->layout,
                     said.isBlueFirst, 1,           1,           said.mean, said.deviation};
    if (axes->channels >= 0)
        plan.channels = static_cast<int>(input.shape[static_cast<size_t>(axes->channels)]);
    const auto size = [&](int axis) { return input.shape[static_cast<size_t>(axis)]; };
    if (Status s = takeSize(size(axes->columns), "width", input, plan.width); !s) return s.error();
    if (Status s = takeSize(size(axes->rows), "height", input, plan.height); !s) return s.error();
    // Integers take bytes as they are; signed ones have their middle at 0.
    const bool isFloat = dtype->isFloat();
    const bool isSignedByte = dtype->kind == DtypeKind::Int && dtype->bits == 8;
    plan.scale = said.scale.value_or(isFloat ? 1.0 / 255 : 1);
    const double usualMean = isSignedByte && !said.scale ? 128 : 0;
    if (Status s = spread(plan.mean, "mean", usualMean, plan, input); !s) return s.error();
    if (Status s = spread(plan.deviation, "std", 1, plan, input); !s) return s.error();
    return plan;
}

std::string PicturePlan::text() const
{
    std::vector<std::string> parts;
    if (width && height)
        parts.push_back("size=" + std::to_string(*width) + "x" + std::to_string(*height));
    if (resize) parts.push_back("resize=" + std::to_string(*resize));
    for (const auto& [name, value] : kFits)
        if (value == fit) parts.push_back("fit=" + std::string(name));
    parts.push_back(layout == PictureLayout::ChannelsFirst ? "layout=nchw" : "layout=nhwc");
    if (channels == 3) parts.push_back(isBlueFirst ? "order=bgr" : "order=rgb");
    parts.push_back("scale=" + numberText(scale));
    parts.push_back("mean=" + numbersText(mean));
    parts.push_back("std=" + numbersText(deviation));
    return join(parts, " ");
}

} // namespace tenon::runs
