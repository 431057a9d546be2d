// SPDX-License-Identifier: Apache-2.0
// ENet for segmentation: bottlenecks of narrow channels with PReLU whose middle is a 3 x 3
// convolution, a dilated one, or one of 5 x 1 behind one of 1 x 5; transposed convolutions back up.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string prelu(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t channels)
{
    return b.node("PRelu", scope,
                  {x, b.weight(b.parameter(scope, "slope"), {channels, 1, 1}, 0.05, 0.25)});
}

std::string convBnPrelu(ModelBuilder& b, const std::string& scope, const std::string& x,
                        const ConvSpec& spec)
{
    return prelu(b, scope + "/act", convBn(b, scope, x, spec), spec.outputs);
}

struct Middle
{
    int64_t dilation = 1;
    bool isAsymmetric = false;
};

std::string middle(ModelBuilder& b, const std::string& scope, std::string x, int64_t channels,
                   const Middle& kind)
{
    ConvSpec spec = {.inputs = channels, .outputs = channels, .dilation = kind.dilation};
    if (!kind.isAsymmetric) return convBnPrelu(b, scope, x, spec);
    spec.kernel = {5, 1};
    x = b.conv(scope + "/5x1", x, spec);
    spec.kernel = {1, 5};
    return convBnPrelu(b, scope, x, spec);
}

std::string bottleneck(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t channels, const Middle& kind)
{
    const int64_t inner = channels / 4;
    std::string y = convBnPrelu(b, scope + "/reduce", x,
                                {.inputs = channels, .outputs = inner, .kernel = {1, 1}});
    y = middle(b, scope + "/middle", y, inner, kind);
    y = convBn(b, scope + "/expand", y, {.inputs = inner, .outputs = channels, .kernel = {1, 1}});
    return prelu(b, scope, b.node("Add", scope, {x, y}), channels);
}

std::string down(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                 int64_t outputs)
{
    const int64_t inner = outputs / 4;
    ConvSpec halving = {
        .inputs = inputs, .outputs = inner, .kernel = {2, 2}, .stride = 2, .pads = {0, 0, 0, 0}};
    std::string y = convBnPrelu(b, scope + "/reduce", x, halving);
    y = middle(b, scope + "/middle", y, inner, {});
    y = convBn(b, scope + "/expand", y, {.inputs = inner, .outputs = outputs, .kernel = {1, 1}});
    const std::string past = convBn(b, scope + "/past", maxPool(b, scope, x, 2, 2, 0),
                                    {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}});
    return prelu(b, scope, b.node("Add", scope, {past, y}), outputs);
}

std::string up(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
               int64_t outputs)
{
    const int64_t inner = outputs / 4;
    std::string y = convBnPrelu(b, scope + "/reduce", x,
                                {.inputs = inputs, .outputs = inner, .kernel = {1, 1}});
    y = convTranspose(b, scope + "/middle", y,
                      {.inputs = inner, .outputs = inner, .kernel = 3, .outputPad = 1});
    y = prelu(b, scope + "/act", b.batchNorm(scope + "/bn", y, inner), inner);
    y = convBn(b, scope + "/expand", y, {.inputs = inner, .outputs = outputs, .kernel = {1, 1}});
    const std::string past = upsample(
        b, scope,
        convBn(b, scope + "/past", x, {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}}), 2,
        "nearest");
    return b.relu(scope, b.node("Add", scope, {past, y}));
}

} // namespace

std::string makeEnet(const ZooOptions& options)
{
    constexpr int64_t kClasses = 19;
    const Middle kinds[] = {{}, {2}, {1, true}, {4}, {}, {8}, {1, true}, {16}};
    ModelBuilder b("enet", options);
    const int64_t size = options.imageSize ? options.imageSize : 256;
    const int64_t narrow = b.channels(16), medium = b.channels(64), wide = b.channels(128);
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const std::string first =
        b.conv("/initial", x, {.inputs = 3, .outputs = narrow - 3, .stride = 2, .hasBias = true});
    x = concat(b, "/initial", {first, maxPool(b, "/initial", x, 2, 2, 0)});
    x = prelu(b, "/initial", b.batchNorm("/initial/bn", x, narrow), narrow);
    x = down(b, "/down1", x, narrow, medium);
    for (int i = 0; i < 4; ++i) x = bottleneck(b, "/stage1/" + std::to_string(i), x, medium, {});
    x = down(b, "/down2", x, medium, wide);
    for (int stage = 2; stage < 4; ++stage)
        for (int i = 0; i < 8; ++i)
            x = bottleneck(b, "/stage" + std::to_string(stage) + "/" + std::to_string(i), x, wide,
                           kinds[i]);
    x = up(b, "/up4", x, wide, medium);
    x = bottleneck(b, "/stage4/0", x, medium, {});
    x = up(b, "/up5", x, medium, narrow);
    x = bottleneck(b, "/stage5/0", x, narrow, {});
    x = convTranspose(b, "/full", x,
                      {.inputs = narrow, .outputs = kClasses, .kernel = 3, .outputPad = 1});
    b.output(x, "output", {options.batch, kClasses, size, size});
    return b.bytes();
}

} // namespace tenon::test
