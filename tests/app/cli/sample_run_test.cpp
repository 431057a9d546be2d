// SPDX-License-Identifier: Apache-2.0
// tenon run on pictures and sounds: what it says, as text and as JSON, and what it refuses.
#include "compiler/frontend/tensor_file.h"
#include "tests/app/cli/program.h"
#include "tests/app/runs/samples/sample_files.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tenon::cli {
namespace {

using nlohmann::json;

const std::string kDigits = test::sourcePath("resources/sample/digits");

/// The sample's first example, a rendered 3, as a picture.
std::string pictureOfThree(const test::TemporaryFolder& folder)
{
    const auto tensor = compiler::readTensorFile(kDigits + "/test_data_set_0/input_0.pb");
    EXPECT_TRUE(tensor);
    runs::Picture picture{32, 32, {}};
    for (int64_t i = 0; i < 32 * 32; ++i)
        picture.pixels.insert(picture.pixels.end(), 3,
                              static_cast<uint8_t>(std::lround(tensor->tensor.number(i) * 255)));
    test::writePng(folder.file("three.png"), picture);
    return folder.file("three.png");
}

std::string digitNames(const test::TemporaryFolder& folder)
{
    test::writeText(folder.file("labels.txt"),
                    "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    return folder.file("labels.txt");
}

TEST(RunOnSamples, NamesTheClassOfAPicture)
{
    const test::TemporaryFolder folder;
    const std::string words = "run " + kDigits + "/model.onnx --image " + pictureOfThree(folder) +
                              " --labels " + digitNames(folder);
    const Outcome text = tenon(words + " 2>&1");
    EXPECT_EQ(text.code, 0) << text.output;
    EXPECT_NE(text.output.find("from three.png: size=32x32 fit=cover layout=nchw scale=1/255"),
              std::string::npos)
        << text.output;
    const Outcome out = tenon(words + " --json");
    ASSERT_EQ(out.code, 0);
    const json said = json::parse(out.output);
    EXPECT_EQ(said["preprocessing"][0],
              "size=32x32 fit=cover layout=nchw scale=1/255 mean=0 std=1");
    const json& top = said["outputs"][0]["examples"][0]["top"];
    ASSERT_EQ(top.size(), 5U);
    EXPECT_EQ(top[0]["index"], 3);
    EXPECT_EQ(top[0]["label"], "three");
    EXPECT_GT(top[0]["probability"].get<double>(), 0.9);
    EXPECT_NE(text.output.find("three"), std::string::npos) << text.output;
}

/// The picture gives what the tensor gives, but for the rounding of its bytes.
TEST(RunOnSamples, GivesWhatTheTensorGives)
{
    const test::TemporaryFolder folder;
    const auto best = [&](const std::string& input) {
        const Outcome out = tenon("run " + kDigits + "/model.onnx --json --print-top 1 " + input);
        EXPECT_EQ(out.code, 0);
        return json::parse(out.output)["outputs"][0]["top"][0]["value"].get<double>();
    };
    EXPECT_NEAR(best("--image " + pictureOfThree(folder)),
                best("--inputs " + kDigits + "/test_data_set_0/input_0.pb"), 2e-3);
}

TEST(RunOnSamples, SaysWhatIsWrong)
{
    const test::TemporaryFolder folder;
    test::writeText(folder.file("none.png"), "no picture");
    test::writeText(folder.file("empty.txt"), "");
    const std::string picture = pictureOfThree(folder);
    const auto fails = [&](const std::string& words, const std::string& message) {
        const Outcome out = tenon("run " + kDigits + "/model.onnx " + words + " 2>&1");
        EXPECT_EQ(out.code, 4) << out.output;
        EXPECT_NE(out.output.find(message), std::string::npos) << out.output;
    };
    fails("--image " + folder.file("none.png"), "neither a PNG nor a JPEG");
    fails("--image " + picture + " --preprocess size=8x8", "the width is 8 but input");
    fails("--image " + picture + " --preprocess colour=red", "there is no entry `colour=red`");
    fails("--image " + picture + " --labels " + folder.file("empty.txt"), "labels is empty");
    fails("--image " + picture + " " + picture, "takes 1 picture at a time but 2 were given");
    fails("--audio " + picture, "no WAV file");
}

} // namespace
} // namespace tenon::cli
