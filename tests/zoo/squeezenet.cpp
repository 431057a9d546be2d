// SPDX-License-Identifier: Apache-2.0
// SqueezeNet 1.1: 1x1 convolutions squeeze, 1x1 and 3x3 side by side expand; no normalization.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string convRelu(ModelBuilder& b, const std::string& scope, const std::string& x, ConvSpec spec)
{
    spec.hasBias = true;
    return b.relu(scope, b.conv(scope, x, spec));
}

} // namespace

std::string makeSqueezenet(const ZooOptions& options)
{
    struct Fire
    {
        int64_t squeezed;
        int64_t expanded; ///< of each kernel
        bool isPooled;    ///< before it
    };
    constexpr Fire kFires[] = {{16, 64, true},   {16, 64, false}, {32, 128, true},
                               {32, 128, false}, {48, 192, true}, {48, 192, false},
                               {64, 256, false}, {64, 256, false}};
    ModelBuilder b("squeezenet1_1", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(64);
    x = convRelu(b, "/features/0", x, {.inputs = 3, .outputs = channels, .stride = 2});
    int index = 1;
    for (const Fire& fire : kFires) {
        const std::string scope = "/features/" + std::to_string(index++);
        const int64_t inside = b.channels(fire.squeezed), outputs = b.channels(fire.expanded);
        if (fire.isPooled) x = maxPool(b, scope + "/pool", x, 3, 2, 1);
        x = convRelu(b, scope + "/squeeze", x,
                     {.inputs = channels, .outputs = inside, .kernel = {1, 1}});
        const std::string narrow = convRelu(
            b, scope + "/expand1x1", x, {.inputs = inside, .outputs = outputs, .kernel = {1, 1}});
        x = concat(
            b, scope,
            {narrow, convRelu(b, scope + "/expand3x3", x, {.inputs = inside, .outputs = outputs})});
        channels = 2 * outputs;
    }
    x = convRelu(b, "/classifier", x, {.inputs = channels, .outputs = 1000, .kernel = {1, 1}});
    x = b.node("GlobalAveragePool", "/avgpool", {x});
    b.output(b.node("Flatten", "/flatten", {x}, {{"axis", int64_t{1}}}), "output",
             {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
