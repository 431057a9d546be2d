// SPDX-License-Identifier: Apache-2.0
// Sounds: read, refused, brought to another rate, and as spectrograms.
#include "app/runs/samples/sound.h"
#include "app/runs/samples/spectrogram.h"
#include "tests/app/runs/samples/sample_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tenon::runs {
namespace {

TEST(Sound, ReadsTheMeanOfItsChannels)
{
    const auto sound = decodeWav(test::wavBytes(8000, 2, {16384, 0, -32768, -32768, 0, 16384}));
    ASSERT_TRUE(sound) << sound.error().message;
    EXPECT_EQ(sound->rate, 8000);
    EXPECT_EQ(sound->samples, (std::vector<float>{0.25F, -1, 0.25F}));
}

TEST(Sound, ReadsOtherForms)
{
    std::string bytes = test::wavBytes(8000, 1, {0, 0});
    bytes[34] = 8; // bits of a sample
    bytes.replace(44, 4, std::string("\x00\x80\xff\x40", 4));
    const auto narrow = decodeWav(bytes);
    ASSERT_TRUE(narrow);
    EXPECT_EQ(narrow->samples, (std::vector<float>{-1, 0, 127.0F / 128, -0.5F}));
    bytes[34] = 24;
    bytes.replace(44, 4, std::string("\x00\x00\xc0\x00", 4)); // the fourth byte is no sample
    const auto three = decodeWav(bytes);
    ASSERT_TRUE(three);
    EXPECT_EQ(three->samples, (std::vector<float>{-0.5F}));
    bytes[20] = 3; // floats
    bytes[34] = 32;
    const float half = 0.5F;
    bytes.replace(44, 4, reinterpret_cast<const char*>(&half), 4);
    const auto floats = decodeWav(bytes);
    ASSERT_TRUE(floats);
    EXPECT_EQ(floats->samples, (std::vector<float>{0.5F}));
}

TEST(Sound, SaysWhatIsNone)
{
    const std::string good = test::wavBytes(8000, 1, {1, 2, 3});
    const auto messageOf = [](const std::string& bytes) {
        const auto sound = decodeWav(bytes);
        return sound ? std::string("read") : sound.error().message;
    };
    EXPECT_NE(messageOf("ID3 not a wav file").find("no WAV file"), std::string::npos);
    EXPECT_NE(messageOf(good.substr(0, 30)).find("ends before"), std::string::npos);
    EXPECT_NE(messageOf(good.substr(0, 44)).find("no samples"), std::string::npos);
    std::string other = good;
    other[20] = 2; // ADPCM
    EXPECT_NE(messageOf(other).find("in a form that is not read"), std::string::npos);
    for (size_t size = 0; size <= good.size(); ++size) messageOf(good.substr(0, size)); // no crash
    std::string none = good;
    none[22] = 0; // channels
    EXPECT_NE(messageOf(none).find("in a form that is not read"), std::string::npos);
}

TEST(Sound, KeepsATuneAtAnotherRate)
{
    Sound sound{8000, {}};
    const auto tune = [](double second) { return std::sin(2 * std::numbers::pi * 440 * second); };
    for (int i = 0; i < 4000; ++i) sound.samples.push_back(static_cast<float>(tune(i / 8000.0)));
    for (const double rate : {16000.0, 6000.0, 22050.0}) {
        const Sound other = resampled(sound, rate);
        EXPECT_EQ(static_cast<double>(other.samples.size()), std::ceil(4000 * rate / 8000));
        for (size_t i = other.samples.size() / 4; i < other.samples.size() * 3 / 4; ++i)
            ASSERT_NEAR(static_cast<double>(other.samples[i]), tune(static_cast<double>(i) / rate),
                        5e-3)
                << rate << " " << i;
    }
}

TEST(Sound, LeavesOutWhatALowerRateCannotHold)
{
    Sound sound{8000, {}};
    for (int i = 0; i < 4000; ++i)
        sound.samples.push_back(
            static_cast<float>(std::sin(2 * std::numbers::pi * 3500 * i / 8000.0)));
    const Sound lower = resampled(sound, 4000);
    for (size_t i = 100; i + 100 < lower.samples.size(); ++i)
        ASSERT_LT(std::abs(lower.samples[i]), 0.01F);
}

/// NumPy's rfft, hanning and a matrix of triangles gave these.
TEST(Sound, BecomesTheSpectrogramThatNumpyMakes)
{
    std::vector<float> samples;
    for (int i = 0; i < 600; ++i)
        samples.push_back(static_cast<float>(0.5 * std::sin(0.3 * i) + 0.25 * std::cos(1.1 * i)));
    const MelShape shape{.rate = 8000, .window = 256, .hop = 160, .bands = 6};
    const std::vector<float> mel = melSpectrogram(samples, shape);
    const double wanted[] = {6.494, 6.7672, -0.37, 5.9083, 2.6205, -6.9077};
    ASSERT_EQ(mel.size(), 18U);
    for (size_t i = 0; i < mel.size(); ++i)
        EXPECT_NEAR(static_cast<double>(mel[i]), wanted[i % 6], 5e-4) << i;
}

} // namespace
} // namespace tenon::runs
