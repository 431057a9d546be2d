// SPDX-License-Identifier: Apache-2.0
// Encoders beside BERT's: TinyBERT of 312 columns for eight texts at once, T5-Small's with a bias
// per distance and no means, Whisper-Tiny's behind its two convolutions.
#include "tests/zoo/layers.h"

#include <cmath>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string feedForward(ModelBuilder& b, const std::string& scope, const std::string& x,
                        int64_t width, int64_t hidden)
{
    const std::string y =
        activation(b, scope, linear(b, scope + "/up", x, width, hidden), Activation::Gelu);
    return linear(b, scope + "/down", y, hidden, width);
}

/// Normalized behind each addition.
std::string postNormLayer(ModelBuilder& b, const std::string& scope, std::string x,
                          const AttentionSpec& spec, int64_t hidden)
{
    x = b.node("Add", scope + "/1", {x, selfAttention(b, scope + "/attention", x, spec)});
    x = layerNorm(b, scope + "/norm1", x, spec.width);
    x = b.node("Add", scope + "/2", {x, feedForward(b, scope + "/mlp", x, spec.width, hidden)});
    return layerNorm(b, scope + "/norm2", x, spec.width);
}

/// Normalized before what is added.
std::string preNormLayer(ModelBuilder& b, const std::string& scope, std::string x,
                         const AttentionSpec& spec, int64_t hidden)
{
    const std::string y = layerNorm(b, scope + "/norm1", x, spec.width);
    x = b.node("Add", scope + "/1", {x, selfAttention(b, scope + "/attention", y, spec)});
    const std::string z = layerNorm(b, scope + "/norm2", x, spec.width);
    return b.node("Add", scope + "/2", {x, feedForward(b, scope + "/mlp", z, spec.width, hidden)});
}

/// x / sqrt(mean x^2), weighed.
std::string rootMeanSquareNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                               int64_t width)
{
    const std::string square = b.node("Pow", scope, {x, b.scalar(b.parameter(scope, "two"), 2)});
    const std::string mean =
        b.node("ReduceMean", scope, {square}, {{"axes", Dims{-1}}, {"keepdims", int64_t{1}}});
    const std::string shifted =
        b.node("Add", scope, {mean, b.scalar(b.parameter(scope, "epsilon"), 1e-6f)});
    const std::string inverse = b.node(
        "Div", scope, {b.scalar(b.parameter(scope, "one"), 1), b.node("Sqrt", scope, {shifted})});
    return b.node("Mul", scope + "/weighed",
                  {b.weight(b.parameter(scope, "weight"), {width}, 0.1, 1),
                   b.node("Mul", scope, {x, inverse})});
}

std::string unbiased(ModelBuilder& b, const std::string& scope, const std::string& x,
                     int64_t inputs, int64_t outputs)
{
    const double deviation = std::sqrt(1.0 / static_cast<double>(inputs));
    return b.node("MatMul", scope,
                  {x, b.weight(b.parameter(scope, "weight"), {inputs, outputs}, deviation)});
}

/// Softmax(query key^T + bias) value: T5 does not scale.
std::string biasedAttention(ModelBuilder& b, const std::string& scope, const std::string& x,
                            const AttentionSpec& spec, const std::string& bias)
{
    std::vector<std::string> qkv;
    for (const char* name : {"q", "k", "v"}) {
        const std::string here = scope + "/" + name;
        const std::string y = unbiased(b, here, x, spec.width, spec.width);
        const bool isKey = std::string(name) == "k";
        qkv.push_back(transpose(
            b, here,
            reshape(b, here, y, {spec.batch, spec.length, spec.heads, spec.width / spec.heads}),
            isKey ? Dims{0, 2, 3, 1} : Dims{0, 2, 1, 3}));
    }
    const std::string scores =
        b.node("Add", scope, {b.node("MatMul", scope + "/scores", {qkv[0], qkv[1]}), bias});
    const std::string weights = b.node("Softmax", scope, {scores}, {{"axis", int64_t{-1}}});
    std::string y = b.node("MatMul", scope + "/mix", {weights, qkv[2]});
    y = reshape(b, scope + "/merge", transpose(b, scope + "/merge", y, {0, 2, 1, 3}),
                {spec.batch, spec.length, spec.width});
    return unbiased(b, scope + "/o", y, spec.width, spec.width);
}

} // namespace

