// SPDX-License-Identifier: Apache-2.0
// Pictures and sounds as tensors: values, layouts, types, batches, and what does not fit.
#include "app/runs/samples/sample_tensors.h"
#include "app/runs/samples/spectrogram.h"
#include "tests/app/runs/samples/sample_files.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::runs {
namespace {

class SampleTensorsTest : public ::testing::Test
{
protected:
    std::string picture(int64_t width, int64_t height, const std::string& name = "a.png")
    {
        test::writePng(m_folder.file(name), test::patternedPicture(width, height));
        return m_folder.file(name);
    }
    std::string sound(const std::vector<int16_t>& samples)
    {
        test::writeText(m_folder.file("a.wav"), test::wavBytes(8000, 1, samples));
        return m_folder.file("a.wav");
    }
    static Tensor only(const std::vector<ManifestTensor>& inputs, const SampleFiles& files)
    {
        auto made = sampleTensors(inputs, files);
        EXPECT_TRUE(made) << made.error().message;
        EXPECT_TRUE(!made || made->tensors.size() == 1);
        return made ? made->tensors[0].second : Tensor();
    }
    static std::string problem(const std::vector<ManifestTensor>& inputs, const SampleFiles& files)
    {
        const auto made = sampleTensors(inputs, files);
        return made ? "made" : made.error().message;
    }
    test::TemporaryFolder m_folder;
};

TEST_F(SampleTensorsTest, LaysOutChannelsFirstAndLast)
{
    const SampleFiles files{{picture(4, 2)}, {}, "raw"};
    const Tensor first = only({{"x", "float32", {1, 3, 2, 4}}}, files);
    const Tensor last = only({{"x", "float32", {1, 2, 4, 3}}}, files);
    const Picture made = test::patternedPicture(4, 2);
    for (int64_t y = 0; y < 2; ++y)
        for (int64_t x = 0; x < 4; ++x)
            for (int c = 0; c < 3; ++c) {
                EXPECT_EQ(first.number((c * 2 + y) * 4 + x), made.at(x, y, c));
                EXPECT_EQ(last.number((y * 4 + x) * 3 + c), made.at(x, y, c));
            }
}

TEST_F(SampleTensorsTest, NormalizesAndTurnsChannels)
{
    const std::vector<ManifestTensor> inputs{{"x", "float32", {1, 3, 2, 4}}};
    const SampleFiles files{{picture(4, 2)}, {}, "imagenet order=bgr"};
    const Tensor tensor = only(inputs, files);
    const Picture made = test::patternedPicture(4, 2);
    EXPECT_NEAR(tensor.number(0), (made.at(0, 0, 2) / 255.0 - 0.485) / 0.229, 1e-6);
    EXPECT_NEAR(tensor.number(16), (made.at(0, 0, 0) / 255.0 - 0.406) / 0.225, 1e-6);
}

TEST_F(SampleTensorsTest, RoundsForIntegersAndStaysInTheirRange)
{
    const SampleFiles files{{picture(4, 2)}, {}, ""};
    const Tensor bytes = only({{"x", "uint8", {1, 2, 4, 3}}}, files);
    const Tensor signs = only({{"x", "int8", {1, 2, 4, 3}}}, files);
    for (int64_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes.integer(i) - 128, signs.integer(i));
    const Tensor full =
        only({{"x", "int8", {1, 2, 4, 3}}}, {files.pictures, {}, "scale=100 mean=-1000"});
    EXPECT_EQ(full.integer(3), 127);
    const Tensor grey = only({{"x", "uint8", {2, 4}}}, files);
    EXPECT_EQ(grey.integer(0), std::lround(0.587 * 53 + 0.114 * 106));
}

TEST_F(SampleTensorsTest, CutsTheMiddleOrShowsAll)
{
    const std::vector<ManifestTensor> inputs{{"x", "float32", {1, 3, 2, 2}}};
    const std::string path = picture(6, 2);
    const Picture made = test::patternedPicture(6, 2);
    const Tensor cut = only(inputs, {{path}, {}, "raw"});
    EXPECT_EQ(cut.number(0), made.at(2, 0, 0));
    EXPECT_EQ(cut.number(3), made.at(3, 1, 0));
    // Two columns wide it is one row high, at the top: the middle of one too many rounds up.
    const Tensor all = only(inputs, {{path}, {}, "raw fit=contain"});
    EXPECT_GT(all.number(0), 0);
    EXPECT_EQ(all.number(2), 0);
}

TEST_F(SampleTensorsTest, MakesABatchOfSeveral)
{
    const std::vector<std::string> two{picture(4, 4), picture(8, 8, "b.png")};
    const Tensor open = only({{"x", "float32", {-1, 3, 4, 4}}}, {two, {}, ""});
    EXPECT_EQ(open.shape(), (std::vector<int64_t>{2, 3, 4, 4}));
    EXPECT_NE(problem({{"x", "float32", {4, 3, 4, 4}}}, {two, {}, ""})
                  .find("takes 4 pictures at a time but 2 were given"),
              std::string::npos);
    EXPECT_NE(problem({{"x", "float32", {-1, 3, -1, -1}}}, {two, {}, ""}).find("different sizes"),
              std::string::npos);
    const Tensor own = only({{"x", "float32", {1, 3, -1, -1}}}, {{two[1]}, {}, ""});
    EXPECT_EQ(own.shape(), (std::vector<int64_t>{1, 3, 8, 8}));
}

TEST_F(SampleTensorsTest, FindsTheInputThatTakesThem)
{
    const std::vector<ManifestTensor> inputs{{"mask", "float32", {1, 10}},
                                             {"image", "float32", {1, 3, 4, 4}}};
    auto made = sampleTensors(inputs, {{picture(4, 4)}, {sound({1, 2})}, ""});
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->tensors[0].first, "image");
    EXPECT_EQ(made->tensors[1].first, "mask");
    EXPECT_NE(made->made[1].find("8 samples of silence"), std::string::npos) << made->made[1];
    EXPECT_NE(problem({inputs[0], inputs[0]}, {{picture(4, 4)}, {}, ""}).find("no input"),
              std::string::npos);
}

