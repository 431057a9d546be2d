// SPDX-License-Identifier: Apache-2.0
// A small transformer encoder, decomposed as exporters write opset 13: no fused norm or attention.
#include "tests/zoo/model_builder.h"

#include <cmath>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Sizes
{
    int64_t batch;
    int64_t length;
    int64_t width;
    int64_t heads;
};

std::string linear(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t inputs,
                   int64_t outputs)
{
    const double deviation = std::sqrt(1.0 / static_cast<double>(inputs));
    const std::string weight = b.weight(scope.substr(1) + ".weight", {inputs, outputs}, deviation);
    const std::string bias = b.weight(scope.substr(1) + ".bias", {outputs}, 0.1);
    return b.node("Add", scope, {bias, b.node("MatMul", scope, {x, weight})});
}

std::string layerNorm(ModelBuilder& b, const std::string& scope, const std::string& x,
                      int64_t width)
{
    const Attrs lastAxis = {{"axes", Dims{-1}}, {"keepdims", int64_t{1}}};
    const std::string key = scope.substr(1);
    const std::string mean = b.node("ReduceMean", scope + "/mean", {x}, lastAxis);
    const std::string centred = b.node("Sub", scope, {x, mean});
    const std::string squared = b.node("Pow", scope, {centred, b.scalar(key + ".exponent", 2)});
    const std::string variance = b.node("ReduceMean", scope + "/variance", {squared}, lastAxis);
    const std::string safe =
        b.node("Add", scope + "/epsilon", {variance, b.scalar(key + ".epsilon", 1e-5f)});
    const std::string normal = b.node("Div", scope, {centred, b.node("Sqrt", scope, {safe})});
    const std::string scaled =
        b.node("Mul", scope, {normal, b.weight(key + ".weight", {width}, 0.1, 1)});
    return b.node("Add", scope, {scaled, b.weight(key + ".bias", {width}, 0.1)});
}

std::string gelu(ModelBuilder& b, const std::string& scope, const std::string& x)
{
    const std::string key = scope.substr(1);
    const std::string scaled = b.node("Div", scope, {x, b.scalar(key + ".sqrt2", std::sqrt(2.0f))});
    const std::string erf = b.node("Erf", scope, {scaled});
    const std::string shifted = b.node("Add", scope, {erf, b.scalar(key + ".one", 1)});
    const std::string product = b.node("Mul", scope, {x, shifted});
    return b.node("Mul", scope + "/half", {product, b.scalar(key + ".half", 0.5f)});
}

/// [N, length, width] -> [N, heads, length, width / heads], or its last two axes swapped.
std::string splitHeads(ModelBuilder& b, const std::string& scope, const std::string& x,
                       const Sizes& s, const Dims& order)
{
    const std::string shape =
        b.integers(scope.substr(1) + ".shape", {s.batch, s.length, s.heads, s.width / s.heads});
    return b.node("Transpose", scope, {b.node("Reshape", scope, {x, shape})}, {{"perm", order}});
}

std::string attention(ModelBuilder& b, const std::string& scope, const std::string& x,
                      const Sizes& s)
{
    const auto project = [&](const char* name, const Dims& order) {
        const std::string here = scope + "/" + name;
        return splitHeads(b, here, linear(b, here, x, s.width, s.width), s, order);
    };
    const std::string query = project("query", {0, 2, 1, 3});
    const std::string key = project("key", {0, 2, 3, 1});
    const std::string value = project("value", {0, 2, 1, 3});
    const float scale = std::sqrt(static_cast<float>(s.width / s.heads));
    std::string scores = b.node("MatMul", scope + "/scores", {query, key});
    scores = b.node("Div", scope, {scores, b.scalar(scope.substr(1) + ".scale", scale)});
    const std::string weights = b.node("Softmax", scope, {scores}, {{"axis", int64_t{-1}}});
    std::string mixed = b.node("MatMul", scope + "/mix", {weights, value});
    mixed = b.node("Transpose", scope + "/merge", {mixed}, {{"perm", Dims{0, 2, 1, 3}}});
    const std::string shape =
        b.integers(scope.substr(1) + ".merged_shape", {s.batch, s.length, s.width});
    mixed = b.node("Reshape", scope + "/merge", {mixed, shape});
    return linear(b, scope + "/output", mixed, s.width, s.width);
}

} // namespace

std::string makeTransformer(const ZooOptions& options)
{
    constexpr int64_t kVocabulary = 1000;
    ModelBuilder b("transformer", options);
    const Sizes s = {options.batch, 64, b.channels(128), 4};
    const std::string ids = b.input("ids", TensorProto::INT64, {s.batch, s.length});
    std::string x = b.node("Gather", "/embedding",
                           {b.weight("embedding.weight", {kVocabulary, s.width}, 1), ids},
                           {{"axis", int64_t{0}}});
    x = b.node("Add", "/position", {x, b.weight("position.weight", {1, s.length, s.width}, 0.5)});
    for (int layer = 0; layer < 2; ++layer) {
        const std::string scope = "/layers/" + std::to_string(layer);
        x = b.node("Add", scope + "/residual1", {x, attention(b, scope + "/attention", x, s)});
        x = layerNorm(b, scope + "/norm1", x, s.width);
        std::string y = linear(b, scope + "/mlp/up", x, s.width, s.width * 4);
        y = linear(b, scope + "/mlp/down", gelu(b, scope + "/mlp/gelu", y), s.width * 4, s.width);
        x = layerNorm(b, scope + "/norm2", b.node("Add", scope + "/residual2", {x, y}), s.width);
    }
    x = b.node("ReduceMean", "/pool", {x}, {{"axes", Dims{1}}, {"keepdims", int64_t{0}}});
    b.output(b.dense("/classifier", x, s.width, 10), "logits", {s.batch, 10});
    return b.bytes();
}

} // namespace tenon::test