std::string makeTinyBert(const ZooOptions& options)
{
    constexpr int64_t kLayers = 4, kHeads = 12, kLength = 64, kTokens = 30522, kTexts = 8;
    ModelBuilder b("tinybert_4l_batch8", options, 17);
    const int64_t texts = options.batch == 1 ? kTexts : options.batch;
    const int64_t width = kHeads * std::max<int64_t>(1, 26 / options.channelDivisor);
    const int64_t tokens = kTokens / options.channelDivisor;
    const std::string ids = b.input("input_ids", TensorProto::INT64, {texts, kLength});
    const std::string kept = b.input("mask", TensorProto::INT64, {texts, kLength});
    const std::string real = b.node("Cast", "/mask", {kept}, {{"to", int64_t{TensorProto::FLOAT}}});
    const std::string spread =
        b.node("Unsqueeze", "/mask", {real, b.integers("mask.axes", {1, 2})});
    const std::string mask = b.node(
        "Mul", "/mask",
        {b.node("Sub", "/mask", {b.scalar("mask.one", 1), spread}), b.scalar("mask.low", -1e4f)});
    std::string x =
        b.node("Gather", "/embedding", {b.weight("embedding.weight", {tokens, width}, 0.5), ids});
    x = b.node("Add", "/positions", {x, b.weight("positions.weight", {kLength, width}, 0.2)});
    x = layerNorm(b, "/norm", x, width);
    for (int64_t i = 0; i < kLayers; ++i)
        x = postNormLayer(
            b, "/layer" + std::to_string(i), x,
            {.batch = texts, .length = kLength, .width = width, .heads = kHeads, .mask = mask},
            b.channels(1200));
    b.output(x, "hidden", {texts, kLength, width});
    return b.bytes();
}

std::string makeT5Encoder(const ZooOptions& options)
{
    constexpr int64_t kLayers = 6, kHeads = 8, kLength = 64, kTokens = 4000;
    ModelBuilder b("t5_small_encoder", options);
    const int64_t width = kHeads * b.channels(64), hidden = b.channels(2048);
    const std::string ids = b.input("input_ids", TensorProto::INT64, {options.batch, kLength});
    std::string x =
        b.node("Gather", "/embedding", {b.weight("embedding.weight", {kTokens, width}, 1), ids});
    const std::string bias = b.weight("relative.bias", {1, kHeads, kLength, kLength}, 0.5);
    for (int64_t i = 0; i < kLayers; ++i) {
        const std::string scope = "/block" + std::to_string(i);
        const std::string y = rootMeanSquareNorm(b, scope + "/norm1", x, width);
        x = b.node("Add", scope + "/1",
                   {x, biasedAttention(b, scope + "/attention", y,
                                       {options.batch, kLength, width, kHeads}, bias)});
        std::string z = rootMeanSquareNorm(b, scope + "/norm2", x, width);
        z = b.relu(scope, unbiased(b, scope + "/wi", z, width, hidden));
        x = b.node("Add", scope + "/2", {x, unbiased(b, scope + "/wo", z, hidden, width)});
    }
    b.output(rootMeanSquareNorm(b, "/norm", x, width), "hidden", {options.batch, kLength, width});
    return b.bytes();
}

std::string makeWhisperEncoder(const ZooOptions& options)
{
    constexpr int64_t kLayers = 4, kHeads = 6, kFrames = 600, kBands = 80;
    ModelBuilder b("whisper_tiny_encoder", options, 17);
    const int64_t width = kHeads * b.channels(64);
    std::string x = b.input("mel", TensorProto::FLOAT, {options.batch, kBands, kFrames});
    x = b.conv("/conv1", x, {.inputs = kBands, .outputs = width, .kernel = {3}, .hasBias = true});
    x = activation(b, "/conv1", x, Activation::Gelu);
    x = b.conv("/conv2", x,
               {.inputs = width, .outputs = width, .kernel = {3}, .stride = 2, .hasBias = true});
    x = transpose(b, "/turned", activation(b, "/conv2", x, Activation::Gelu), {0, 2, 1});
    x = b.node("Add", "/positions", {x, b.weight("positions.weight", {kFrames / 2, width}, 0.2)});
    for (int64_t i = 0; i < kLayers; ++i)
        x = preNormLayer(b, "/layer" + std::to_string(i), x,
                         {options.batch, kFrames / 2, width, kHeads}, 4 * width);
    b.output(layerNorm(b, "/norm", x, width), "hidden", {options.batch, kFrames / 2, width});
    return b.bytes();
}

} // namespace tenon::test
