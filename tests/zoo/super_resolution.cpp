// SPDX-License-Identifier: Apache-2.0
// Larger images from small ones: FSRCNN (PReLU, a transposed convolution of 9 x 9) and EDSR's
// baseline (residual blocks, pixels out of channels).
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string convPrelu(ModelBuilder& b, const std::string& scope, const std::string& x,
                      ConvSpec spec)
{
    spec.hasBias = true;
    const std::string slope =
        b.weight(b.parameter(scope, "slope"), {spec.outputs, 1, 1}, 0.05, 0.25);
    return b.node("PRelu", scope, {b.conv(scope, x, spec), slope});
}

std::string wideConv(ModelBuilder& b, const std::string& scope, const std::string& x,
                     int64_t inputs, int64_t outputs)
{
    return b.conv(scope, x, {.inputs = inputs, .outputs = outputs, .hasBias = true});
}

} // namespace

std::string makeFsrcnn(const ZooOptions& options)
{
    ModelBuilder b("fsrcnn_x3", options);
    const int64_t size = options.imageSize ? options.imageSize : 128;
    const int64_t wide = b.channels(56), narrow = b.channels(12);
    std::string x = b.input("luma", TensorProto::FLOAT, {options.batch, 1, size, size});
    x = convPrelu(b, "/extract", x, {.inputs = 1, .outputs = wide, .kernel = {5, 5}});
    x = convPrelu(b, "/shrink", x, {.inputs = wide, .outputs = narrow, .kernel = {1, 1}});
    for (int i = 0; i < 4; ++i)
        x = convPrelu(b, "/map" + std::to_string(i), x, {.inputs = narrow, .outputs = narrow});
    x = convPrelu(b, "/expand", x, {.inputs = narrow, .outputs = wide, .kernel = {1, 1}});
    x = convTranspose(b, "/enlarge", x,
                      {.inputs = wide,
                       .outputs = 1,
                       .kernel = 9,
                       .stride = 3,
                       .pad = 4,
                       .outputPad = 2,
                       .hasBias = true});
    b.output(x, "output", {options.batch, 1, size * 3, size * 3});
    return b.bytes();
}

std::string makeEdsr(const ZooOptions& options)
{
    constexpr int kBlocks = 16;
    ModelBuilder b("edsr_baseline_x2", options);
    const int64_t size = options.imageSize ? options.imageSize : 96;
    const int64_t width = b.channels(64);
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const std::string head = wideConv(b, "/head", x, 3, width);
    x = head;
    for (int i = 0; i < kBlocks; ++i) {
        const std::string scope = "/body/" + std::to_string(i);
        const std::string y = b.relu(scope, wideConv(b, scope + "/0", x, width, width));
        const std::string scaled = b.node("Mul", scope,
                                          {wideConv(b, scope + "/1", y, width, width),
                                           b.scalar(b.parameter(scope, "scale"), 0.1f)});
        x = b.node("Add", scope, {scaled, x});
    }
    x = b.node("Add", "/skip", {wideConv(b, "/tail", x, width, width), head});
    x = b.node("DepthToSpace", "/shuffle", {wideConv(b, "/up", x, width, 4 * width)},
               {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}});
    b.output(wideConv(b, "/last", x, width, 3), "output", {options.batch, 3, size * 2, size * 2});
    return b.bytes();
}

} // namespace tenon::test
