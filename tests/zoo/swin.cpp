// SPDX-License-Identifier: Apache-2.0
// Swin-T: attention within windows of 7 x 7, every second time shifted by half of one.
#include "tests/zoo/layers.h"

#include <cmath>
#include <cstdint>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

/// An image of tokens, [batch, size, size, width].
struct Grid
{
    int64_t batch;
    int64_t size;
    int64_t width;
    int64_t heads;
    int64_t window;
    int64_t shift; ///< 0: not shifted
};

std::string slice(ModelBuilder& b, const std::string& scope, const std::string& x,
                  const Dims& starts, const Dims& steps)
{
    const Dims axes = {1, 2}, ends = {INT64_MAX, INT64_MAX};
    return b.node("Slice", scope,
                  {x, b.integers(b.parameter(scope, "starts"), starts),
                   b.integers(b.parameter(scope, "ends"), ends),
                   b.integers(b.parameter(scope, "axes"), axes),
                   b.integers(b.parameter(scope, "steps"), steps)});
}

/// Rotates rows and columns by `by`, each as two parts that change places.
std::string rolled(ModelBuilder& b, const std::string& scope, std::string x, const Grid& g,
                   int64_t by)
{
    for (const int64_t axis : {1, 2}) {
        const std::string here = scope + "/axis" + std::to_string(axis);
        const auto parts = split(b, here, x, {by, g.size - by}, axis);
        x = concat(b, here, {parts[1], parts[0]}, axis);
    }
    return x;
}

/// [batch * windows, window * window, width]
std::string windowsOf(ModelBuilder& b, const std::string& scope, const std::string& x,
                      const Grid& g)
{
    const int64_t count = g.size / g.window;
    const std::string apart =
        reshape(b, scope + "/apart", x, {g.batch, count, g.window, count, g.window, g.width});
    return reshape(b, scope, transpose(b, scope, apart, {0, 1, 3, 2, 4, 5}),
                   {-1, g.window * g.window, g.width});
}

std::string joined(ModelBuilder& b, const std::string& scope, const std::string& x, const Grid& g)
{
    const int64_t count = g.size / g.window;
    const std::string apart =
        reshape(b, scope + "/apart", x, {g.batch, count, count, g.window, g.window, g.width});
    return reshape(b, scope, transpose(b, scope, apart, {0, 1, 3, 2, 4, 5}),
                   {g.batch, g.size, g.size, g.width});
}

/// Which of three bands a row or column is in before it was shifted.
int64_t bandOf(int64_t place, const Grid& g)
{
    return place < g.size - g.window ? 0 : place < g.size - g.shift ? 1 : 2;
}

/// Keeps tokens apart that the shift brought together, [windows, 1, tokens, tokens].
std::string shiftMask(ModelBuilder& b, const std::string& name, const Grid& g)
{
    const int64_t count = g.size / g.window, tokens = g.window * g.window;
    std::vector<float> values;
    const auto regionOf = [&](int64_t window, int64_t token) {
        const int64_t row = window / count * g.window + token / g.window;
        const int64_t column = window % count * g.window + token % g.window;
        return bandOf(row, g) * 3 + bandOf(column, g);
    };
    for (int64_t window = 0; window < count * count; ++window)
        for (int64_t i = 0; i < tokens * tokens; ++i)
            values.push_back(
                regionOf(window, i / tokens) == regionOf(window, i % tokens) ? 0.0f : -100.0f);
    const std::string flat = b.floats(name, values);
    return reshape(b, "/" + name, flat, {1, count * count, 1, tokens, tokens});
}

