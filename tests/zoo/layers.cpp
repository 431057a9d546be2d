// SPDX-License-Identifier: Apache-2.0
// Layers that many architectures of the zoo share.
#include "tests/zoo/layers.h"

#include <cmath>

namespace tenon::test {
namespace {

std::string gelu(ModelBuilder& b, const std::string& scope, const std::string& x)
{
    const std::string root = b.scalar(b.parameter(scope, "sqrt2"), std::sqrt(2.0f));
    const std::string erf = b.node("Erf", scope, {b.node("Div", scope, {x, root})});
    const std::string one = b.scalar(b.parameter(scope, "one"), 1);
    const std::string product = b.node("Mul", scope, {x, b.node("Add", scope, {erf, one})});
    const std::string half = b.scalar(b.parameter(scope, "half"), 0.5f);
    return b.node("Mul", scope + "/half", {product, half});
}

/// The 6 as the opset has it: an operator since 14, before that a product.
std::string hardSwish(ModelBuilder& b, const std::string& scope, const std::string& x)
{
    const std::string gate =
        b.node("HardSigmoid", scope, {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
    return b.node("Mul", scope, {x, gate});
}

} // namespace

std::string activation(ModelBuilder& b, const std::string& scope, const std::string& x,
                       Activation kind)
{
    switch (kind) {
    case Activation::None: return x;
    case Activation::Elu: return b.node("Elu", scope, {x}, {{"alpha", 1.0f}});
    case Activation::Gelu: return gelu(b, scope, x);
    case Activation::HardSwish: return hardSwish(b, scope, x);
    case Activation::LeakyRelu: return b.node("LeakyRelu", scope, {x}, {{"alpha", 0.1f}});
    case Activation::Relu: return b.relu(scope, x);
    case Activation::Relu6: return b.relu6(scope, x);
    case Activation::Silu: return b.node("Mul", scope, {x, b.node("Sigmoid", scope, {x})});
    }
    return x;
}

std::string convBn(ModelBuilder& b, const std::string& scope, const std::string& x,
                   const ConvSpec& spec, Activation kind)
{
    const std::string y = b.conv(scope + "/0", x, spec);
    return activation(b, scope + "/2", b.batchNorm(scope + "/1", y, spec.outputs), kind);
}

ConvSpec depthwiseSpec(int64_t channels, int64_t kernel, int64_t stride, int64_t dilation)
{
    return {.inputs = channels,
            .outputs = channels,
            .kernel = {kernel, kernel},
            .stride = stride,
            .groups = channels,
            .dilation = dilation};
}

std::string convTranspose(ModelBuilder& b, const std::string& scope, const std::string& x,
                          const TransposedSpec& spec)
{
    Dims shape = {spec.inputs, spec.outputs / spec.groups};
    double terms = static_cast<double>(spec.inputs / spec.groups); // that a result sums up
    for (size_t axis = 0; axis < spec.rank; ++axis) {
        shape.push_back(spec.kernel);
        terms *= static_cast<double>(spec.kernel) / static_cast<double>(spec.stride);
    }
    std::vector<std::string> inputs = {
        x, b.weight(b.parameter(scope, "weight"), shape, std::sqrt(2.0 / std::max(terms, 1.0)))};
    if (spec.hasBias) inputs.push_back(b.weight(b.parameter(scope, "bias"), {spec.outputs}, 0.1));
    return b.node("ConvTranspose", scope, inputs,
                  {{"dilations", Dims(spec.rank, 1)},
                   {"group", spec.groups},
                   {"kernel_shape", Dims(spec.rank, spec.kernel)},
                   {"output_padding", Dims(spec.rank, spec.outputPad)},
                   {"pads", Dims(2 * spec.rank, spec.pad)},
                   {"strides", Dims(spec.rank, spec.stride)}});
}

std::string linear(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                   int64_t outputs)
{
    const double deviation = std::sqrt(1.0 / static_cast<double>(inputs));
    const std::string weight = b.weight(b.parameter(scope, "weight"), {inputs, outputs}, deviation);
    const std::string bias = b.weight(b.parameter(scope, "bias"), {outputs}, 0.1);
    return b.node("Add", scope, {bias, b.node("MatMul", scope, {x, weight})});
}

std::string layerNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t width)
{
    return b.node("LayerNormalization", scope,
                  {x, b.weight(b.parameter(scope, "weight"), {width}, 0.1, 1),
                   b.weight(b.parameter(scope, "bias"), {width}, 0.1)},
                  {{"axis", int64_t{-1}}, {"epsilon", 1e-5f}});
}

std::string reshape(ModelBuilder& b, const std::string& scope, const std::string& x,
                    const Dims& shape)
{
    return b.node("Reshape", scope, {x, b.integers(b.parameter(scope, "shape"), shape)});
}

std::string transpose(ModelBuilder& b, const std::string& scope, const std::string& x,
                      const Dims& order)
{
    return b.node("Transpose", scope, {x}, {{"perm", order}});
}

std::string concat(ModelBuilder& b, const std::string& scope, const std::vector<std::string>& parts,
                   int64_t axis)
{
    return b.node("Concat", scope, parts, {{"axis", axis}});
}

std::vector<std::string> split(ModelBuilder& b, const std::string& scope, const std::string& x,
                               const Dims& sizes, int64_t axis)
{
    return b.nodes("Split", scope, {x, b.integers(b.parameter(scope, "sizes"), sizes)},
                   {{"axis", axis}}, static_cast<int>(sizes.size()));
}

std::string maxPool(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t kernel,
                    int64_t stride, int64_t pad)
{
    return b.node(
        "MaxPool", scope, {x},
        {{"kernel_shape", Dims(2, kernel)}, {"pads", Dims(4, pad)}, {"strides", Dims(2, stride)}});
}

std::string upsample(ModelBuilder& b, const std::string& scope, const std::string& x, float factor,
                     const std::string& mode)
{
    const std::string scales = b.floats(b.parameter(scope, "scales"), {1, 1, factor, factor});
    const bool isNearest = mode == "nearest";
    return b.node(
        "Resize", scope, {x, "", scales},
        {{"coordinate_transformation_mode", std::string(isNearest ? "asymmetric" : "half_pixel")},
         {"mode", mode},
         {"nearest_mode", std::string("floor")}});
}

std::string squeezeExcite(ModelBuilder& b, const std::string& scope, const std::string& x,
                          const SqueezeSpec& spec)
{
    std::string y = b.node("GlobalAveragePool", scope + "/avgpool", {x});
    y = b.conv(
        scope + "/fc1", y,
        {.inputs = spec.channels, .outputs = spec.squeezed, .kernel = {1, 1}, .hasBias = true});
    y = activation(b, scope + "/activation", y, spec.inner);
    y = b.conv(
        scope + "/fc2", y,
        {.inputs = spec.squeezed, .outputs = spec.channels, .kernel = {1, 1}, .hasBias = true});
    y = spec.isHard ? b.node("HardSigmoid", scope, {y}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}})
                    : b.node("Sigmoid", scope, {y});
    return b.node("Mul", scope, {y, x});
}

