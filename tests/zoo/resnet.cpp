// SPDX-License-Identifier: Apache-2.0
// ResNet-18, ResNet-50 and ResNeXt-50 32x4d: residual blocks of two 3x3 convolutions, or of 1x1,
// 3x3 (in groups), 1x1.
#include "tests/zoo/backbones.h"
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

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

struct Widths
{
    int64_t inputs;
    int64_t inside;
    int64_t outputs;
};

/// How the 3x3 convolution of a bottleneck goes.
struct Middle
{
    int64_t stride;
    int64_t dilation;
    int64_t groups;
};

std::string bottleneck(ModelBuilder& b, const std::string& scope, const std::string& x,
                       const Widths& w, const Middle& middle)
{
    std::string y =
        b.convBnRelu(scope + "/1", x, {.inputs = w.inputs, .outputs = w.inside, .kernel = {1, 1}});
    y = b.convBnRelu(scope + "/2", y,
                     {.inputs = w.inside,
                      .outputs = w.inside,
                      .stride = middle.stride,
                      .groups = middle.groups,
                      .dilation = middle.dilation});
    y = b.conv(scope + "/conv3", y, {.inputs = w.inside, .outputs = w.outputs, .kernel = {1, 1}});
    y = b.batchNorm(scope + "/bn3", y, w.outputs);
    const bool isSame = w.inputs == w.outputs && middle.stride == 1;
    return finishBlock(b, scope, y,
                       isSame ? x
                              : shortcut(b, scope, x,
                                         {.inputs = w.inputs,
                                          .outputs = w.outputs,
                                          .kernel = {1, 1},
                                          .stride = middle.stride}));
}

std::string stem(ModelBuilder& b, const std::string& x)
{
    const std::string y = b.convBnRelu(
        "/stem", x, {.inputs = 3, .outputs = b.channels(64), .kernel = {7, 7}, .stride = 2});
    return maxPool(b, "/maxpool", y, 3, 2, 1);
}

std::string input(ModelBuilder& b, const ZooOptions& options)
{
    const int64_t size = options.imageSize ? options.imageSize : 224;
    return b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
}

constexpr int64_t kDepths50[] = {3, 4, 6, 3};

/// Names of blocks, from 1 for the first of four stages.
std::string blockScope(int64_t stage, int64_t block)
{
    return "/layer" + std::to_string(stage + 1) + "/" + std::to_string(block);
}

} // namespace

std::string makeResnet18(const ZooOptions& options)
{
    ModelBuilder b("resnet18", options);
    std::string x = stem(b, input(b, options));
    int64_t channels = b.channels(64);
    for (int64_t stage = 0; stage < 4; ++stage)
        for (int64_t i = 0; i < 2; ++i) {
            const int64_t outputs = b.channels(64 << stage);
            x = basicBlock(b, blockScope(stage, i), x, channels, outputs,
                           stage > 0 && i == 0 ? 2 : 1);
            channels = outputs;
        }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

std::vector<Features> resnet50Features(ModelBuilder& b, const std::string& image,
                                       Reduction reduction)
{
    std::vector<Features> features;
    Features now = {stem(b, image), b.channels(64), 4};
    int64_t dilation = 1;
    for (int64_t stage = 0; stage < 4; ++stage) {
        const int64_t inside = b.channels(64 << stage);
        const bool isDilated = reduction == Reduction::Dilated && stage > 1;
        for (int64_t i = 0; i < kDepths50[stage]; ++i) {
            const int64_t stride = stage > 0 && i == 0 && !isDilated ? 2 : 1;
            now.tensor = bottleneck(b, blockScope(stage, i), now.tensor,
                                    {now.channels, inside, inside * 4}, {stride, dilation, 1});
            now.channels = inside * 4;
            now.stride *= stride;
            if (isDilated && i == 0) dilation *= 2;
        }
        features.push_back(now);
    }
    return features;
}

std::string makeResnet50(const ZooOptions& options)
{
    ModelBuilder b("resnet50", options);
    const Features last = resnet50Features(b, input(b, options), Reduction::Strided).back();
    b.output(b.classifier(last.tensor, last.channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

std::string makeResnext50(const ZooOptions& options)
{
    ModelBuilder b("resnext50_32x4d", options);
    std::string x = stem(b, input(b, options));
    int64_t channels = b.channels(64);
    const int64_t groups = b.channels(32);
    for (int64_t stage = 0; stage < 4; ++stage) {
        const int64_t inside = groups * (4 << stage), outputs = b.channels(256 << stage);
        for (int64_t i = 0; i < kDepths50[stage]; ++i) {
            x = bottleneck(b, blockScope(stage, i), x, {channels, inside, outputs},
                           {stage > 0 && i == 0 ? 2 : 1, 1, groups});
            channels = outputs;
        }
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
