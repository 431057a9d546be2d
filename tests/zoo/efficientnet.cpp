// SPDX-License-Identifier: Apache-2.0
// EfficientNet-B0 and EfficientNetV2-S: inverted residuals with SiLU and weighed channels; the
// first stages of V2 expand by 3x3 convolutions instead.
#include "tests/zoo/layers.h"

#include <span>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Stage
{
    bool isFused;
    int64_t expansion;
    int64_t kernel;
    int64_t stride;
    int64_t outputs; ///< published
    int64_t blocks;
};

constexpr Stage kB0[] = {{false, 1, 3, 1, 16, 1},  {false, 6, 3, 2, 24, 2},
                         {false, 6, 5, 2, 40, 2},  {false, 6, 3, 2, 80, 3},
                         {false, 6, 5, 1, 112, 3}, {false, 6, 5, 2, 192, 4},
                         {false, 6, 3, 1, 320, 1}};

constexpr Stage kV2Small[] = {{true, 1, 3, 1, 24, 2},   {true, 4, 3, 2, 48, 4},
                              {true, 4, 3, 2, 64, 4},   {false, 4, 3, 2, 128, 6},
                              {false, 6, 3, 1, 160, 9}, {false, 6, 3, 2, 256, 15}};

struct Block
{
    int64_t inputs;
    int64_t outputs;
    int64_t stride;
};

std::string fusedBlock(ModelBuilder& b, const std::string& scope, const std::string& x,
                       const Block& block, const Stage& stage)
{
    const int64_t inside = block.inputs * stage.expansion;
    ConvSpec wide = {.inputs = block.inputs, .outputs = inside, .stride = block.stride};
    if (stage.expansion == 1) wide.outputs = block.outputs;
    const std::string y = convBn(b, scope + "/expand", x, wide, Activation::Silu);
    if (stage.expansion == 1) return y;
    return convBn(b, scope + "/project", y,
                  {.inputs = inside, .outputs = block.outputs, .kernel = {1, 1}});
}

std::string depthwiseBlock(ModelBuilder& b, const std::string& scope, const std::string& x,
                           const Block& block, const Stage& stage)
{
    const int64_t inside = block.inputs * stage.expansion;
    std::string y = x;
    if (stage.expansion > 1)
        y = convBn(b, scope + "/expand", y,
                   {.inputs = block.inputs, .outputs = inside, .kernel = {1, 1}}, Activation::Silu);
    y = convBn(b, scope + "/depthwise", y, depthwiseSpec(inside, stage.kernel, block.stride),
               Activation::Silu);
    y = squeezeExcite(b, scope + "/se", y,
                      {.channels = inside,
                       .squeezed = std::max<int64_t>(1, block.inputs / 4),
                       .inner = Activation::Silu});
    return convBn(b, scope + "/project", y,
                  {.inputs = inside, .outputs = block.outputs, .kernel = {1, 1}});
}

struct Design
{
    const char* name;
    int64_t size;
    int64_t stem;
    std::span<const Stage> stages;
};

std::string makeEfficientnet(const Design& design, const ZooOptions& options)
{
    ModelBuilder b(design.name, options);
    const int64_t size = options.imageSize ? options.imageSize : design.size;
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    int64_t channels = b.channels(design.stem);
    x = convBn(b, "/stem", x, {.inputs = 3, .outputs = channels, .stride = 2}, Activation::Silu);
    for (size_t s = 0; s < design.stages.size(); ++s) {
        const Stage& stage = design.stages[s];
        for (int64_t i = 0; i < stage.blocks; ++i) {
            const std::string scope = "/stage" + std::to_string(s + 1) + "/" + std::to_string(i);
            const Block block = {channels, b.channels(stage.outputs), i == 0 ? stage.stride : 1};
            const std::string y = stage.isFused ? fusedBlock(b, scope, x, block, stage)
                                                : depthwiseBlock(b, scope, x, block, stage);
            const bool isSame = block.inputs == block.outputs && block.stride == 1;
            x = isSame ? b.node("Add", scope, {y, x}) : y;
            channels = block.outputs;
        }
    }
    const int64_t last = b.channels(1280);
    x = convBn(b, "/head", x, {.inputs = channels, .outputs = last, .kernel = {1, 1}},
               Activation::Silu);
    b.output(b.classifier(x, last, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace

std::string makeEfficientnetB0(const ZooOptions& options)
{
    return makeEfficientnet({"efficientnet_b0", 224, 32, kB0}, options);
}

std::string makeEfficientnetV2Small(const ZooOptions& options)
{
    return makeEfficientnet({"efficientnet_v2_s", 384, 24, kV2Small}, options);
}

} // namespace tenon::test
