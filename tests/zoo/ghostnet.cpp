// SPDX-License-Identifier: Apache-2.0
// GhostNet 1.0: half of the channels are computed, the other half are depthwise ghosts of them.
#include "tests/zoo/layers.h"

#include <algorithm>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Row
{
    int64_t kernel;
    int64_t inside; ///< published, as `outputs`
    int64_t outputs;
    bool isWeighed;
    int64_t stride;
};

constexpr Row kRows[] = {
    {3, 16, 16, false, 1},   {3, 48, 24, false, 2},  {3, 72, 24, false, 1},
    {5, 72, 40, true, 2},    {5, 120, 40, true, 1},  {3, 240, 80, false, 2},
    {3, 200, 80, false, 1},  {3, 184, 80, false, 1}, {3, 184, 80, false, 1},
    {3, 480, 112, true, 1},  {3, 672, 112, true, 1}, {5, 672, 160, true, 2},
    {5, 960, 160, false, 1}, {5, 960, 160, true, 1}, {5, 960, 160, false, 1},
    {5, 960, 160, true, 1},
};

/// An even number of channels.
int64_t evenChannels(const ModelBuilder& b, int64_t published)
{
    return 2 * b.channels(published / 2);
}

std::string ghost(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                  int64_t outputs, Activation kind)
{
    const int64_t half = outputs / 2;
    const std::string primary = convBn(b, scope + "/primary", x,
                                       {.inputs = inputs, .outputs = half, .kernel = {1, 1}}, kind);
    return concat(b, scope,
                  {primary, convBn(b, scope + "/cheap", primary, depthwiseSpec(half, 3, 1), kind)});
}

std::string bottleneck(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, const Row& row)
{
    const int64_t inside = evenChannels(b, row.inside), outputs = evenChannels(b, row.outputs);
    std::string y = ghost(b, scope + "/ghost1", x, inputs, inside, Activation::Relu);
    if (row.stride == 2)
        y = convBn(b, scope + "/depthwise", y, depthwiseSpec(inside, row.kernel, 2));
    if (row.isWeighed) {
        const int64_t squeezed = std::max<int64_t>(4, (inside / 4 + 4) / 8 * 8);
        y = squeezeExcite(b, scope + "/se", y,
                          {.channels = inside, .squeezed = squeezed, .isHard = true});
    }
    y = ghost(b, scope + "/ghost2", y, inside, outputs, Activation::None);
    std::string shortcut = x;
    if (inputs != outputs || row.stride == 2) {
        shortcut = convBn(b, scope + "/shortcut/depthwise", x,
                          depthwiseSpec(inputs, row.kernel, row.stride));
        shortcut = convBn(b, scope + "/shortcut/project", shortcut,
                          {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}});
    }
    return b.node("Add", scope, {y, shortcut});
}

} // namespace

std::string makeGhostnet(const ZooOptions& options)
{
    ModelBuilder b("ghostnet", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = evenChannels(b, 16);
    x = convBn(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2}, Activation::Relu);
    int index = 0;
    for (const Row& row : kRows) {
        x = bottleneck(b, "/blocks/" + std::to_string(index++), x, channels, row);
        channels = evenChannels(b, row.outputs);
    }
    const int64_t wide = b.channels(960), last = b.channels(1280);
    x = convBn(b, "/conv", x, {.inputs = channels, .outputs = wide, .kernel = {1, 1}},
               Activation::Relu);
    x = b.node("GlobalAveragePool", "/pool", {x});
    x = b.conv("/conv_head", x,
               {.inputs = wide, .outputs = last, .kernel = {1, 1}, .hasBias = true});
    x = b.node("Flatten", "/flatten", {b.relu("/act2", x)}, {{"axis", int64_t{1}}});
    b.output(b.dense("/classifier", x, last, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
