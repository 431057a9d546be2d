// SPDX-License-Identifier: Apache-2.0
// EfficientFormer-L1: mixes by average pools and pointwise convolutions, and one layer of attention
// with a bias per place at the end.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string scaledSum(ModelBuilder& b, const std::string& scope, const std::string& x,
                      const std::string& y, const Dims& scale)
{
    const std::string factor = b.weight(b.parameter(scope, "scale"), scale, 0.05, 0.3);
    return b.node("Add", scope, {x, b.node("Mul", scope, {factor, y})});
}

std::string poolBlock(ModelBuilder& b, const std::string& scope, std::string x, int64_t channels)
{
    const std::string mean = b.node("AveragePool", scope, {x},
                                    {{"count_include_pad", int64_t{0}},
                                     {"kernel_shape", Dims{3, 3}},
                                     {"pads", Dims{1, 1, 1, 1}},
                                     {"strides", Dims{1, 1}}});
    x = scaledSum(b, scope + "/1", x, b.node("Sub", scope, {mean, x}), {channels, 1, 1});
    std::string y =
        convBn(b, scope + "/up", x, {.inputs = channels, .outputs = 4 * channels, .kernel = {1, 1}},
               Activation::Gelu);
    y = convBn(b, scope + "/down", y,
               {.inputs = 4 * channels, .outputs = channels, .kernel = {1, 1}});
    return scaledSum(b, scope + "/2", x, y, {channels, 1, 1});
}

/// Attention of 8 heads whose keys have 32 columns, values four times as many; a bias per pair.
std::string attentionBlock(ModelBuilder& b, const std::string& scope, std::string x,
                           int64_t channels, int64_t batch, int64_t pixels)
{
    constexpr int64_t kHeads = 8;
    const int64_t key = b.channels(32), value = 4 * key, width = kHeads * (2 * key + value);
    std::string y = layerNorm(b, scope + "/norm1", x, channels);
    y = reshape(b, scope + "/qkv", linear(b, scope + "/qkv", y, channels, width),
                {batch, pixels, kHeads, 2 * key + value});
    y = transpose(b, scope + "/qkv", y, {0, 2, 1, 3});
    const auto qkv = split(b, scope, y, {key, key, value}, 3);
    const std::string bias = b.weight(b.parameter(scope, "bias"), {1, kHeads, pixels, pixels}, 0.3);
    y = attend(b, scope, qkv, key, bias);
    y = reshape(b, scope + "/merge", transpose(b, scope + "/merge", y, {0, 2, 1, 3}),
                {batch, pixels, kHeads * value});
    x = scaledSum(b, scope + "/1", x, linear(b, scope + "/proj", y, kHeads * value, channels),
                  {channels});
    y = linear(b, scope + "/up", layerNorm(b, scope + "/norm2", x, channels), channels,
               4 * channels);
    y = linear(b, scope + "/down", activation(b, scope + "/gelu", y, Activation::Gelu),
               4 * channels, channels);
    return scaledSum(b, scope + "/2", x, y, {channels});
}

} // namespace

std::string makeEfficientformer(const ZooOptions& options)
{
    constexpr int64_t kDepths[] = {3, 2, 6, 3}, kWidths[] = {48, 96, 224, 448};
    ModelBuilder b("efficientformer_l1", options, 17);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(24);
    x = convBn(b, "/stem1", x, {.inputs = 3, .outputs = channels, .stride = 2}, Activation::Relu);
    for (int64_t stage = 0; stage < 4; ++stage) {
        const std::string scope = "/stage" + std::to_string(stage);
        const int64_t outputs = b.channels(kWidths[stage]);
        x = convBn(b, scope + "/down", x, {.inputs = channels, .outputs = outputs, .stride = 2},
                   stage == 0 ? Activation::Relu : Activation::None);
        channels = outputs;
        const int64_t poolBlocks = stage == 3 ? kDepths[stage] - 1 : kDepths[stage];
        for (int64_t i = 0; i < poolBlocks; ++i)
            x = poolBlock(b, scope + "/" + std::to_string(i), x, channels);
    }
    const int64_t pixels = ((size + 31) / 32) * ((size + 31) / 32);
    x = transpose(b, "/tokens", reshape(b, "/tokens", x, {options.batch, channels, pixels}),
                  {0, 2, 1});
    x = attentionBlock(b, "/attention", x, channels, options.batch, pixels);
    x = layerNorm(b, "/norm", x, channels);
    x = b.node("ReduceMean", "/mean", {x}, {{"axes", Dims{1}}, {"keepdims", int64_t{0}}});
    b.output(b.dense("/fc", x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
