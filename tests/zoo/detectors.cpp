// SPDX-License-Identifier: Apache-2.0
// Detectors: YOLOv3-tiny, a nano YOLO of split stages, and a feature pyramid on ResNet-50.
#include "tests/zoo/backbones.h"
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string leaky(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                  int64_t outputs, int64_t kernel = 3)
{
    return convBn(b, scope, x, {.inputs = inputs, .outputs = outputs, .kernel = {kernel, kernel}},
                  Activation::LeakyRelu);
}

std::string silu(ModelBuilder& b, const std::string& scope, const std::string& x,
                 const ConvSpec& spec)
{
    return convBn(b, scope, x, spec, Activation::Silu);
}

/// Half of the channels go through bottlenecks, all stages of which are kept.
std::string splitStage(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, int64_t outputs, int64_t blocks)
{
    const int64_t half = outputs / 2;
    const std::string wide =
        silu(b, scope + "/in", x, {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}});
    std::vector<std::string> parts = split(b, scope, wide, {half, half});
    for (int64_t i = 0; i < blocks; ++i) {
        const std::string here = scope + "/" + std::to_string(i);
        std::string y = silu(b, here + "/0", parts.back(), {.inputs = half, .outputs = half});
        y = silu(b, here + "/1", y, {.inputs = half, .outputs = half});
        parts.push_back(b.node("Add", here, {parts.back(), y}));
    }
    return silu(b, scope + "/out", concat(b, scope, parts),
                {.inputs = (2 + blocks) * half, .outputs = outputs, .kernel = {1, 1}});
}

/// Maxima of 5, 9 and 13, by three of 5 in a row.
std::string pooledPyramid(ModelBuilder& b, const std::string& x, int64_t channels)
{
    const int64_t half = channels / 2;
    std::vector<std::string> parts = {
        silu(b, "/sppf/in", x, {.inputs = channels, .outputs = half, .kernel = {1, 1}})};
    for (int i = 0; i < 3; ++i)
        parts.push_back(maxPool(b, "/sppf/" + std::to_string(i), parts.back(), 5, 1, 2));
    return silu(b, "/sppf/out", concat(b, "/sppf", parts),
                {.inputs = 4 * half, .outputs = channels, .kernel = {1, 1}});
}

} // namespace

std::string makeYolov3Tiny(const ZooOptions& options)
{
    constexpr int64_t kAnswers = 255;
    ModelBuilder b("yolov3_tiny", options);
    const int64_t size = options.imageSize ? options.imageSize : 416;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = 3;
    std::string fine;
    for (int64_t i = 0; i < 6; ++i) {
        const std::string scope = "/" + std::to_string(i);
        x = leaky(b, scope, x, channels, b.channels(16 << i));
        channels = b.channels(16 << i);
        if (i == 4) fine = x;
        if (i < 5) x = maxPool(b, scope + "/pool", x, 2, 2, 0);
    }
    x = b.node("MaxPool", "/pool", {x},
               {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{0, 0, 1, 1}}, {"strides", Dims{1, 1}}});
    const int64_t wide = b.channels(1024), middle = b.channels(256), half = b.channels(128);
    x = leaky(b, "/7", x, channels, wide);
    x = leaky(b, "/8", x, wide, middle, 1);
    const auto answers = [&](const std::string& scope, const std::string& from, int64_t inputs) {
        const std::string y = leaky(b, scope + "/0", from, inputs, 2 * middle);
        return b.conv(
            scope, y,
            {.inputs = 2 * middle, .outputs = kAnswers, .kernel = {1, 1}, .hasBias = true});
    };
    b.output(answers("/coarse", x, middle), "coarse",
             {options.batch, kAnswers, size / 32, size / 32});
    x = upsample(b, "/up", leaky(b, "/9", x, middle, half, 1), 2, "nearest");
    x = concat(b, "/join", {x, fine});
    b.output(answers("/fine", x, half + middle), "fine",
             {options.batch, kAnswers, size / 16, size / 16});
    return b.bytes();
}

std::string makeYoloNano(const ZooOptions& options)
{
    constexpr int64_t kAnswers = 144, kBlocks[] = {1, 2, 2, 1};
    ModelBuilder b("yolo_nano_csp", options);
    const int64_t size = options.imageSize ? options.imageSize : 320;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(16);
    x = silu(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2});
    std::vector<Features> stages;
    for (int64_t i = 0; i < 4; ++i) {
        const std::string scope = "/stage" + std::to_string(i);
        const int64_t outputs = 2 * channels;
        x = silu(b, scope, x, {.inputs = channels, .outputs = outputs, .stride = 2});
        x = splitStage(b, scope + "/split", x, outputs, outputs, kBlocks[i]);
        channels = outputs;
        stages.push_back({x, channels, int64_t{4} << i});
    }
    Features now = {pooledPyramid(b, x, channels), channels, 32};
    for (size_t level = 3; level-- > 1;) {
        const std::string scope = "/neck" + std::to_string(level);
        const Features& skip = stages[level];
        x = concat(b, scope, {upsample(b, scope, now.tensor, 2, "nearest"), skip.tensor});
        now = {splitStage(b, scope + "/split", x, now.channels + skip.channels, skip.channels, 1),
               skip.channels, skip.stride};
    }
    x = silu(b, "/head", now.tensor, {.inputs = now.channels, .outputs = now.channels});
    x = b.conv("/answers", x,
               {.inputs = now.channels, .outputs = kAnswers, .kernel = {1, 1}, .hasBias = true});
    b.output(x, "output", {options.batch, kAnswers, size / 8, size / 8});
    return b.bytes();
}

std::string makeFpnResnet50(const ZooOptions& options)
{
    ModelBuilder b("fpn_resnet50", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    const std::string image = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const std::vector<Features> stages = resnet50Features(b, image, Reduction::Strided);
    const int64_t width = b.channels(256);
    std::string above;
    for (size_t level = stages.size(); level-- > 1;) {
        const Features& stage = stages[level];
        const std::string scope = "/level" + std::to_string(level);
        std::string x =
            b.conv(scope + "/inner", stage.tensor,
                   {.inputs = stage.channels, .outputs = width, .kernel = {1, 1}, .hasBias = true});
        if (!above.empty()) x = b.node("Add", scope, {x, upsample(b, scope, above, 2, "nearest")});
        above = x;
        x = b.conv(scope + "/layer", x, {.inputs = width, .outputs = width, .hasBias = true});
        b.output(x, "level" + std::to_string(level),
                 {options.batch, width, size / stage.stride, size / stage.stride});
    }
    return b.bytes();
}

} // namespace tenon::test
