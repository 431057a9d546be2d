// SPDX-License-Identifier: Apache-2.0
// Language models: one step of a GPT-like decoder beside the keys and values of 127 tokens, and an
// encoder of masked tokens whose heads are 40 wide.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Width
{
    int64_t batch;
    int64_t length;
    int64_t heads;
    int64_t head;
    int64_t all() const { return heads * head; }
};

std::string heads(ModelBuilder& b, const std::string& scope, const std::string& x, const Width& w)
{
    return transpose(b, scope, reshape(b, scope, x, {w.batch, w.length, w.heads, w.head}),
                     {0, 2, 1, 3});
}

/// Attention of one token to itself and to what is kept; the longer keys and values are results.
std::string cachedAttention(ModelBuilder& b, const std::string& scope, const std::string& x,
                            const Width& w, int64_t past)
{
    const auto parts = split(b, scope + "/qkv", linear(b, scope + "/qkv", x, w.all(), 3 * w.all()),
                             Dims(3, w.all()), 2);
    std::vector<std::string> qkv = {heads(b, scope + "/query", parts[0], w)};
    for (const size_t part : {size_t{1}, size_t{2}}) {
        const std::string name = part == 1 ? "key" : "value";
        const std::string kept = b.input("past" + b.parameter(scope, name), TensorProto::FLOAT,
                                         {w.batch, w.heads, past, w.head});
        const std::string here = scope + "/" + name;
        const std::string all = concat(b, here, {kept, heads(b, here, parts[part], w)}, 2);
        b.output(all, "present" + b.parameter(scope, name),
                 {w.batch, w.heads, past + w.length, w.head});
        qkv.push_back("present" + b.parameter(scope, name));
    }
    const std::string y = attend(b, scope, qkv, w.head, "");
    return linear(b, scope + "/output",
                  reshape(b, scope + "/merge", transpose(b, scope + "/merge", y, {0, 2, 1, 3}),
                          {w.batch, w.length, w.all()}),
                  w.all(), w.all());
}

std::string mlp(ModelBuilder& b, const std::string& scope, const std::string& x, int64_t width)
{
    const std::string y = linear(b, scope + "/up", x, width, 4 * width);
    return linear(b, scope + "/down", activation(b, scope + "/gelu", y, Activation::Gelu),
                  4 * width, width);
}

} // namespace

std::string makeGptDecoder(const ZooOptions& options)
{
    constexpr int64_t kPast = 127, kVocabulary = 8192;
    ModelBuilder b("gpt_decoder", options, 17);
    const Width w = {options.batch, 1, 8, b.channels(64)};
    const std::string ids = b.input("ids", TensorProto::INT64, {w.batch, w.length});
    std::string x = b.node("Gather", "/embedding",
                           {b.weight("embedding.weight", {kVocabulary, w.all()}, 0.5), ids},
                           {{"axis", int64_t{0}}});
    for (int layer = 0; layer < 6; ++layer) {
        const std::string scope = "/layers/" + std::to_string(layer);
        std::string y = layerNorm(b, scope + "/norm1", x, w.all());
        y = cachedAttention(b, scope + "/attention", y, w, kPast);
        x = b.node("Add", scope + "/residual1", {x, y});
        y = mlp(b, scope + "/mlp", layerNorm(b, scope + "/norm2", x, w.all()), w.all());
        x = b.node("Add", scope + "/residual2", {x, y});
    }
    x = linear(b, "/head", layerNorm(b, "/norm", x, w.all()), w.all(), kVocabulary);
    b.output(x, "logits", {w.batch, w.length, kVocabulary});
    return b.bytes();
}

std::string makeMaskedEncoder(const ZooOptions& options)
{
    constexpr int64_t kVocabulary = 1000, kLength = 96;
    ModelBuilder b("masked_encoder", options, 17);
    const int64_t heads = 8, width = heads * b.channels(40);
    const std::string ids = b.input("ids", TensorProto::INT64, {options.batch, kLength});
    const std::string mask = b.input("mask", TensorProto::INT64, {options.batch, kLength});
    std::string x =
        b.node("Gather", "/embedding", {b.weight("embedding.weight", {kVocabulary, width}, 1), ids},
               {{"axis", int64_t{0}}});
    x = b.node("Add", "/position", {x, b.weight("position.weight", {1, kLength, width}, 0.5)});
    // 0 where there is a token, else so little that no weight is left.
    std::string hidden = reshape(b, "/mask", mask, {options.batch, 1, 1, kLength});
    hidden = b.node("Cast", "/mask", {hidden}, {{"to", int64_t{TensorProto::FLOAT}}});
    hidden = b.node("Sub", "/mask", {b.scalar("mask.one", 1), hidden});
    hidden = b.node("Mul", "/mask", {hidden, b.scalar("mask.least", -10000)});
    for (int layer = 0; layer < 4; ++layer) {
        const std::string scope = "/layers/" + std::to_string(layer);
        std::string y = selfAttention(b, scope + "/attention", x,
                                      {.batch = options.batch,
                                       .length = kLength,
                                       .width = width,
                                       .heads = heads,
                                       .mask = hidden});
        x = layerNorm(b, scope + "/norm1", b.node("Add", scope + "/residual1", {x, y}), width);
        y = mlp(b, scope + "/mlp", x, width);
        x = layerNorm(b, scope + "/norm2", b.node("Add", scope + "/residual2", {x, y}), width);
    }
    b.output(linear(b, "/head", x, width, kVocabulary), "logits",
             {options.batch, kLength, kVocabulary});
    return b.bytes();
}

} // namespace tenon::test
