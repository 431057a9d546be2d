// SPDX-License-Identifier: Apache-2.0
// ViT-S/16 and MLP-Mixer-S/16: patches of an image as rows of a matrix.
#include "tests/zoo/layers.h"

#include <algorithm>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

constexpr int64_t kPatch = 16;

struct Patches
{
    std::string tensor; ///< [batch, count, width]
    int64_t count;
    int64_t width;
};

Patches patchesOf(ModelBuilder& b, const ZooOptions& options, int64_t width)
{
    const int64_t size = options.imageSize ? options.imageSize : 224;
    const std::string image = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    const int64_t count = (size / kPatch) * (size / kPatch);
    std::string x = b.conv("/patches", image,
                           {.inputs = 3,
                            .outputs = width,
                            .kernel = {kPatch, kPatch},
                            .stride = kPatch,
                            .pads = {0, 0, 0, 0},
                            .hasBias = true});
    x = reshape(b, "/patches", x, {options.batch, width, count});
    return {transpose(b, "/patches", x, {0, 2, 1}), count, width};
}

std::string mlp(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t width,
                int64_t inside)
{
    const std::string y =
        activation(b, scope + "/gelu", linear(b, scope + "/0", x, width, inside), Activation::Gelu);
    return linear(b, scope + "/1", y, inside, width);
}

} // namespace

std::string makeVitSmall(const ZooOptions& options)
{
    ModelBuilder b("vit_small_16", options, 17);
    const int64_t heads = 6, width = heads * b.channels(64);
    const Patches patches = patchesOf(b, options, width);
    const std::string token =
        b.node("Expand", "/class_token",
               {b.weight("class_token", {1, 1, width}, 0.5),
                b.integers("class_token.shape", {std::max<int64_t>(1, options.batch), 1, width})});
    std::string x = concat(b, "/tokens", {token, patches.tensor});
    const int64_t length = patches.count + 1;
    x = b.node("Add", "/position", {x, b.weight("position", {1, length, width}, 0.3)});
    for (int layer = 0; layer < 12; ++layer) {
        const std::string scope = "/layers/" + std::to_string(layer);
        std::string y = layerNorm(b, scope + "/norm1", x, width);
        y = selfAttention(
            b, scope + "/attention", y,
            {.batch = options.batch, .length = length, .width = width, .heads = heads});
        x = b.node("Add", scope + "/residual1", {x, y});
        y = mlp(b, scope + "/mlp", layerNorm(b, scope + "/norm2", x, width), width, 4 * width);
        x = b.node("Add", scope + "/residual2", {x, y});
    }
    x = b.node("Gather", "/first", {layerNorm(b, "/norm", x, width), b.integer("first.index", 0)},
               {{"axis", int64_t{1}}});
    b.output(b.dense("/head", x, width, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

std::string makeMlpMixer(const ZooOptions& options)
{
    ModelBuilder b("mlp_mixer_s16", options, 17);
    const int64_t width = b.channels(512);
    const Patches patches = patchesOf(b, options, width);
    std::string x = patches.tensor;
    for (int layer = 0; layer < 8; ++layer) {
        const std::string scope = "/layers/" + std::to_string(layer);
        std::string y = layerNorm(b, scope + "/norm1", x, width);
        y = transpose(b, scope + "/to", y, {0, 2, 1});
        y = mlp(b, scope + "/tokens", y, patches.count, b.channels(256));
        x = b.node("Add", scope + "/residual1", {x, transpose(b, scope + "/back", y, {0, 2, 1})});
        y = mlp(b, scope + "/channels", layerNorm(b, scope + "/norm2", x, width), width, 4 * width);
        x = b.node("Add", scope + "/residual2", {x, y});
    }
    x = b.node("ReduceMean", "/mean", {layerNorm(b, "/norm", x, width)},
               {{"axes", Dims{1}}, {"keepdims", int64_t{0}}});
    b.output(b.dense("/head", x, width, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