std::string attend(ModelBuilder& b, const std::string& scope, const std::vector<std::string>& qkv,
                   int64_t headSize, const std::string& mask)
{
    const float scale = 1 / std::sqrt(static_cast<float>(headSize));
    const std::string key = transpose(b, scope + "/turned", qkv[1], {0, 1, 3, 2});
    std::string scores = b.node("MatMul", scope + "/scores", {qkv[0], key});
    scores = b.node("Mul", scope, {scores, b.scalar(b.parameter(scope, "scale"), scale)});
    if (!mask.empty()) scores = b.node("Add", scope + "/mask", {scores, mask});
    const std::string weights = b.node("Softmax", scope, {scores}, {{"axis", int64_t{-1}}});
    return b.node("MatMul", scope + "/mix", {weights, qkv[2]});
}

std::string selfAttention(ModelBuilder& b, const std::string& scope, const std::string& x,
                          const AttentionSpec& spec)
{
    const int64_t head = spec.width / spec.heads;
    std::vector<std::string> qkv;
    for (const char* name : {"query", "key", "value"}) {
        const std::string here = scope + "/" + name;
        const std::string y = linear(b, here, x, spec.width, spec.width);
        qkv.push_back(transpose(b, here,
                                reshape(b, here, y, {spec.batch, spec.length, spec.heads, head}),
                                {0, 2, 1, 3}));
    }
    std::string y = attend(b, scope, qkv, head, spec.mask);
    y = reshape(b, scope + "/merge", transpose(b, scope + "/merge", y, {0, 2, 1, 3}),
                {spec.batch, spec.length, spec.width});
    return linear(b, scope + "/output", y, spec.width, spec.width);
}

} // namespace tenon::test
