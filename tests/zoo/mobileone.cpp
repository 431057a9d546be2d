// SPDX-License-Identifier: Apache-2.0
// MobileOne-S0 as it runs: branches merged, so that it is a chain of depthwise and pointwise
// convolutions with biases.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string block(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                  int64_t outputs, int64_t stride)
{
    ConvSpec spec = depthwiseSpec(inputs, 3, stride);
    spec.hasBias = true;
    const std::string y = b.relu(scope + "/dw", b.conv(scope + "/dw", x, spec));
    return b.relu(
        scope + "/pw",
        b.conv(scope + "/pw", y,
               {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}, .hasBias = true}));
}

} // namespace

std::string makeMobileone(const ZooOptions& options)
{
    struct Stage
    {
        int64_t outputs;
        int64_t blocks;
    };
    constexpr Stage kStages[] = {{48, 2}, {128, 8}, {256, 10}, {1024, 1}};
    ModelBuilder b("mobileone_s0", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(48);
    x = b.relu("/stem", b.conv("/stem", x,
                               {.inputs = 3, .outputs = channels, .stride = 2, .hasBias = true}));
    int index = 0;
    for (const Stage& stage : kStages)
        for (int64_t i = 0; i < stage.blocks; ++i) {
            const int64_t outputs = b.channels(stage.outputs);
            x = block(b, "/block" + std::to_string(index++), x, channels, outputs, i == 0 ? 2 : 1);
            channels = outputs;
        }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
