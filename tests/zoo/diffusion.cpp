// SPDX-License-Identifier: Apache-2.0
// A denoiser of latent images: residual blocks normalized in 32 groups with SiLU, attention of
// heads of 40 columns over pixels, up and down once.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Image
{
    std::string x;
    int64_t channels;
    int64_t size;
};

/// As exporters write a normalization in groups: of rows, by an instance normalization without
/// weights.
std::string groupNorm(ModelBuilder& b, const std::string& scope, const Image& image, int64_t batch)
{
    const int64_t groups = std::min<int64_t>(32, image.channels / 4);
    std::string y = reshape(b, scope + "/rows", image.x, {batch, groups, -1});
    y = b.node(
        "InstanceNormalization", scope,
        {y,
         b.floats(b.parameter(scope, "ones"), std::vector<float>(static_cast<size_t>(groups), 1)),
         b.floats(b.parameter(scope, "zeros"), std::vector<float>(static_cast<size_t>(groups), 0))},
        {{"epsilon", 1e-5f}});
    y = reshape(b, scope + "/back", y, {batch, image.channels, image.size, image.size});
    y = b.node("Mul", scope,
               {y, b.weight(b.parameter(scope, "weight"), {image.channels, 1, 1}, 0.1, 1)});
    return b.node("Add", scope,
                  {y, b.weight(b.parameter(scope, "bias"), {image.channels, 1, 1}, 0.1)});
}

std::string normSiluConv(ModelBuilder& b, const std::string& scope, const Image& image,
                         int64_t outputs, int64_t batch)
{
    const std::string y =
        activation(b, scope, groupNorm(b, scope + "/norm", image, batch), Activation::Silu);
    return b.conv(scope, y, {.inputs = image.channels, .outputs = outputs, .hasBias = true});
}

Image residual(ModelBuilder& b, const std::string& scope, const Image& image, int64_t outputs,
               const std::string& time, int64_t batch)
{
    std::string y = normSiluConv(b, scope + "/1", image, outputs, batch);
    const int64_t width = b.channels(320);
    const std::string shift = reshape(
        b, scope + "/time", b.dense(scope + "/time", time, width, outputs), {batch, outputs, 1, 1});
    y = b.node("Add", scope + "/time", {y, shift});
    y = normSiluConv(b, scope + "/2", {y, outputs, image.size}, outputs, batch);
    std::string past = image.x;
    if (image.channels != outputs)
        past = b.conv(
            scope + "/past", past,
            {.inputs = image.channels, .outputs = outputs, .kernel = {1, 1}, .hasBias = true});
    return {b.node("Add", scope, {past, y}), outputs, image.size};
}

Image attention(ModelBuilder& b, const std::string& scope, const Image& image, int64_t batch)
{
    const int64_t pixels = image.size * image.size, heads = 8;
    std::string y = groupNorm(b, scope + "/norm", image, batch);
    y = transpose(b, scope + "/tokens",
                  reshape(b, scope + "/tokens", y, {batch, image.channels, pixels}), {0, 2, 1});
    y = selfAttention(b, scope, y, {batch, pixels, image.channels, heads});
    y = reshape(b, scope + "/image", transpose(b, scope + "/image", y, {0, 2, 1}),
                {batch, image.channels, image.size, image.size});
    return {b.node("Add", scope, {y, image.x}), image.channels, image.size};
}

} // namespace

std::string makeDiffusionUnet(const ZooOptions& options)
{
    ModelBuilder b("diffusion_unet", options);
    const int64_t size = options.imageSize ? options.imageSize : 32, batch = options.batch;
    const int64_t narrow = 8 * b.channels(20), wide = 8 * b.channels(40);
    const std::string latent = b.input("latent", TensorProto::FLOAT, {batch, 4, size, size});
    const std::string step = b.input("time", TensorProto::FLOAT, {batch, b.channels(320)});
    const std::string time = activation(b, "/time", step, Activation::Silu);
    Image image = {b.conv("/first", latent, {.inputs = 4, .outputs = narrow, .hasBias = true}),
                   narrow, size};
    image = residual(b, "/down0", image, narrow, time, batch);
    const Image skip = image;
    image = {b.conv("/down", image.x,
                    {.inputs = narrow, .outputs = narrow, .stride = 2, .hasBias = true}),
             narrow, size / 2};
    image = residual(b, "/down1", image, wide, time, batch);
    image = attention(b, "/attention1", image, batch);
    image = residual(b, "/middle", image, wide, time, batch);
    image = attention(b, "/attention2", image, batch);
    image = {b.conv("/up", upsample(b, "/up", image.x, 2, "nearest"),
                    {.inputs = wide, .outputs = wide, .hasBias = true}),
             wide, size};
    image = {concat(b, "/skip", {image.x, skip.x}), wide + narrow, size};
    image = residual(b, "/up0", image, narrow, time, batch);
    b.output(normSiluConv(b, "/last", image, 4, batch), "noise", {batch, 4, size, size});
    return b.bytes();
}

} // namespace tenon::test
