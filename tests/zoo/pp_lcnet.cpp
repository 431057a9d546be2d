// SPDX-License-Identifier: Apache-2.0
// PP-LCNet 1.0: depthwise kernels of 3 and 5, hard swish, squeeze and excite at the end; and the
// same for 8 images at once.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Row
{
    int64_t kernel;
    int64_t outputs;
    int64_t stride;
    bool isWeighed;
};

std::string makeLcnet(const char* name, const ZooOptions& options)
{
    constexpr Row kRows[] = {{3, 32, 1, false},  {3, 64, 2, false},  {3, 64, 1, false},
                             {3, 128, 2, false}, {3, 128, 1, false}, {3, 256, 2, false},
                             {5, 256, 1, false}, {5, 256, 1, false}, {5, 256, 1, false},
                             {5, 256, 1, false}, {5, 256, 1, false}, {5, 512, 2, true},
                             {5, 512, 1, true}};
    ModelBuilder b(name, options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(16);
    x = convBn(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2},
               Activation::HardSwish);
    int index = 0;
    for (const Row& row : kRows) {
        const std::string scope = "/block" + std::to_string(index++);
        x = convBn(b, scope + "/dw", x, depthwiseSpec(channels, row.kernel, row.stride),
                   Activation::HardSwish);
        if (row.isWeighed)
            x = squeezeExcite(b, scope + "/se", x,
                              {.channels = channels, .squeezed = channels / 4, .isHard = true});
        const int64_t outputs = b.channels(row.outputs);
        x = convBn(b, scope + "/pw", x, {.inputs = channels, .outputs = outputs, .kernel = {1, 1}},
                   Activation::HardSwish);
        channels = outputs;
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace

std::string makeLcnet(const ZooOptions& options) { return makeLcnet("pp_lcnet", options); }

std::string makeLcnetBatch8(const ZooOptions& options)
{
    ZooOptions eight = options;
    if (eight.batch == 1) eight.batch = 8;
    return makeLcnet("pp_lcnet_batch8", eight);
}

} // namespace tenon::test
