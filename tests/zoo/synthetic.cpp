// SPDX-License-Identifier: Apache-2.0
// A model of any number of nodes: equal residual blocks in stages, with a long skip per stage.
#include "tests/zoo/model_builder.h"

namespace tenon::test {

std::string makeSynthetic(const ZooOptions& options)
{
    constexpr int64_t kChannels = 16;
    constexpr int64_t kBlocksPerStage = 12;
    const Dims shape = {options.batch, kChannels, 8, 8};
    ModelBuilder b("synthetic", options);
    std::string x = b.input("input", tenon_onnx::TensorProto::FLOAT, shape);
    std::string stageInput = x;
    const auto left = [&] { return options.nodes - b.nodeCount(); };

    // A block has four nodes, the skip at the end of a stage one, and the model's end one.
    for (int64_t block = 0; left() >= 6; ++block) {
        const int64_t stage = block / kBlocksPerStage;
        const std::string stageScope = "/stage" + std::to_string(stage);
        const std::string scope = stageScope + "/block" + std::to_string(block % kBlocksPerStage);
        const std::string y =
            b.convBnRelu(scope, x, {.inputs = kChannels, .outputs = kChannels, .kernel = {1, 1}});
        x = b.node("Add", scope, {x, y});
        if (block % kBlocksPerStage != kBlocksPerStage - 1) continue;
        x = b.node("Add", stageScope, {x, stageInput});
        // Sums of sums would overflow after some hundred blocks.
        x = left() > 1 ? b.node("Tanh", stageScope, {x}) : x;
        stageInput = x;
    }
    while (left() > 0) x = b.relu("/tail/" + std::to_string(left()), x);
    b.output(x, "output", shape);
    return b.bytes();
}

} // namespace tenon::test
