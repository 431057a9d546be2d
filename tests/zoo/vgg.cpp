// SPDX-License-Identifier: Apache-2.0
// VGG-16 with batch normalization and one dense layer behind a global average pool.
#include "tests/zoo/model_builder.h"

namespace tenon::test {

std::string makeVgg16(const ZooOptions& options)
{
    ModelBuilder b("vgg16", options);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    std::string x =
        b.input("input", tenon_onnx::TensorProto::FLOAT, {options.batch, 3, size, size});
    const std::pair<int64_t, int> stages[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};
    int64_t channels = 3;
    int index = 0;
    for (const auto& [published, layers] : stages) {
        for (int i = 0; i < layers; ++i) {
            const int64_t outputs = b.channels(published);
            x = b.convBnRelu("/features/" + std::to_string(index++), x,
                             {.inputs = channels, .outputs = outputs});
            channels = outputs;
        }
        x = b.node("MaxPool", "/features/" + std::to_string(index++), {x},
                   {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
    }
    b.output(b.classifier(x, channels, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
