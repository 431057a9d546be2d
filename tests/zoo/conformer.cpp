// SPDX-License-Identifier: Apache-2.0
// Conformer S: attention and a gated depthwise convolution between two halves of a feed-forward.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

/// Half of a feed-forward layer, added.
std::string halfStep(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t width)
{
    std::string y =
        linear(b, scope + "/up", layerNorm(b, scope + "/norm", x, width), width, 4 * width);
    y = linear(b, scope + "/down", activation(b, scope + "/silu", y, Activation::Silu), 4 * width,
               width);
    y = b.node("Mul", scope, {y, b.scalar(b.parameter(scope, "half"), 0.5f)});
    return b.node("Add", scope, {x, y});
}

/// [batch, length, width]: pointwise with gates, depthwise of 31, pointwise.
std::string convolution(ModelBuilder& b, const std::string& scope, const std::string& x,
                        int64_t width)
{
    const auto row = [](int64_t inputs, int64_t outputs, int64_t kernel, int64_t groups) {
        return ConvSpec{.inputs = inputs,
                        .outputs = outputs,
                        .kernel = {kernel},
                        .groups = groups,
                        .hasBias = true};
    };
    std::string y = transpose(b, scope + "/to", layerNorm(b, scope + "/norm", x, width), {0, 2, 1});
    y = b.conv(scope + "/pointwise1", y, row(width, 2 * width, 1, 1));
    const auto halves = split(b, scope, y, {width, width});
    y = b.node("Mul", scope, {halves[0], b.node("Sigmoid", scope, {halves[1]})});
    y = convBn(b, scope + "/depthwise", y, row(width, width, 31, width), Activation::Silu);
    y = b.conv(scope + "/pointwise2", y, row(width, width, 1, 1));
    return b.node("Add", scope, {x, transpose(b, scope + "/back", y, {0, 2, 1})});
}

} // namespace

std::string makeConformer(const ZooOptions& options)
{
    constexpr int64_t kFrames = 512, kMels = 80, kHeads = 4, kLayers = 16;
    ModelBuilder b("conformer_s", options, 17);
    const int64_t width = kHeads * b.channels(36), length = kFrames / 4, rows = kMels / 4;
    std::string x = b.input("mel", TensorProto::FLOAT, {options.batch, 1, kFrames, kMels});
    for (int i = 0; i < 2; ++i) {
        const std::string scope = "/subsampling/" + std::to_string(i);
        x = b.relu(
            scope,
            b.conv(scope, x,
                   {.inputs = i == 0 ? 1 : width, .outputs = width, .stride = 2, .hasBias = true}));
    }
    x = reshape(b, "/subsampling", transpose(b, "/subsampling", x, {0, 2, 1, 3}),
                {options.batch, length, width * rows});
    x = linear(b, "/project", x, width * rows, width);
    for (int64_t layer = 0; layer < kLayers; ++layer) {
        const std::string scope = "/layers/" + std::to_string(layer);
        x = halfStep(b, scope + "/before", x, width);
        const std::string y = selfAttention(
            b, scope + "/attention", layerNorm(b, scope + "/norm1", x, width),
            {.batch = options.batch, .length = length, .width = width, .heads = kHeads});
        x = convolution(b, scope + "/conv", b.node("Add", scope, {x, y}), width);
        x = layerNorm(b, scope + "/norm2", halfStep(b, scope + "/after", x, width), width);
    }
    b.output(x, "encoded", {options.batch, length, width});
    return b.bytes();
}

} // namespace tenon::test
