// SPDX-License-Identifier: Apache-2.0
// MixNet-S: depthwise kernels of 3 to 11 side by side on parts of the channels, squeeze and excite.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Row
{
    int64_t outputs;
    int64_t expansion;
    int64_t stride;
    int64_t kernels; ///< 3, 5, 7, ...
    int64_t squeeze; ///< 0: none, otherwise a divisor
    Activation kind;
};

std::string mixed(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t channels,
                  const Row& row)
{
    if (row.kernels == 1) return b.conv(scope, x, depthwiseSpec(channels, 3, row.stride));
    Dims sizes(static_cast<size_t>(row.kernels), channels / row.kernels);
    sizes[0] += channels % row.kernels;
    const auto parts = split(b, scope, x, sizes);
    std::vector<std::string> made;
    for (size_t i = 0; i < parts.size(); ++i)
        made.push_back(
            b.conv(scope + "/" + std::to_string(i), parts[i],
                   depthwiseSpec(sizes[i], 3 + 2 * static_cast<int64_t>(i), row.stride)));
    return concat(b, scope, made);
}

std::string block(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                  const Row& row)
{
    const int64_t hidden = inputs * row.expansion, outputs = b.channels(row.outputs);
    std::string y = x;
    if (row.expansion > 1)
        y = convBn(b, scope + "/expand", y, {.inputs = inputs, .outputs = hidden, .kernel = {1, 1}},
                   row.kind);
    y = b.batchNorm(scope + "/bn", mixed(b, scope + "/mix", y, hidden, row), hidden);
    y = activation(b, scope + "/act", y, row.kind);
    if (row.squeeze > 0)
        y = squeezeExcite(b, scope + "/se", y,
                          {.channels = hidden,
                           .squeezed = std::max<int64_t>(1, inputs / row.squeeze),
                           .inner = Activation::Silu});
    y = convBn(b, scope + "/project", y, {.inputs = hidden, .outputs = outputs, .kernel = {1, 1}});
    const bool isResidual = row.stride == 1 && inputs == outputs;
    return isResidual ? b.node("Add", scope, {x, y}) : y;
}

} // namespace

std::string makeMixnet(const ZooOptions& options)
{
    constexpr auto kRelu = Activation::Relu, kSilu = Activation::Silu;
    constexpr Row kRows[] = {
        {16, 1, 1, 1, 0, kRelu},  {24, 6, 2, 1, 0, kRelu},  {24, 3, 1, 1, 0, kRelu},
        {40, 6, 2, 3, 2, kSilu},  {40, 6, 1, 2, 2, kSilu},  {40, 6, 1, 2, 2, kSilu},
        {40, 6, 1, 2, 2, kSilu},  {80, 6, 2, 3, 4, kSilu},  {80, 6, 1, 2, 4, kSilu},
        {80, 6, 1, 2, 4, kSilu},  {120, 6, 1, 3, 2, kSilu}, {120, 3, 1, 4, 2, kSilu},
        {120, 3, 1, 4, 2, kSilu}, {200, 6, 2, 5, 2, kSilu}, {200, 6, 1, 4, 2, kSilu},
        {200, 6, 1, 4, 2, kSilu}};
    ModelBuilder b("mixnet_s", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(16);
    x = convBn(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2}, kRelu);
    int index = 0;
    for (const Row& row : kRows) {
        x = block(b, "/block" + std::to_string(index++), x, channels, row);
        channels = b.channels(row.outputs);
    }
    x = convBn(b, "/head", x, {.inputs = channels, .outputs = b.channels(1536), .kernel = {1, 1}},
               kRelu);
    b.output(b.classifier(x, b.channels(1536), 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
