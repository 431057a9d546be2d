// SPDX-License-Identifier: Apache-2.0
// Boxes of TensorFlow Lite models as ONNX: how many are found only a run knows, so that both models
// are compiled and run.
#include "compiler/frontend/tensor_file.h"
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/tflite/flex_map.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using core::Tensor;
using test::TfliteWriter;
using Type = test::TfliteType;

constexpr int32_t kBoxes = 20, kClasses = 3;

std::vector<float> waves(int64_t count, double speed, double low, double high)
{
    std::vector<float> out;
    for (int64_t i = 0; i < count; ++i)
        out.push_back(static_cast<float>(
            low + (high - low) * (0.5 + 0.5 * std::sin(static_cast<double>(i * i + i) * speed))));
    return out;
}

struct Detector
{
    int32_t most = 6;
    bool isRegular = false, hasShapes = true;
    int32_t boxes = kBoxes, classes = kClasses;

    /// Adds the operator on boxes and scores, and its results.
    void addTo(TfliteWriter& w, int boxes_, int scores) const
    {
        const int anchors = w.constant<float>("anchors", Type::Float32, {boxes, 4},
                                              waves(4 * boxes, 0.7, 0.1, 0.9));
        const auto result = [&](const char* name, std::vector<int32_t> shape) {
            return w.output(name, Type::Float32, hasShapes ? shape : std::vector<int32_t>{});
        };
        const std::vector<int32_t> out{result("where", {1, most, 4}), result("class", {1, most}),
                                       result("score", {1, most}), result("count", {1})};
        w.op("TFLite_Detection_PostProcess", {boxes_, scores, anchors}, out, {},
             test::flexMap({{"max_detections", static_cast<float>(most)},
                            {"max_classes_per_detection", 1},
                            {"detections_per_class", 4},
                            {"use_regular_nms", isRegular ? 1.0F : 0.0F},
                            {"nms_score_threshold", 0.5F},
                            {"nms_iou_threshold", 0.2F},
                            {"num_classes", static_cast<float>(classes)},
                            {"y_scale", 10},
                            {"x_scale", 9},
                            {"h_scale", 5},
                            {"w_scale", 4}}));
    }
    TfliteWriter file() const
    {
        TfliteWriter w;
        const int where = w.input("boxes", Type::Float32, {1, boxes, 4}),
                  scores = w.input("scores", Type::Float32, {1, boxes, classes + 1});
        addTo(w, where, scores);
        return w;
    }
};