TEST_F(SampleTensorsTest, TakesSoundsAsSamplesOrSpectrograms)
{
    std::vector<int16_t> samples;
    for (int i = 0; i < 600; ++i) samples.push_back(static_cast<int16_t>((i * 7919) % 20000));
    const std::string path = sound(samples);
    const Tensor wave = only({{"x", "float32", {1, 1, 500}}}, {{}, {path}, ""});
    EXPECT_EQ(wave.shape(), (std::vector<int64_t>{1, 1, 500}));
    EXPECT_EQ(wave.number(3), samples[3] / 32768.0);
    const Tensor mel =
        only({{"x", "float32", {1, 1, 3, 8}}}, {{}, {path}, "features=mel window=256 hop=160"});
    Sound taken = *readSound(path);
    taken.samples.resize(256 + 2 * 160);
    const auto wanted = melSpectrogram(taken.samples, {8000, 256, 160, 8});
    ASSERT_EQ(mel.size(), 24);
    for (int64_t i = 0; i < mel.size(); ++i)
        EXPECT_EQ(static_cast<float>(mel.number(i)), wanted[static_cast<size_t>(i)]);
    const Tensor slow = only({{"x", "float32", {1, -1}}}, {{}, {path}, "rate=4000"});
    EXPECT_EQ(slow.shape(), (std::vector<int64_t>{1, 300}));
    EXPECT_NE(problem({{"x", "float32", {2, 500}}}, {{}, {path}, ""}).find("takes no sound"),
              std::string::npos);
    EXPECT_NE(problem({{"x", "float32", {1, 500}}}, {{}, {path, path}, ""}).find("one sound"),
              std::string::npos);
    EXPECT_NE(problem({{"x", "float32", {1, 500}}}, {{}, {path}, "rate=0.5"}).find("thousandth"),
              std::string::npos);
}

} // namespace
} // namespace tenon::runs
