// SPDX-License-Identifier: Apache-2.0
// MobileNetV1 and V2: depthwise-separable convolutions; V2 with inverted residuals and ReLU6.
#include "tests/zoo/model_builder.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string convBnRelu6(ModelBuilder& b, const std::string& scope, const std::string& x,
                        const ConvSpec& spec)
{
    const std::string y = b.conv(scope + "/0", x, spec);
    return b.relu6(scope + "/2", b.batchNorm(scope + "/1", y, spec.outputs));
}

ConvSpec depthwise(int64_t channels, int64_t stride)
{
    return {.inputs = channels, .outputs = channels, .stride = stride, .groups = channels};
}

std::string invertedResidual(ModelBuilder& b, const std::string& scope, const std::string& x,
                             int64_t inputs, int64_t outputs, int64_t stride, int64_t expansion)
{
    const int64_t inside = inputs * expansion;
    std::string y = x;
    if (expansion != 1)
        y = convBnRelu6(b, scope + "/expand", y,
                        {.inputs = inputs, .outputs = inside, .kernel = {1, 1}});
    y = convBnRelu6(b, scope + "/depthwise", y, depthwise(inside, stride));
    y = b.conv(scope + "/project/0", y, {.inputs = inside, .outputs = outputs, .kernel = {1, 1}});
    y = b.batchNorm(scope + "/project/1", y, outputs);
    return inputs == outputs && stride == 1 ? b.node("Add", scope, {x, y}) : y;
}

} // namespace

std::string makeMobilenetV1(const ZooOptions& options)
{
    struct Row
    {
        int64_t channels;
        int64_t stride;
    };
    static constexpr Row kRows[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                    {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                    {512, 1}, {1024, 2}, {1024, 1}};
    ModelBuilder b("mobilenet_v1", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(32);
    x = b.convBnRelu("/stem", x, {.inputs = 3, .outputs = channels, .stride = 2});
    int index = 1;
    for (const Row& row : kRows) {
        const std::string scope = "/features/" + std::to_string(index++);
        const int64_t outputs = b.channels(row.channels);
        x = b.convBnRelu(scope + "/depthwise", x, depthwise(channels, row.stride));
        x = b.convBnRelu(scope + "/pointwise", x,
                         {.inputs = channels, .outputs = outputs, .kernel = {1, 1}});
        channels = outputs;
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

std::string makeMobilenetV2(const ZooOptions& options)
{
    struct Row
    {
        int64_t expansion;
        int64_t channels;
        int64_t blocks;
        int64_t stride;
    };
    static constexpr Row kRows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                    {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    ModelBuilder b("mobilenet_v2", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(32);
    x = convBnRelu6(b, "/features/0", x, {.inputs = 3, .outputs = channels, .stride = 2});
    int index = 1;
    for (const Row& row : kRows) {
        const int64_t outputs = b.channels(row.channels);
        for (int64_t i = 0; i < row.blocks; ++i) {
            const std::string scope = "/features/" + std::to_string(index++);
            x = invertedResidual(b, scope, x, channels, outputs, i == 0 ? row.stride : 1,
                                 row.expansion);
            channels = outputs;
        }
    }
    const int64_t last = b.channels(1280);
    x = convBnRelu6(b, "/features/" + std::to_string(index), x,
                    {.inputs = channels, .outputs = last, .kernel = {1, 1}});
    b.output(b.classifier(x, last, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
