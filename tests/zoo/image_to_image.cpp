// SPDX-License-Identifier: Apache-2.0
// Images from images: a U-Net of five levels, depth by depthwise transposed convolutions, ESPCN.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string doubleConv(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, int64_t outputs)
{
    const std::string y =
        convBn(b, scope + "/conv1", x, {.inputs = inputs, .outputs = outputs}, Activation::Relu);
    return convBn(b, scope + "/conv2", y, {.inputs = outputs, .outputs = outputs},
                  Activation::Relu);
}

std::string separable(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t inputs, int64_t outputs, int64_t stride)
{
    const std::string y =
        convBn(b, scope + "/depthwise", x, depthwiseSpec(inputs, 3, stride), Activation::Relu);
    return convBn(b, scope + "/pointwise", y,
                  {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}}, Activation::Relu);
}

} // namespace

std::string makeUnetBrain(const ZooOptions& options)
{
    ModelBuilder b("unet_brain", options);
    const int64_t size = options.imageSize ? options.imageSize : 256;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    std::vector<std::string> skips;
    int64_t channels = 3;
    for (int64_t level = 0; level < 5; ++level) {
        const std::string scope = "/encoder" + std::to_string(level + 1);
        if (level > 0) x = maxPool(b, scope + "/pool", x, 2, 2, 0);
        x = doubleConv(b, scope, x, channels, b.channels(32 << level));
        channels = b.channels(32 << level);
        skips.push_back(x);
    }
    for (int64_t level = 4; level-- > 0;) {
        const std::string scope = "/decoder" + std::to_string(level + 1);
        const int64_t outputs = b.channels(32 << level);
        x = convTranspose(
            b, scope + "/up", x,
            {.inputs = channels, .outputs = outputs, .kernel = 2, .pad = 0, .hasBias = true});
        x = concat(b, scope, {x, skips[static_cast<size_t>(level)]});
        x = doubleConv(b, scope, x, 2 * outputs, outputs);
        channels = outputs;
    }
    x = b.conv("/conv", x, {.inputs = channels, .outputs = 1, .kernel = {1, 1}, .hasBias = true});
    b.output(b.node("Sigmoid", "/sigmoid", {x}), "mask", {options.batch, 1, size, size});
    return b.bytes();
}

std::string makeFastdepth(const ZooOptions& options)
{
    struct Row
    {
        int64_t outputs;
        int64_t stride;
    };
    constexpr Row kEncoder[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                {512, 1}, {1024, 2}, {1024, 1}};
    constexpr int64_t kDecoder[] = {512, 256, 128, 64, 32};
    ModelBuilder b("fastdepth_deconv", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(32);
    x = convBn(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2}, Activation::Relu);
    int index = 0;
    for (const Row& row : kEncoder) {
        x = separable(b, "/encoder/" + std::to_string(index++), x, channels,
                      b.channels(row.outputs), row.stride);
        channels = b.channels(row.outputs);
    }
    for (const int64_t published : kDecoder) {
        const std::string scope = "/decoder/" + std::to_string(published);
        x = convTranspose(b, scope, x,
                          {.inputs = channels,
                           .outputs = channels,
                           .kernel = 5,
                           .pad = 2,
                           .outputPad = 1,
                           .groups = channels});
        x = b.relu(scope, b.batchNorm(scope + "/bn", x, channels));
        const int64_t outputs = b.channels(published);
        x = convBn(b, scope + "/pointwise", x,
                   {.inputs = channels, .outputs = outputs, .kernel = {1, 1}}, Activation::Relu);
        channels = outputs;
    }
    x = convBn(b, "/depth", x, {.inputs = channels, .outputs = 1, .kernel = {1, 1}},
               Activation::Relu);
    b.output(x, "depth", {options.batch, 1, size, size});
    return b.bytes();
}

std::string makeEspcn(const ZooOptions& options)
{
    constexpr int64_t kFactor = 3;
    ModelBuilder b("espcn_x3", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("luma", TensorProto::FLOAT, {options.batch, 1, size, size});
    const int64_t first = b.channels(64), second = b.channels(32);
    x = b.node(
        "Tanh", "/conv1",
        {b.conv("/conv1", x, {.inputs = 1, .outputs = first, .kernel = {5, 5}, .hasBias = true})});
    x = b.node("Tanh", "/conv2",
               {b.conv("/conv2", x, {.inputs = first, .outputs = second, .hasBias = true})});
    x = b.conv("/conv3", x, {.inputs = second, .outputs = kFactor * kFactor, .hasBias = true});
    x = b.node("DepthToSpace", "/shuffle", {x},
               {{"blocksize", kFactor}, {"mode", std::string("CRD")}});
    b.output(x, "output", {options.batch, 1, size * kFactor, size * kFactor});
    return b.bytes();
}

} // namespace tenon::test
