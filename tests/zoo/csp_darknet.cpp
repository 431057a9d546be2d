// SPDX-License-Identifier: Apache-2.0
// CSPDarknet53 with Mish, half as wide: every stage sends half of its channels past its blocks.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string convMish(ModelBuilder& b, const std::string& scope, const std::string& x,
                     const ConvSpec& spec)
{
    const std::string y = convBn(b, scope, x, spec);
    const std::string gate = b.node("Tanh", scope, {b.node("Softplus", scope, {y})});
    return b.node("Mul", scope, {y, gate});
}

std::string pointwise(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t inputs, int64_t outputs)
{
    return convMish(b, scope, x, {.inputs = inputs, .outputs = outputs, .kernel = {1, 1}});
}

std::string stage(ModelBuilder& b, const std::string& scope, std::string x, int64_t inputs,
                  int64_t outputs, int64_t blocks)
{
    const int64_t half = blocks == 1 ? outputs : outputs / 2;
    x = convMish(b, scope + "/down", x, {.inputs = inputs, .outputs = outputs, .stride = 2});
    const std::string past = pointwise(b, scope + "/past", x, outputs, half);
    std::string y = pointwise(b, scope + "/main", x, outputs, half);
    for (int64_t i = 0; i < blocks; ++i) {
        const std::string here = scope + "/" + std::to_string(i);
        const int64_t hidden = blocks == 1 ? half / 2 : half;
        const std::string z = pointwise(b, here + "/1", y, half, hidden);
        y = b.node("Add", here,
                   {y, convMish(b, here + "/2", z, {.inputs = hidden, .outputs = half})});
    }
    y = pointwise(b, scope + "/after", y, half, half);
    return pointwise(b, scope + "/joined", concat(b, scope, {y, past}), 2 * half, outputs);
}

} // namespace

std::string makeCspDarknet(const ZooOptions& options)
{
    constexpr int64_t kBlocks[] = {1, 2, 8, 8, 4};
    ModelBuilder b("csp_darknet53_half", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(16);
    x = convMish(b, "/stem", x, {.inputs = 3, .outputs = channels});
    for (int64_t i = 0; i < 5; ++i) {
        const int64_t outputs = b.channels(32 << i);
        x = stage(b, "/stage" + std::to_string(i), x, channels, outputs, kBlocks[i]);
        channels = outputs;
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