std::string windowAttention(ModelBuilder& b, const std::string& scope, const std::string& x,
                            const Grid& g)
{
    const int64_t tokens = g.window * g.window, head = g.width / g.heads;
    std::string y = linear(b, scope + "/qkv", x, g.width, 3 * g.width);
    y = transpose(b, scope + "/qkv", reshape(b, scope + "/qkv", y, {-1, tokens, 3, g.heads, head}),
                  {2, 0, 3, 1, 4});
    std::vector<std::string> qkv;
    for (int64_t part = 0; part < 3; ++part) {
        const std::string here = scope + "/part" + std::to_string(part);
        qkv.push_back(b.node("Gather", here, {y, b.integer(b.parameter(here, "index"), part)},
                             {{"axis", int64_t{0}}}));
    }
    const std::string key = transpose(b, scope + "/key", qkv[1], {0, 1, 3, 2});
    const std::string scale =
        b.scalar(b.parameter(scope, "scale"), 1 / std::sqrt(static_cast<float>(head)));
    y = b.node("MatMul", scope + "/scores", {b.node("Mul", scope, {qkv[0], scale}), key});
    y = b.node("Add", scope + "/bias",
               {y, b.weight(b.parameter(scope, "bias"), {1, g.heads, tokens, tokens}, 0.5)});
    if (g.shift > 0) {
        const int64_t windows = (g.size / g.window) * (g.size / g.window);
        y = reshape(b, scope + "/apart", y, {g.batch, windows, g.heads, tokens, tokens});
        y = b.node("Add", scope + "/mask", {y, shiftMask(b, b.parameter(scope, "mask"), g)});
        y = reshape(b, scope + "/together", y, {-1, g.heads, tokens, tokens});
    }
    y = b.node("Softmax", scope, {y}, {{"axis", int64_t{-1}}});
    y = transpose(b, scope + "/mix", b.node("MatMul", scope + "/mix", {y, qkv[2]}), {0, 2, 1, 3});
    return linear(b, scope + "/output", reshape(b, scope + "/mix", y, {-1, tokens, g.width}),
                  g.width, g.width);
}

std::string block(ModelBuilder& b, const std::string& scope, const std::string& x, const Grid& g)
{
    std::string y = layerNorm(b, scope + "/norm1", x, g.width);
    if (g.shift > 0) y = rolled(b, scope + "/roll", y, g, g.shift);
    y = windowAttention(b, scope + "/attention", windowsOf(b, scope + "/windows", y, g), g);
    y = joined(b, scope + "/joined", y, g);
    if (g.shift > 0) y = rolled(b, scope + "/unroll", y, g, g.size - g.shift);
    const std::string middle = b.node("Add", scope + "/residual1", {x, y});
    y = linear(b, scope + "/up", layerNorm(b, scope + "/norm2", middle, g.width), g.width,
               4 * g.width);
    y = linear(b, scope + "/down", activation(b, scope + "/gelu", y, Activation::Gelu), 4 * g.width,
               g.width);
    return b.node("Add", scope + "/residual2", {middle, y});
}

/// Four neighbours become one token of twice the width.
std::string merged(ModelBuilder& b, const std::string& scope, const std::string& x, Grid& g)
{
    std::vector<std::string> parts;
    for (int64_t i = 0; i < 4; ++i)
        parts.push_back(slice(b, scope + "/" + std::to_string(i), x, {i % 2, i / 2}, {2, 2}));
    const std::string y = layerNorm(b, scope + "/norm", concat(b, scope, parts, -1), 4 * g.width);
    const std::string made = linear(b, scope, y, 4 * g.width, 2 * g.width);
    g.size /= 2;
    g.width *= 2;
    g.heads *= 2;
    return made;
}

} // namespace

std::string makeSwinTiny(const ZooOptions& options)
{
    constexpr int64_t kDepths[] = {2, 2, 6, 2};
    ModelBuilder b("swin_tiny", options, 17);
    const int64_t size = options.imageSize ? options.imageSize : 224;
    const std::string image = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    Grid g = {options.batch, size / 4, 3 * b.channels(32), 3, size / 32, 0};
    std::string x = b.conv("/patches", image,
                           {.inputs = 3,
                            .outputs = g.width,
                            .kernel = {4, 4},
                            .stride = 4,
                            .pads = {0, 0, 0, 0},
                            .hasBias = true});
    x = layerNorm(b, "/patches/norm", transpose(b, "/patches", x, {0, 2, 3, 1}), g.width);
    for (int64_t stage = 0; stage < 4; ++stage) {
        const std::string scope = "/stage" + std::to_string(stage);
        if (stage > 0) x = merged(b, scope + "/merge", x, g);
        for (int64_t i = 0; i < kDepths[stage]; ++i) {
            g.shift = i % 2 == 1 && g.size > g.window ? g.window / 2 : 0;
            x = block(b, scope + "/" + std::to_string(i), x, g);
        }
    }
    x = b.node("ReduceMean", "/mean", {layerNorm(b, "/norm", x, g.width)},
               {{"axes", Dims{1, 2}}, {"keepdims", int64_t{0}}});
    b.output(b.dense("/head", x, g.width, 1000), "output", {options.batch, 1000});
    return b.bytes();
}

} // namespace tenon::test
