// SPDX-License-Identifier: Apache-2.0
// MNASNet 1.0: inverted residuals with kernels of 3 and 5.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Stack
{
    int64_t outputs;
    int64_t kernel;
    int64_t stride;
    int64_t expansion;
    int64_t blocks;
};

constexpr Stack kStacks[] = {{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3},  {80, 5, 2, 6, 3},
                             {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1}};

std::string invertedResidual(ModelBuilder& b, const std::string& scope, const std::string& x,
                             int64_t inputs, const Stack& s)
{
    const int64_t inside = inputs * s.expansion;
    std::string y =
        convBn(b, scope + "/expand", x, {.inputs = inputs, .outputs = inside, .kernel = {1, 1}},
               Activation::Relu);
    y = convBn(b, scope + "/depthwise", y, depthwiseSpec(inside, s.kernel, s.stride),
               Activation::Relu);
    y = convBn(b, scope + "/project", y,
               {.inputs = inside, .outputs = s.outputs, .kernel = {1, 1}});
    return inputs == s.outputs && s.stride == 1 ? b.node("Add", scope, {y, x}) : y;
}

} // namespace

std::string makeMnasnet(const ZooOptions& options)
{
    ModelBuilder b("mnasnet1_0", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(32);
    x = convBn(b, "/layers/0", x, {.inputs = 3, .outputs = channels, .stride = 2},
               Activation::Relu);
    x = convBn(b, "/layers/1", x, depthwiseSpec(channels, 3, 1), Activation::Relu);
    const int64_t first = b.channels(16);
    x = convBn(b, "/layers/2", x, {.inputs = channels, .outputs = first, .kernel = {1, 1}});
    channels = first;
    int index = 3;
    for (Stack stack : kStacks) {
        stack.outputs = b.channels(stack.outputs);
        const std::string scope = "/layers/" + std::to_string(index++) + "/";
        for (int64_t i = 0; i < stack.blocks; ++i) {
            if (i > 0) stack.stride = 1;
            x = invertedResidual(b, scope + std::to_string(i), x, channels, stack);
            channels = stack.outputs;
        }
    }
    const int64_t last = b.channels(1280);
    x = convBn(b, "/layers/last", x, {.inputs = channels, .outputs = last, .kernel = {1, 1}},
               Activation::Relu);
    x = b.node("ReduceMean", "/mean", {x}, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{0}}});
    b.output(b.dense("/classifier", x, last, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
