// SPDX-License-Identifier: Apache-2.0
// ResNet-18 and ResNet-50: residual blocks of two 3x3 convolutions, or of 1x1, 3x3, 1x1.
#include "tests/zoo/model_builder.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Stage
{
    int64_t blocks;
    int64_t channels; ///< published, of the block's inside
    int64_t stride;
};

std::string shortcut(ModelBuilder& b, const std::string& scope, const std::string& x,
                     const ConvSpec& spec)
{
    const std::string y = b.conv(scope + "/downsample/0", x, spec);
    return b.batchNorm(scope + "/downsample/1", y, spec.outputs);
}

/// Last convolution of a block: its batch norm, the residual add, the activation.
std::string finishBlock(ModelBuilder& b, const std::string& scope, const std::string& y,
                        const std::string& x)
{
    return b.relu(scope + "/relu", b.node("Add", scope, {y, x}));
}

std::string basicBlock(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, int64_t outputs, int64_t stride)
{
    std::string y =
        b.convBnRelu(scope + "/1", x, {.inputs = inputs, .outputs = outputs, .stride = stride});
    y = b.conv(scope + "/conv2", y, {.inputs = outputs, .outputs = outputs});
    y = b.batchNorm(scope + "/bn2", y, outputs);
    const bool isSame = inputs == outputs && stride == 1;
    return finishBlock(
        b, scope, y,
        isSame
            ? x
            : shortcut(b, scope, x,
                       {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}, .stride = stride}));
}

std::string bottleneck(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t inputs, int64_t inside, int64_t stride)
{
    const int64_t outputs = inside * 4;
    std::string y =
        b.convBnRelu(scope + "/1", x, {.inputs = inputs, .outputs = inside, .kernel = {1, 1}});
    y = b.convBnRelu(scope + "/2", y, {.inputs = inside, .outputs = inside, .stride = stride});
    y = b.conv(scope + "/conv3", y, {.inputs = inside, .outputs = outputs, .kernel = {1, 1}});
    y = b.batchNorm(scope + "/bn3", y, outputs);
    const bool isSame = inputs == outputs && stride == 1;
    return finishBlock(
        b, scope, y,
        isSame
            ? x
            : shortcut(b, scope, x,
                       {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}, .stride = stride}));
}

enum class Block
{
    Basic,
    Bottleneck
};

std::string makeResnet(const char* name, Block kind, const std::vector<Stage>& stages,
                       const ZooOptions& options)
{
    ModelBuilder b(name, options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(64);
    x = b.convBnRelu("/stem", x, {.inputs = 3, .outputs = channels, .kernel = {7, 7}, .stride = 2});
    x = b.node("MaxPool", "/maxpool", {x},
               {{"kernel_shape", Dims{3, 3}}, {"pads", Dims{1, 1, 1, 1}}, {"strides", Dims{2, 2}}});
    for (size_t s = 0; s < stages.size(); ++s) {
        const int64_t inside = b.channels(stages[s].channels);
        for (int64_t i = 0; i < stages[s].blocks; ++i) {
            const std::string scope = "/layer" + std::to_string(s + 1) + "/" + std::to_string(i);
            const int64_t stride = i == 0 ? stages[s].stride : 1;
            if (kind == Block::Basic) {
                x = basicBlock(b, scope, x, channels, inside, stride);
                channels = inside;
            } else {
                x = bottleneck(b, scope, x, channels, inside, stride);
                channels = inside * 4;
            }
        }
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace

std::string makeResnet18(const ZooOptions& options)
{
    return makeResnet("resnet18", Block::Basic, {{2, 64, 1}, {2, 128, 2}, {2, 256, 2}, {2, 512, 2}},
                      options);
}

std::string makeResnet50(const ZooOptions& options)
{
    return makeResnet("resnet50", Block::Bottleneck,
                      {{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}, options);
}

} // namespace tenon::test
