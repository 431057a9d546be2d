// SPDX-License-Identifier: Apache-2.0
// ShuffleNet V1 (three groups) and V2 x1.0: halves or groups of channels that are shuffled.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

/// Extents of a block's input.
struct Extents
{
    int64_t batch;
    int64_t channels;
    int64_t size;
};

std::string shuffled(ModelBuilder& b, const std::string& scope, const std::string& x,
                     const Extents& e, int64_t groups)
{
    const Dims apart = {e.batch, groups, e.channels / groups, e.size, e.size};
    const std::string y =
        transpose(b, scope, reshape(b, scope + "/apart", x, apart), {0, 2, 1, 3, 4});
    return reshape(b, scope + "/together", y, {e.batch, e.channels, e.size, e.size});
}

std::string stem(ModelBuilder& b, const ZooOptions& options, int64_t size, int64_t channels)
{
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    x = convBn(b, "/conv1", x, {.inputs = 3, .outputs = channels, .stride = 2}, Activation::Relu);
    return maxPool(b, "/maxpool", x, 3, 2, 1);
}

/// 1x1, depthwise, 1x1: the branch of both kinds of V2's blocks that computes.
std::string branch(ModelBuilder& b, const std::string& scope, std::string x, int64_t inputs,
                   int64_t half, int64_t stride)
{
    x = convBn(b, scope + "/reduce", x, {.inputs = inputs, .outputs = half, .kernel = {1, 1}},
               Activation::Relu);
    x = convBn(b, scope + "/depthwise", x, depthwiseSpec(half, 3, stride));
    return convBn(b, scope + "/expand", x, {.inputs = half, .outputs = half, .kernel = {1, 1}},
                  Activation::Relu);
}

/// Halves the image.
std::string downsampled(ModelBuilder& b, const std::string& scope, const std::string& x,
                        int64_t inputs, int64_t half)
{
    std::string y = convBn(b, scope + "/branch1/depthwise", x, depthwiseSpec(inputs, 3, 2));
    y = convBn(b, scope + "/branch1/expand", y,
               {.inputs = inputs, .outputs = half, .kernel = {1, 1}}, Activation::Relu);
    return concat(b, scope, {y, branch(b, scope + "/branch2", x, inputs, half, 2)});
}

/// V1: grouped 1x1, shuffle, depthwise, grouped 1x1; at stride 2 the shortcut is pooled and
/// appended.
std::string groupedUnit(ModelBuilder& b, const std::string& scope, const std::string& x,
                        const Extents& e, int64_t outputs, int64_t stride)
{
    constexpr int64_t kGroups = 3;
    const int64_t inside = outputs / 4, made = stride == 2 ? outputs - e.channels : outputs;
    const bool isFirst = scope == "/stage2/0"; // too few channels for groups
    std::string y = convBn(b, scope + "/reduce", x,
                           {.inputs = e.channels,
                            .outputs = inside,
                            .kernel = {1, 1},
                            .groups = isFirst ? 1 : kGroups},
                           Activation::Relu);
    y = shuffled(b, scope + "/shuffle", y, {e.batch, inside, e.size}, kGroups);
    y = convBn(b, scope + "/depthwise", y, depthwiseSpec(inside, 3, stride));
    y = convBn(b, scope + "/expand", y,
               {.inputs = inside, .outputs = made, .kernel = {1, 1}, .groups = kGroups});
    if (stride == 1) return b.relu(scope, b.node("Add", scope, {x, y}));
    const std::string pooled = b.node("AveragePool", scope, {x},
                                      {{"count_include_pad", int64_t{1}},
                                       {"kernel_shape", Dims{3, 3}},
                                       {"pads", Dims{1, 1, 1, 1}},
                                       {"strides", Dims{2, 2}}});
    return b.relu(scope, concat(b, scope, {pooled, y}));
}

constexpr int64_t kBlocks[] = {4, 8, 4};

std::string unitScope(int64_t stage, int64_t block)
{
    return "/stage" + std::to_string(stage + 2) + "/" + std::to_string(block);
}

int64_t halved(int64_t size) { return (size + 1) / 2; }

} // namespace

std::string makeShufflenetV1(const ZooOptions& options)
{
    ModelBuilder b("shufflenet_v1_g3", options);
    Extents e = {options.batch, b.channels(8) * 3, options.imageSize ? options.imageSize : 224};
    std::string x = stem(b, options, e.size, e.channels);
    e.size = halved(halved(e.size));
    for (int64_t stage = 0; stage < 3; ++stage) {
        const int64_t outputs = (b.channels(20) * 12) << stage;
        for (int64_t i = 0; i < kBlocks[stage]; ++i) {
            x = groupedUnit(b, unitScope(stage, i), x, e, outputs, i == 0 ? 2 : 1);
            e.channels = outputs;
            if (i == 0) e.size = halved(e.size);
        }
    }
    b.output(b.classifier(x, e.channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

std::string makeShufflenetV2(const ZooOptions& options)
{
    constexpr int64_t kHalf[] = {58, 116, 232};
    ModelBuilder b("shufflenet_v2_x1_0", options);
    Extents e = {options.batch, b.channels(24), options.imageSize ? options.imageSize : 224};
    std::string x = stem(b, options, e.size, e.channels);
    e.size = halved(halved(e.size));
    for (int64_t stage = 0; stage < 3; ++stage) {
        const int64_t half = b.channels(kHalf[stage]);
        e.size = halved(e.size);
        for (int64_t i = 0; i < kBlocks[stage]; ++i) {
            const std::string scope = unitScope(stage, i);
            if (i == 0) {
                x = downsampled(b, scope, x, e.channels, half);
                e.channels = 2 * half;
            } else {
                const auto halves = split(b, scope, x, {half, half});
                x = concat(b, scope,
                           {halves[0], branch(b, scope + "/branch2", halves[1], half, half, 1)});
            }
            x = shuffled(b, scope + "/shuffle", x, e, 2);
        }
    }
    const int64_t last = b.channels(1024);
    x = convBn(b, "/conv5", x, {.inputs = e.channels, .outputs = last, .kernel = {1, 1}},
               Activation::Relu);
    x = b.node("ReduceMean", "/mean", {x}, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{0}}});
    b.output(b.dense("/fc", x, last, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