class Boxes : public testing::Test
{
protected:
    void SetUp() override { std::filesystem::create_directories(path("data")); }
    std::string path(const std::string& name) const { return m_folder.file(name); }
    void write(const TfliteWriter& model) const
    {
        const std::vector<std::byte> bytes = model.file();
        std::ofstream(path("m.tflite"), std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    void give(int input, const std::vector<int64_t>& shape, const std::vector<float>& values) const
    {
        const core::Status done =
            compiler::writeTensorFile(path("data/input_" + std::to_string(input) + ".pb"),
                                      Tensor::of<float>(core::kFloat32, shape, values), "x");
        ASSERT_TRUE(done) << done.error().text();
    }
    /// At the highest level nothing of it is open to the run, so that no VM is needed.
    std::vector<Tensor> resultsOf(const std::string& model, size_t count, int level = 0) const
    {
        const std::string folder = path(model + "-results");
        const Outcome ran =
            tenon("run " + path(model) + " --inputs " + path("data") + " --outputs " + folder +
                  " --opt-level " + std::to_string(level) + " 2>&1");
        EXPECT_EQ(ran.code, 0) << ran.output;
        if (level == 3) EXPECT_EQ(ran.output.find("vm executor"), std::string::npos) << ran.output;
        std::vector<Tensor> out;
        for (size_t i = 0; i < count; ++i) {
            const auto read =
                compiler::readTensorFile(folder + "/output_" + std::to_string(i) + ".pb");
            out.push_back(read ? read->tensor : Tensor());
        }
        return out;
    }
    static void expectSame(const Tensor& got, const Tensor& wanted)
    {
        ASSERT_EQ(got.typeText(), wanted.typeText());
        for (int64_t k = 0; k < got.size(); ++k)
            EXPECT_NEAR(got.number(k), wanted.number(k), 1e-6) << k;
    }
    /// The results of both, which are the same.
    std::vector<Tensor> sameResults(const TfliteWriter& model, size_t count) const
    {
        write(model);
        const Outcome made =
            tenon("convert " + path("m.tflite") + " -o " + path("m.onnx") + " 2>&1");
        EXPECT_EQ(made.code, 0) << made.output;
        const std::vector<Tensor> before = resultsOf("m.tflite", count);
        for (const int level : {0, 3}) {
            const std::vector<Tensor> after = resultsOf("m.onnx", count, level);
            for (size_t i = 0; i < count; ++i) expectSame(after[i], before[i]);
        }
        return before;
    }
    /// How many detections there are.
    double detected(const Detector& detector) const
    {
        give(0, {1, kBoxes, 4}, waves(4 * kBoxes, 0.9, -3, 3));
        give(1, {1, kBoxes, kClasses + 1}, waves((kClasses + 1) * kBoxes, 0.37, 0, 1));
        return sameResults(detector.file(), 4).at(3).number(0);
    }

    test::TemporaryFolder m_folder;
};

TEST_F(Boxes, AreDetectedAsTheFileSays)
{
    EXPECT_EQ(detected({.most = 3}), 3) << "there are more than are shown";
    const double all = detected({.most = 16});
    EXPECT_GT(all, 3);
    EXPECT_LT(all, 16) << "zeros are behind them";
    EXPECT_EQ(detected({.most = 30, .hasShapes = false}), all) << "more than there are boxes";
}

TEST_F(Boxes, AreDetectedByClassWhereAsked)
{
    EXPECT_EQ(detected({.most = 5, .isRegular = true}), 5);
    const double all = detected({.most = 40, .isRegular = true});
    EXPECT_GT(all, 5);
    EXPECT_LE(all, 12) << "four of each class";
    EXPECT_EQ(detected({.most = 70, .isRegular = true}), all);
}

TEST_F(Boxes, AreSuppressedInBothVersions)
{
    give(0, {kBoxes}, waves(kBoxes, 0.37, 0, 1));
    for (const int32_t most : {2, 12, 25})
        for (const bool hasScores : {false, true}) {
            TfliteWriter w;
            std::vector<int32_t> inputs{w.constant<float>("boxes", Type::Float32, {kBoxes, 4},
                                                          waves(4 * kBoxes, 0.9, 0, 1)),
                                        w.input("scores", Type::Float32, {kBoxes}),
                                        w.constant<int32_t>("most", Type::Int32, {}, {most}),
                                        w.constant<float>("overlap", Type::Float32, {}, {0.2F}),
                                        w.constant<float>("least", Type::Float32, {}, {0.25F})};
            std::vector<int32_t> outputs{w.output("chosen", Type::Int32, {most})};
            if (hasScores) inputs.push_back(w.constant<float>("sigma", Type::Float32, {}, {0.0F}));
            if (hasScores) outputs.push_back(w.output("kept", Type::Float32, {most}));
            outputs.push_back(w.output("count", Type::Int32, {}));
            w.op(hasScores ? "NON_MAX_SUPPRESSION_V5" : "NON_MAX_SUPPRESSION_V4", inputs, outputs);
            const double count = sameResults(w, outputs.size()).back().number(0);
            EXPECT_EQ(count == 2, most == 2) << count;
            EXPECT_LT(count, 12);
        }
}

/// As of an SSD: convolutions compute boxes and scores.
TEST_F(Boxes, BehindLayersStayFloats)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 8, 8, 3});
    const auto predicted = [&](const std::string& name, int32_t channels) {
        const int made = w.tensor(name + "/picture", Type::Float32, {1, 4, 4, 2 * channels}),
                  flat = w.tensor(name, Type::Float32, {1, 32, channels});
        const int weight = w.constant<float>(name + "/w", Type::Float32, {2 * channels, 3, 3, 3},
                                             waves(2 * channels * 27, 1.3, -0.5, 0.5)),
                  shape = w.constant<int32_t>(name + "/s", Type::Int32, {3}, {1, 32, channels});
        w.op("CONV_2D", {x, weight, -1}, {made},
             test::FlatOut().number(0, int8_t{0}).number(1, 2).number(2, 2));
        w.op("RESHAPE", {made, shape}, {flat});
        return flat;
    };
    const int boxes = predicted("boxes", 4), raw = predicted("raw", kClasses + 1),
              scores = w.tensor("scores", Type::Float32, {1, 32, kClasses + 1});
    w.op("LOGISTIC", {raw}, {scores});
    Detector{.boxes = 32}.addTo(w, boxes, scores);
    write(w);
    give(0, {1, 8, 8, 3}, waves(192, 0.9, -1, 1));
    const Outcome made = tenon("quantize " + path("m.tflite") + " --data " + path("data") + " -o " +
                               path("q.onnx") + " -v 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    const std::vector<Tensor> before = resultsOf("m.tflite", 4), after = resultsOf("q.onnx", 4, 3);
    EXPECT_GT(before[3].number(0), 0);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(before[i].typeText(), after[i].typeText()) << i;
}

} // namespace
} // namespace tenon::cli
