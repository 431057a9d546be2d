// SPDX-License-Identifier: Apache-2.0
// DenseNet-121: every layer reads all layers of its block before it; normalization stands before
// the convolution, where it folds into no weight.
#include "tests/zoo/model_builder.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

constexpr int64_t kGrowth = 32, kBottleneck = 4;

std::string bnReluConv(ModelBuilder& b, const std::string& scope, const std::string& x,
                       const ConvSpec& spec)
{
    const std::string y = b.relu(scope + "/relu", b.batchNorm(scope + "/norm", x, spec.inputs));
    return b.conv(scope + "/conv", y, spec);
}

std::string denseBlock(ModelBuilder& b, const std::string& scope, std::string x, int64_t layers,
                       int64_t& channels)
{
    const int64_t growth = b.channels(kGrowth);
    for (int64_t i = 1; i <= layers; ++i) {
        const std::string layer = scope + "/denselayer" + std::to_string(i);
        std::string y =
            bnReluConv(b, layer + "/1", x,
                       {.inputs = channels, .outputs = kBottleneck * growth, .kernel = {1, 1}});
        y = bnReluConv(b, layer + "/2", y, {.inputs = kBottleneck * growth, .outputs = growth});
        x = b.node("Concat", layer, {x, y}, {{"axis", int64_t{1}}});
        channels += growth;
    }
    return x;
}

} // namespace

std::string makeDensenet121(const ZooOptions& options)
{
    ModelBuilder b("densenet121", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(64);
    x = b.convBnRelu("/stem", x, {.inputs = 3, .outputs = channels, .kernel = {7, 7}, .stride = 2});
    x = b.node("MaxPool", "/maxpool", {x},
               {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
    const Dims blocks = {6, 12, 24, 16};
    for (size_t i = 0; i < blocks.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        x = denseBlock(b, "/denseblock" + number, x, blocks[i], channels);
        if (i + 1 == blocks.size()) break;
        x = bnReluConv(b, "/transition" + number, x,
                       {.inputs = channels, .outputs = channels / 2, .kernel = {1, 1}});
        channels /= 2;
        x = b.node("AveragePool", "/transition" + number + "/pool", {x},
                   {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
    }
    x = b.relu("/norm5", b.batchNorm("/norm5", x, channels));
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
