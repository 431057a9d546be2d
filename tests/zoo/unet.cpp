// SPDX-License-Identifier: Apache-2.0
// A small U-Net: three levels, skip connections by concatenation, up-sampling by ConvTranspose.
#include "tests/zoo/model_builder.h"

#include <cmath>

namespace tenon::test {
namespace {

std::string doubleConv(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, int64_t outputs)
{
    const std::string y = b.convBnRelu(scope + "/0", x, {.inputs = inputs, .outputs = outputs});
    return b.convBnRelu(scope + "/1", y, {.inputs = outputs, .outputs = outputs});
}

std::string upsample(ModelBuilder& b, const std::string& scope, const std::string& x,
                     int64_t inputs, int64_t outputs)
{
    const double deviation = std::sqrt(1.0 / static_cast<double>(inputs));
    const std::string weight =
        b.weight(scope.substr(1) + ".weight", {inputs, outputs, 2, 2}, deviation);
    const std::string bias = b.weight(scope.substr(1) + ".bias", {outputs}, 0.1);
    return b.node("ConvTranspose", scope, {x, weight, bias},
                  {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
}

} // namespace

std::string makeUnet(const ZooOptions& options)
{
    ModelBuilder b("unet", options);
    const int64_t size = options.imageSize ? options.imageSize : 96;
    std::string x =
        b.input("image", tenon_onnx::TensorProto::FLOAT, {options.batch, 3, size, size});
    std::vector<std::string> skips;
    int64_t channels = 3;
    const std::vector<int64_t> widths = {b.channels(16), b.channels(32), b.channels(64)};
    for (size_t level = 0; level < widths.size(); ++level) {
        const std::string scope = "/encoder" + std::to_string(level + 1);
        x = doubleConv(b, scope, x, channels, widths[level]);
        skips.push_back(x);
        x = b.node("MaxPool", scope + "/pool", {x},
                   {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
        channels = widths[level];
    }
    x = doubleConv(b, "/bottom", x, channels, b.channels(128));
    channels = b.channels(128);
    for (size_t level = widths.size(); level-- > 0;) {
        const std::string scope = "/decoder" + std::to_string(level + 1);
        x = upsample(b, scope + "/up", x, channels, widths[level]);
        x = b.node("Concat", scope, {skips[level], x}, {{"axis", int64_t{1}}});
        x = doubleConv(b, scope, x, widths[level] * 2, widths[level]);
        channels = widths[level];
    }
    x = b.conv("/head", x, {.inputs = channels, .outputs = 1, .kernel = {1, 1}, .hasBias = true});
    b.output(b.node("Sigmoid", "/sigmoid", {x}), "mask", {options.batch, 1, size, size});
    return b.bytes();
}

} // namespace tenon::test
