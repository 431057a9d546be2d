// SPDX-License-Identifier: Apache-2.0
// RIFF chunks by hand: integers of 8 to 32 bits and floats, any number of channels.
#include "app/runs/samples/sound.h"

#include "core/base/file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <optional>

namespace tenon::runs {

namespace {

constexpr uint16_t kIntegers = 1;
constexpr uint16_t kFloats = 3;
constexpr uint16_t kExtensible = 0xfffe;
constexpr uint32_t kMostRate = 1000000;

template <class T>
T numberAt(std::string_view bytes, size_t at)
{
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value); // little-endian, as the processors here
    return value;
}
static_assert(std::endian::native == std::endian::little);

struct WavForm
{
    uint16_t kind = 0;
    uint16_t channels = 0;
    uint32_t rate = 0;
    uint16_t bits = 0;

    size_t bytes() const { return size_t{bits} / 8; }
    bool isRead() const
    {
        const bool isInteger =
            kind == kIntegers && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
        const bool isFloat = kind == kFloats && (bits == 32 || bits == 64);
        return (isInteger || isFloat) && channels > 0 && rate > 0 && rate <= kMostRate;
    }
};

Diagnostic wavError(const std::string& what)
{
    return makeError(DiagnosticCode::BadArgument, what);
}

std::optional<WavForm> formIn(std::string_view chunk)
{
    constexpr size_t kLeast = 16, kExtended = 26;
    if (chunk.size() < kLeast) return std::nullopt;
    WavForm form{numberAt<uint16_t>(chunk, 0), numberAt<uint16_t>(chunk, 2),
                 numberAt<uint32_t>(chunk, 4), numberAt<uint16_t>(chunk, 14)};
    // The kind stands at the beginning of an identifier.
    if (form.kind == kExtensible && chunk.size() >= kExtended)
        form.kind = numberAt<uint16_t>(chunk, 24);
    return form;
}

/// -1 to 1.
double sampleAt(std::string_view data, size_t at, const WavForm& form)
{
    if (form.kind == kFloats) {
        if (form.bits == 64) return numberAt<double>(data, at);
        return static_cast<double>(numberAt<float>(data, at));
    }
    switch (form.bits) {
    case 8: return (static_cast<double>(numberAt<uint8_t>(data, at)) - 128) / 128;
    case 16: return static_cast<double>(numberAt<int16_t>(data, at)) / 32768;
    case 24: {
        uint32_t value = 0;
        std::memcpy(&value, data.data() + at, 3);
        return static_cast<double>(static_cast<int32_t>(value << 8)) / 2147483648.0;
    }
    default: return static_cast<double>(numberAt<int32_t>(data, at)) / 2147483648.0;
    }
}

Result<Sound> samplesOf(std::string_view data, const WavForm& form)
{
    const size_t frame = form.bytes() * form.channels;
    Sound out{static_cast<double>(form.rate), {}};
    out.samples.reserve(data.size() / frame);
    for (size_t at = 0; at + frame <= data.size(); at += frame) {
        double sum = 0;
        for (size_t c = 0; c < form.channels; ++c)
            sum += sampleAt(data, at + c * form.bytes(), form);
        const double mean = sum / form.channels;
        if (!std::isfinite(mean)) return wavError("the WAV file has samples that are no numbers");
        out.samples.push_back(static_cast<float>(mean));
    }
    if (out.samples.empty()) return wavError("the WAV file has no samples");
    return out;
}

} // namespace

Result<Sound> decodeWav(std::string_view bytes)
{
    constexpr size_t kHead = 12, kChunkHead = 8;
    if (bytes.size() < kHead || bytes.substr(0, 4) != "RIFF" || bytes.substr(8, 4) != "WAVE")
        return wavError("this is no WAV file; convert the sound to one");
    std::optional<WavForm> form;
    for (size_t at = kHead; at + kChunkHead <= bytes.size();) {
        const std::string_view name = bytes.substr(at, 4);
        const size_t size = numberAt<uint32_t>(bytes, at + 4);
        const std::string_view chunk = bytes.substr(at + kChunkHead, size); // shorter at the end
        if (name == "fmt ") form = formIn(chunk);
        if (name == "data") {
            if (!form || !form->isRead())
                return wavError("the WAV file's samples are in a form that is not read; convert it "
                                "to integers of 16 bits (PCM)");
            return samplesOf(chunk, *form);
        }
        at += kChunkHead + size + size % 2;
    }
    return wavError("the WAV file ends before its samples");
}

Result<Sound> readSound(const std::string& path)
{
    const auto file = MappedFile::open(path);
    if (!file) return file.error();
    auto sound = decodeWav((*file)->text());
    if (!sound) sound.error().location.file = path;
    return sound;
}

/// By a sinc with a Hann window over 16 of its zero crossings to each side, as low as the lower of
/// the two rates asks for.
Sound resampled(const Sound& sound, double rate)
{
    if (rate == sound.rate) return sound;
    constexpr double kCrossings = 16;
    const double cutoff = std::min(1.0, rate / sound.rate);
    const double reach = kCrossings / cutoff;
    const auto size = static_cast<int64_t>(sound.samples.size());
    const auto count =
        static_cast<int64_t>(std::ceil(static_cast<double>(size) * rate / sound.rate));
    Sound out{rate, std::vector<float>(static_cast<size_t>(count))};
    for (int64_t i = 0; i < count; ++i) {
        const double centre = static_cast<double>(i) * sound.rate / rate;
        const int64_t from = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(centre - reach)));
        const int64_t to = std::min(size - 1, static_cast<int64_t>(std::floor(centre + reach)));
        double sum = 0;
        for (int64_t k = from; k <= to; ++k) {
            const double away = static_cast<double>(k) - centre;
            const double x = std::numbers::pi * away * cutoff;
            const double sinc = std::abs(x) < 1e-9 ? 1 : std::sin(x) / x;
            const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * away / reach);
            sum += static_cast<double>(sound.samples[static_cast<size_t>(k)]) * sinc * window;
        }
        out.samples[static_cast<size_t>(i)] = static_cast<float>(sum * cutoff);
    }
    return out;
}

} // namespace tenon::runs
