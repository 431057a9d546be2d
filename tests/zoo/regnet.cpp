// SPDX-License-Identifier: Apache-2.0
// RegNetX-400MF, RegNetY-400MF and Y-800MF: 3x3 convolutions in groups of 8 or 16 channels; Y
// weighs channels.
#include "tests/zoo/layers.h"

#include <array>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Design
{
    const char* name;
    int64_t groupWidth;
    bool isWeighed; ///< squeeze and excite
    std::array<int64_t, 4> depths;
    std::array<int64_t, 4> widths;
};

struct BlockWidths
{
    int64_t inputs;
    int64_t outputs;
    int64_t stride;
};

std::string block(ModelBuilder& b, const std::string& scope, const std::string& x,
                  const BlockWidths& w, const Design& design)
{
    std::string y =
        convBn(b, scope + "/a", x, {.inputs = w.inputs, .outputs = w.outputs, .kernel = {1, 1}},
               Activation::Relu);
    y = convBn(b, scope + "/b", y,
               {.inputs = w.outputs,
                .outputs = w.outputs,
                .stride = w.stride,
                .groups = w.outputs / design.groupWidth},
               Activation::Relu);
    if (design.isWeighed)
        y = squeezeExcite(b, scope + "/se", y,
                          {.channels = w.outputs, .squeezed = (w.inputs + 2) / 4});
    y = convBn(b, scope + "/c", y, {.inputs = w.outputs, .outputs = w.outputs, .kernel = {1, 1}});
    std::string shortcut = x;
    if (w.inputs != w.outputs || w.stride != 1)
        shortcut = convBn(
            b, scope + "/proj", x,
            {.inputs = w.inputs, .outputs = w.outputs, .kernel = {1, 1}, .stride = w.stride});
    return b.relu(scope, b.node("Add", scope, {shortcut, y}));
}

std::string makeRegnet(const Design& design, const ZooOptions& options)
{
    ModelBuilder b(design.name, options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(32);
    x = convBn(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2}, Activation::Relu);
    for (size_t stage = 0; stage < design.depths.size(); ++stage) {
        const int64_t width =
            b.channels(design.widths[stage] / design.groupWidth) * design.groupWidth;
        for (int64_t i = 0; i < design.depths[stage]; ++i) {
            const std::string scope =
                "/block" + std::to_string(stage + 1) + "/" + std::to_string(i);
            x = block(b, scope, x, {channels, width, i == 0 ? 2 : 1}, design);
            channels = width;
        }
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace

std::string makeRegnetX400(const ZooOptions& options)
{
    return makeRegnet({"regnet_x_400mf", 16, false, {1, 2, 7, 12}, {32, 64, 160, 400}}, options);
}

std::string makeRegnetY400(const ZooOptions& options)
{
    return makeRegnet({"regnet_y_400mf", 8, true, {1, 3, 6, 6}, {48, 104, 208, 440}}, options);
}

std::string makeRegnetY800(const ZooOptions& options)
{
    return makeRegnet({"regnet_y_800mf", 16, true, {1, 3, 8, 2}, {64, 144, 320, 784}}, options);
}

} // namespace tenon::test
