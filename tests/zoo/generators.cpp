// SPDX-License-Identifier: Apache-2.0
// Generators of images: two DCGANs, of kernels 4 and 5, and CycleGAN's translator.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string upBnRelu(ModelBuilder& b, const std::string& scope, const std::string& x,
                     const TransposedSpec& spec)
{
    const std::string y = convTranspose(b, scope + "/0", x, spec);
    return b.relu(scope + "/2", b.batchNorm(scope + "/1", y, spec.outputs));
}

std::string instanceNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                         int64_t channels)
{
    return b.node("InstanceNormalization", scope,
                  {x, b.weight(b.parameter(scope, "weight"), {channels}, 0.1, 1),
                   b.weight(b.parameter(scope, "bias"), {channels}, 0.1)},
                  {{"epsilon", 1e-5f}});
}

/// A border of mirrored pixels, then a convolution without padding.
std::string mirroredConv(ModelBuilder& b, const std::string& scope, const std::string& x,
                         ConvSpec spec)
{
    const int64_t pad = spec.kernel[0] / 2;
    const std::string pads =
        b.integers(b.parameter(scope, "pads"), {0, 0, pad, pad, 0, 0, pad, pad});
    spec.pads = {0, 0, 0, 0};
    spec.hasBias = true;
    return b.conv(scope, b.node("Pad", scope, {x, pads}, {{"mode", std::string("reflect")}}), spec);
}

std::string residual(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t width)
{
    const ConvSpec spec = {.inputs = width, .outputs = width};
    std::string y =
        instanceNorm(b, scope + "/norm1", mirroredConv(b, scope + "/1", x, spec), width);
    y = mirroredConv(b, scope + "/2", b.relu(scope, y), spec);
    return b.node("Add", scope, {x, instanceNorm(b, scope + "/norm2", y, width)});
}

} // namespace

std::string makeDcgan(const ZooOptions& options)
{
    ModelBuilder b("dcgan", options);
    std::string x = b.input("noise", TensorProto::FLOAT, {options.batch, 100, 1, 1});
    int64_t channels = 100;
    for (int64_t i = 0; i < 4; ++i) {
        const int64_t outputs = b.channels(512 >> i);
        x = upBnRelu(b, "/main/" + std::to_string(i), x,
                     {.inputs = channels,
                      .outputs = outputs,
                      .stride = i == 0 ? 1 : 2,
                      .pad = i == 0 ? 0 : 1});
        channels = outputs;
    }
    x = convTranspose(b, "/main/4", x, {.inputs = channels, .outputs = 3});
    b.output(b.node("Tanh", "/tanh", {x}), "image", {options.batch, 3, 64, 64});
    return b.bytes();
}

std::string makeDcgan5x5(const ZooOptions& options)
{
    ModelBuilder b("dcgan_5x5", options);
    int64_t channels = b.channels(1024);
    std::string x = b.input("noise", TensorProto::FLOAT, {options.batch, 100});
    x = reshape(b, "/project", b.dense("/project", x, 100, channels * 16),
                {options.batch, channels, 4, 4});
    x = b.relu("/project", b.batchNorm("/project/bn", x, channels));
    TransposedSpec spec = {.kernel = 5, .pad = 2, .outputPad = 1};
    for (int64_t i = 0; i < 3; ++i) {
        spec.inputs = channels;
        spec.outputs = channels = b.channels(512 >> i);
        x = upBnRelu(b, "/up/" + std::to_string(i), x, spec);
    }
    spec.inputs = channels;
    spec.outputs = 3;
    spec.hasBias = true;
    x = b.node("Tanh", "/tanh", {convTranspose(b, "/up/3", x, spec)});
    b.output(x, "image", {options.batch, 3, 64, 64});
    return b.bytes();
}

std::string makeCyclegan(const ZooOptions& options)
{
    ModelBuilder b("cyclegan", options);
    const int64_t size = options.imageSize ? options.imageSize : 128;
    const int64_t narrow = b.channels(64), middle = b.channels(128), wide = b.channels(256);
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    x = mirroredConv(b, "/first", x, {.inputs = 3, .outputs = narrow, .kernel = {7, 7}});
    x = b.relu("/first", instanceNorm(b, "/first/norm", x, narrow));
    const Dims widths = {narrow, middle, wide};
    for (size_t i = 1; i < widths.size(); ++i) {
        const std::string scope = "/down" + std::to_string(i);
        x = b.conv(scope, x,
                   {.inputs = widths[i - 1], .outputs = widths[i], .stride = 2, .hasBias = true});
        x = b.relu(scope, instanceNorm(b, scope + "/norm", x, widths[i]));
    }
    for (int64_t i = 0; i < 6; ++i) // published so for images of 128
        x = residual(b, "/residual" + std::to_string(i), x, wide);
    for (size_t i = widths.size() - 1; i > 0; --i) {
        const std::string scope = "/up" + std::to_string(i);
        x = convTranspose(b, scope, x,
                          {.inputs = widths[i],
                           .outputs = widths[i - 1],
                           .kernel = 3,
                           .outputPad = 1,
                           .hasBias = true});
        x = b.relu(scope, instanceNorm(b, scope + "/norm", x, widths[i - 1]));
    }
    x = mirroredConv(b, "/last", x, {.inputs = narrow, .outputs = 3, .kernel = {7, 7}});
    b.output(b.node("Tanh", "/tanh", {x}), "output", {options.batch, 3, size, size});
    return b.bytes();
}

} // namespace tenon::test
