// SPDX-License-Identifier: Apache-2.0
// GoogLeNet with batch normalization: 1x1, 3x3, 5x5 and a pool side by side.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Module
{
    int64_t one;
    int64_t reduced3;
    int64_t three;
    int64_t reduced5;
    int64_t five;
    int64_t pooled;
    bool isHalved; ///< pooled before it
};

constexpr Module kModules[] = {
    {64, 96, 128, 16, 32, 32, true},      {128, 128, 192, 32, 96, 64, false},
    {192, 96, 208, 16, 48, 64, true},     {160, 112, 224, 24, 64, 64, false},
    {128, 128, 256, 24, 64, 64, false},   {112, 144, 288, 32, 64, 64, false},
    {256, 160, 320, 32, 128, 128, false}, {256, 160, 320, 32, 128, 128, true},
    {384, 192, 384, 48, 128, 128, false}};

std::string convRelu(ModelBuilder& b, const std::string& scope, const std::string& x,
                     const ConvSpec& spec)
{
    return convBn(b, scope, x, spec, Activation::Relu);
}

/// Four branches; `channels` becomes their sum.
std::string inception(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t& channels, const Module& m)
{
    int64_t sum = 0;
    const auto point = [&](const std::string& name, const std::string& from, int64_t published) {
        return convRelu(b, scope + name, from,
                        {.inputs = channels, .outputs = b.channels(published), .kernel = {1, 1}});
    };
    const auto wide = [&](const std::string& name, const std::string& from, int64_t inputs,
                          int64_t outputs, int64_t kernel) {
        return convRelu(b, scope + name, from,
                        {.inputs = b.channels(inputs),
                         .outputs = b.channels(outputs),
                         .kernel = {kernel, kernel}});
    };
    const std::string one = point("/branch1", x, m.one);
    const std::string three =
        wide("/branch2/1", point("/branch2/0", x, m.reduced3), m.reduced3, m.three, 3);
    const std::string five =
        wide("/branch3/1", point("/branch3/0", x, m.reduced5), m.reduced5, m.five, 5);
    const std::string pooled =
        point("/branch4", maxPool(b, scope + "/branch4", x, 3, 1, 1), m.pooled);
    for (const int64_t published : {m.one, m.three, m.five, m.pooled}) sum += b.channels(published);
    channels = sum;
    return concat(b, scope, {one, three, five, pooled});
}

} // namespace

std::string makeGooglenet(const ZooOptions& options)
{
    ModelBuilder b("googlenet", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const int64_t first = b.channels(64);
    int64_t channels = b.channels(192);
    x = convRelu(b, "/conv1", x, {.inputs = 3, .outputs = first, .kernel = {7, 7}, .stride = 2});
    x = maxPool(b, "/pool1", x, 3, 2, 1);
    x = convRelu(b, "/conv2", x, {.inputs = first, .outputs = first, .kernel = {1, 1}});
    x = convRelu(b, "/conv3", x, {.inputs = first, .outputs = channels});
    int index = 0;
    for (const Module& module : kModules) {
        const std::string scope = "/inception" + std::to_string(index++);
        if (module.isHalved) x = maxPool(b, scope + "/pool", x, 3, 2, 1);
        x = inception(b, scope, x, channels, module);
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
