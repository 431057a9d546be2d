// SPDX-License-Identifier: Apache-2.0
// A U-Net of volumes: 3 x 3 x 3 convolutions, normalized per image, transposed ones back up.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string convNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                     int64_t inputs, int64_t outputs, int64_t stride)
{
    std::string y = b.conv(scope, x,
                           {.inputs = inputs,
                            .outputs = outputs,
                            .kernel = {3, 3, 3},
                            .stride = stride,
                            .hasBias = true});
    y = b.node("InstanceNormalization", scope,
               {y, b.weight(b.parameter(scope, "norm.weight"), {outputs}, 0.1, 1),
                b.weight(b.parameter(scope, "norm.bias"), {outputs}, 0.1)},
               {{"epsilon", 1e-5f}});
    return activation(b, scope, y, Activation::LeakyRelu);
}

} // namespace

std::string makeUnet3d(const ZooOptions& options)
{
    constexpr int64_t kLevels = 4, kClasses = 3;
    ModelBuilder b("unet_3d", options);
    const int64_t size = options.imageSize ? options.imageSize : 48;
    std::string x = b.input("volume", TensorProto::FLOAT, {options.batch, 1, size, size, size});
    std::vector<std::string> skips;
    int64_t channels = 1;
    for (int64_t level = 0; level < kLevels; ++level) {
        const std::string scope = "/encoder" + std::to_string(level);
        const int64_t outputs = b.channels(16 << level);
        x = convNorm(b, scope + "/0", x, channels, outputs, level == 0 ? 1 : 2);
        x = convNorm(b, scope + "/1", x, outputs, outputs, 1);
        skips.push_back(x);
        channels = outputs;
    }
    for (int64_t level = kLevels - 1; level-- > 0;) {
        const std::string scope = "/decoder" + std::to_string(level);
        const int64_t outputs = b.channels(16 << level);
        x = convTranspose(b, scope + "/up", x,
                          {.inputs = channels,
                           .outputs = outputs,
                           .kernel = 2,
                           .pad = 0,
                           .hasBias = true,
                           .rank = 3});
        x = concat(b, scope, {x, skips[static_cast<size_t>(level)]});
        x = convNorm(b, scope + "/0", x, 2 * outputs, outputs, 1);
        channels = outputs;
    }
    x = b.conv("/head", x,
               {.inputs = channels, .outputs = kClasses, .kernel = {1, 1, 1}, .hasBias = true});
    b.output(x, "output", {options.batch, kClasses, size, size, size});
    return b.bytes();
}

} // namespace tenon::test
