// SPDX-License-Identifier: Apache-2.0
// One-dimensional networks of sound: wav2vec's front end, HiFi-GAN V3, a temporal convolution
// network and PointNet, whose points are a row as well.
#include "tests/zoo/layers.h"

#include <iterator>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

ConvSpec rowSpec(int64_t inputs, int64_t outputs, int64_t kernel, int64_t dilation = 1)
{
    return {.inputs = inputs,
            .outputs = outputs,
            .kernel = {kernel},
            .hasBias = true,
            .dilation = dilation};
}

/// Two dilated convolutions, each beside a shortcut.
std::string residual(ModelBuilder& b, const std::string& scope, std::string x, int64_t channels,
                     int64_t kernel, const Dims& dilations)
{
    for (const int64_t dilation : dilations) {
        const std::string here = scope + "/rate" + std::to_string(dilation);
        const std::string y = activation(b, here, x, Activation::LeakyRelu);
        x = b.node("Add", here,
                   {b.conv(here, y, rowSpec(channels, channels, kernel, dilation)), x});
    }
    return x;
}

/// Reads the past only: padded before, dilated.
std::string causal(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                   int64_t outputs, int64_t dilation)
{
    ConvSpec spec = rowSpec(inputs, outputs, 7, dilation);
    spec.pads = {6 * dilation, 0};
    return b.relu(scope, b.conv(scope, x, spec));
}

std::string pointLayer(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, int64_t outputs)
{
    ConvSpec spec = rowSpec(inputs, outputs, 1);
    return convBn(b, scope, x, spec, Activation::Relu);
}

/// A matrix by which points turn, learnt from all of them.
std::string pointTransform(ModelBuilder& b, const std::string& scope, std::string x, int64_t width,
                           const ZooOptions& options)
{
    const Dims widths = {width, b.channels(64), b.channels(128), b.channels(1024)};
    for (size_t i = 0; i + 1 < widths.size(); ++i)
        x = pointLayer(b, scope + "/" + std::to_string(i), x, widths[i], widths[i + 1]);
    x = b.node("ReduceMax", scope, {x}, {{"axes", Dims{2}}, {"keepdims", int64_t{0}}});
    x = b.relu(scope + "/fc", b.dense(scope + "/fc", x, widths.back(), b.channels(256)));
    x = b.dense(scope + "/matrix", x, b.channels(256), width * width);
    return reshape(b, scope + "/matrix", x, {options.batch, width, width});
}

/// [batch, width, points] by the matrix of each item.
std::string turned(ModelBuilder& b, const std::string& scope, const std::string& x,
                   const std::string& matrix)
{
    const std::string rows = transpose(b, scope + "/rows", x, {0, 2, 1});
    return transpose(b, scope, b.node("MatMul", scope, {rows, matrix}), {0, 2, 1});
}

} // namespace

std::string makeWav2vecFrontEnd(const ZooOptions& options)
{
    constexpr int64_t kKernels[] = {10, 3, 3, 3, 3, 2, 2}, kStrides[] = {5, 2, 2, 2, 2, 2, 2};
    ModelBuilder b("wav2vec_front", options);
    const int64_t width = b.channels(512);
    std::string x = b.input("samples", TensorProto::FLOAT, {options.batch, 1, 16000});
    for (size_t i = 0; i < std::size(kKernels); ++i) {
        const std::string scope = "/conv" + std::to_string(i);
        x = b.conv(scope, x,
                   {.inputs = i == 0 ? 1 : width,
                    .outputs = width,
                    .kernel = {kKernels[i]},
                    .stride = kStrides[i],
                    .pads = {0, 0}});
        if (i == 0) // a group of each channel
            x = b.node(
                "InstanceNormalization", scope,
                {x, b.weight("norm.weight", {width}, 0.1, 1), b.weight("norm.bias", {width}, 0.1)},
                {{"epsilon", 1e-5f}});
        x = activation(b, scope + "/gelu", x, Activation::Gelu);
    }
    b.output(x, "features", {options.batch, width, 49});
    return b.bytes();
}

