// SPDX-License-Identifier: Apache-2.0
// R3D-18 on clips of 8 frames: ResNet-18 of three-dimensional convolutions.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

ConvSpec volumeSpec(int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride)
{
    return {
        .inputs = inputs, .outputs = outputs, .kernel = {kernel, kernel, kernel}, .stride = stride};
}

std::string block(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                  int64_t outputs, int64_t stride)
{
    std::string y =
        convBn(b, scope + "/conv1", x, volumeSpec(inputs, outputs, 3, stride), Activation::Relu);
    y = convBn(b, scope + "/conv2", y, volumeSpec(outputs, outputs, 3, 1));
    std::string shortcut = x;
    if (inputs != outputs)
        shortcut = convBn(b, scope + "/downsample", x, volumeSpec(inputs, outputs, 1, stride));
    return b.relu(scope, b.node("Add", scope, {y, shortcut}));
}

} // namespace

std::string makeR3d18(const ZooOptions& options)
{
    constexpr int64_t kFrames = 8, kClasses = 400;
    ModelBuilder b("r3d_18", options);
    const int64_t size = options.imageSize ? options.imageSize : 112;
    std::string x = b.input("clip", TensorProto::FLOAT, {options.batch, 3, kFrames, size, size});
    int64_t channels = b.channels(64);
    x = convBn(b, "/stem", x,
               {.inputs = 3, .outputs = channels, .kernel = {3, 7, 7}, .strides = {1, 2, 2}},
               Activation::Relu);
    for (int64_t stage = 0; stage < 4; ++stage)
        for (int64_t i = 0; i < 2; ++i) {
            const std::string scope =
                "/layer" + std::to_string(stage + 1) + "/" + std::to_string(i);
            const int64_t outputs = b.channels(64 << stage);
            x = block(b, scope, x, channels, outputs, stage > 0 && i == 0 ? 2 : 1);
            channels = outputs;
        }
    b.output(b.classifier(x, channels, kClasses), "output", {options.batch, kClasses});
    return b.bytes();
}

} // namespace tenon::test
