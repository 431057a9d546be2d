// SPDX-License-Identifier: Apache-2.0
// ConvNeXt-T: depthwise 7x7, layer normalization over channels, two dense layers with GELU.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

const Dims kLast = {0, 2, 3, 1}, kSecond = {0, 3, 1, 2}; ///< where channels go

/// Of an image's channels, which go last for it and come back.
std::string imageNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t channels)
{
    const std::string y = layerNorm(b, scope, transpose(b, scope + "/to", x, kLast), channels);
    return transpose(b, scope + "/back", y, kSecond);
}

std::string block(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t channels)
{
    ConvSpec spec = depthwiseSpec(channels, 7, 1);
    spec.hasBias = true;
    std::string y = transpose(b, scope + "/to", b.conv(scope + "/dwconv", x, spec), kLast);
    y = linear(b, scope + "/up", layerNorm(b, scope + "/norm", y, channels), channels,
               4 * channels);
    y = linear(b, scope + "/down", activation(b, scope + "/gelu", y, Activation::Gelu),
               4 * channels, channels);
    y = transpose(b, scope + "/back", y, kSecond);
    const std::string scale =
        b.weight(b.parameter(scope, "layer_scale"), {channels, 1, 1}, 0.05, 0.2);
    return b.node("Add", scope, {b.node("Mul", scope, {scale, y}), x});
}

} // namespace

std::string makeConvnextTiny(const ZooOptions& options)
{
    constexpr int64_t kDepths[] = {3, 3, 9, 3};
    ModelBuilder b("convnext_tiny", options, 17);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = 3;
    for (int64_t stage = 0; stage < 4; ++stage) {
        const std::string scope = "/stage" + std::to_string(stage);
        const int64_t outputs = b.channels(96 << stage), step = stage == 0 ? 4 : 2;
        if (stage > 0) x = imageNorm(b, scope + "/norm", x, channels);
        x = b.conv(scope + "/down", x,
                   {.inputs = channels,
                    .outputs = outputs,
                    .kernel = {step, step},
                    .stride = step,
                    .pads = {0, 0, 0, 0},
                    .hasBias = true});
        channels = outputs;
        if (stage == 0) x = imageNorm(b, scope + "/norm", x, channels);
        for (int64_t i = 0; i < kDepths[stage]; ++i)
            x = block(b, scope + "/" + std::to_string(i), x, channels);
    }
    x = imageNorm(b, "/norm", b.node("GlobalAveragePool", "/avgpool", {x}), channels);
    x = b.node("Flatten", "/flatten", {x}, {{"axis", int64_t{1}}});
    b.output(b.dense("/fc", x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