std::string makeHifigan(const ZooOptions& options)
{
    constexpr int64_t kFrames = 32, kRates[] = {8, 8, 4}, kKernels[] = {16, 16, 8};
    ModelBuilder b("hifigan_v3", options);
    int64_t channels = b.channels(256);
    std::string x = b.input("mel", TensorProto::FLOAT, {options.batch, 80, kFrames});
    x = b.conv("/pre", x, rowSpec(80, channels, 7));
    for (size_t i = 0; i < std::size(kRates); ++i) {
        const std::string scope = "/up" + std::to_string(i);
        x = activation(b, scope, x, Activation::LeakyRelu);
        x = convTranspose(b, scope, x,
                          {.inputs = channels,
                           .outputs = channels / 2,
                           .kernel = kKernels[i],
                           .stride = kRates[i],
                           .pad = (kKernels[i] - kRates[i]) / 2,
                           .hasBias = true,
                           .rank = 1});
        channels /= 2;
        const std::string three = residual(b, scope + "/k3", x, channels, 3, {1, 2});
        const std::string five = residual(b, scope + "/k5", x, channels, 5, {2, 6});
        const std::string seven = residual(b, scope + "/k7", x, channels, 7, {3, 12});
        x = b.node("Add", scope + "/sum1", {b.node("Add", scope + "/sum0", {three, five}), seven});
        x = b.node("Div", scope, {x, b.scalar(b.parameter(scope, "count"), 3)});
    }
    x = activation(b, "/post", x, Activation::LeakyRelu);
    x = b.node("Tanh", "/tanh", {b.conv("/post", x, rowSpec(channels, 1, 7))});
    b.output(x, "samples", {options.batch, 1, kFrames * 256});
    return b.bytes();
}

std::string makeTcn(const ZooOptions& options)
{
    constexpr int64_t kLength = 784, kLevels = 8; // an image pixel by pixel
    ModelBuilder b("tcn", options);
    const int64_t width = b.channels(25);
    std::string x = b.input("sequence", TensorProto::FLOAT, {options.batch, 1, kLength});
    int64_t channels = 1;
    for (int64_t level = 0; level < kLevels; ++level) {
        const std::string scope = "/level" + std::to_string(level);
        const int64_t dilation = int64_t{1} << level;
        const std::string y = causal(b, scope + "/0", x, channels, width, dilation);
        const std::string z = causal(b, scope + "/1", y, width, width, dilation);
        if (channels != width) x = b.conv(scope + "/shortcut", x, rowSpec(channels, width, 1));
        x = b.relu(scope, b.node("Add", scope, {z, x}));
        channels = width;
    }
    x = b.node("Gather", "/last", {x, b.integer("last.index", kLength - 1)},
               {{"axis", int64_t{2}}});
    b.output(b.dense("/classifier", x, width, 10), "output", {options.batch, 10});
    return b.bytes();
}

std::string makePointnet(const ZooOptions& options)
{
    constexpr int64_t kPoints = 1024, kClasses = 40;
    ModelBuilder b("pointnet", options);
    const int64_t first = b.channels(64), middle = b.channels(128), wide = b.channels(1024);
    std::string x = b.input("points", TensorProto::FLOAT, {options.batch, 3, kPoints});
    x = turned(b, "/turned", x, pointTransform(b, "/input_transform", x, 3, options));
    x = pointLayer(b, "/conv1", x, 3, first);
    x = turned(b, "/features", x, pointTransform(b, "/feature_transform", x, first, options));
    x = pointLayer(b, "/conv2", x, first, middle);
    x = pointLayer(b, "/conv3", x, middle, wide);
    x = b.node("ReduceMax", "/max", {x}, {{"axes", Dims{2}}, {"keepdims", int64_t{0}}});
    x = b.relu("/fc1", b.dense("/fc1", x, wide, b.channels(512)));
    x = b.relu("/fc2", b.dense("/fc2", x, b.channels(512), b.channels(256)));
    b.output(b.dense("/fc3", x, b.channels(256), kClasses), "output", {options.batch, kClasses});
    return b.bytes();
}

} // namespace tenon::test
