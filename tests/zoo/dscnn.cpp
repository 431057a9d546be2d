// SPDX-License-Identifier: Apache-2.0
// DS-CNN for keyword spotting: 49 frames of 10 coefficients to 12 words.
#include "tests/zoo/model_builder.h"

namespace tenon::test {

std::string makeDscnn(const ZooOptions& options)
{
    ModelBuilder b("dscnn", options);
    const int64_t channels = b.channels(64);
    std::string x = b.input("features", tenon_onnx::TensorProto::FLOAT, {options.batch, 1, 49, 10});
    x = b.convBnRelu(
        "/stem", x,
        {.inputs = 1, .outputs = channels, .kernel = {10, 4}, .stride = 2, .pads = {4, 1, 5, 1}});
    for (int i = 0; i < 4; ++i) {
        const std::string scope = "/block" + std::to_string(i + 1);
        x = b.convBnRelu(scope + "/depthwise", x,
                         {.inputs = channels, .outputs = channels, .groups = channels});
        x = b.convBnRelu(scope + "/pointwise", x,
                         {.inputs = channels, .outputs = channels, .kernel = {1, 1}});
    }
    const std::string logits = b.classifier(x, channels, 12);
    b.output(b.node("Softmax", "/softmax", {logits}, {{"axis", int64_t{1}}}), "probabilities",
             {options.batch, 12});
    return b.bytes();
}

} // namespace tenon::test
