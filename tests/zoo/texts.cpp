// SPDX-License-Identifier: Apache-2.0
// Texts by convolutions and by recurrence: TextCNN for 32 sentences at once, and two layers of GRU
// of 96 columns in both directions for 16.
#include "tests/zoo/layers.h"

#include <cmath>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

std::string embedded(ModelBuilder& b, const std::string& ids, int64_t tokens, int64_t width)
{
    return b.node("Gather", "/embedding",
                  {b.weight("embedding.weight", {tokens, width}, 0.5), ids});
}

std::string bothWays(ModelBuilder& b, const std::string& scope, const std::string& x,
                     int64_t inputs, int64_t hidden)
{
    const double deviation = 0.8 / std::sqrt(static_cast<double>(hidden));
    const std::string y =
        b.node("GRU", scope,
               {x, b.weight(b.parameter(scope, "W"), {2, 3 * hidden, inputs}, deviation),
                b.weight(b.parameter(scope, "R"), {2, 3 * hidden, hidden}, deviation),
                b.weight(b.parameter(scope, "B"), {2, 6 * hidden}, 0.1)},
               {{"direction", std::string("bidirectional")},
                {"hidden_size", hidden},
                {"linear_before_reset", int64_t{1}}});
    return reshape(b, scope, transpose(b, scope, y, {0, 2, 1, 3}), {0, 0, 2 * hidden});
}

} // namespace

std::string makeTextCnn(const ZooOptions& options)
{
    constexpr int64_t kLength = 60, kTokens = 5000, kWidth = 300, kClasses = 6;
    ModelBuilder b("text_cnn_batch32", options);
    const int64_t texts = options.batch == 1 ? 32 : options.batch, filters = b.channels(100);
    const std::string ids = b.input("ids", TensorProto::INT64, {texts, kLength});
    const std::string x = transpose(b, "/turned", embedded(b, ids, kTokens, kWidth), {0, 2, 1});
    std::vector<std::string> maxima;
    for (const int64_t kernel : {3, 4, 5}) {
        const std::string scope = "/conv" + std::to_string(kernel);
        const std::string y = b.relu(scope, b.conv(scope, x,
                                                   {.inputs = kWidth,
                                                    .outputs = filters,
                                                    .kernel = {kernel},
                                                    .pads = {0, 0},
                                                    .hasBias = true}));
        maxima.push_back(
            b.node("ReduceMax", scope, {y}, {{"axes", Dims{2}}, {"keepdims", int64_t{0}}}));
    }
    b.output(b.dense("/fc", concat(b, "/joined", maxima), 3 * filters, kClasses), "output",
             {texts, kClasses});
    return b.bytes();
}

std::string makeBiGru(const ZooOptions& options)
{
    constexpr int64_t kLength = 50, kTokens = 5000, kWidth = 100, kTags = 17;
    ModelBuilder b("bigru_batch16", options);
    const int64_t texts = options.batch == 1 ? 16 : options.batch, hidden = b.channels(96);
    const std::string ids = b.input("ids", TensorProto::INT64, {kLength, texts});
    std::string x = embedded(b, ids, kTokens, kWidth);
    x = bothWays(b, "/gru0", x, kWidth, hidden);
    x = bothWays(b, "/gru1", x, 2 * hidden, hidden);
    b.output(linear(b, "/tags", x, 2 * hidden, kTags), "tags", {kLength, texts, kTags});
    return b.bytes();
}

} // namespace tenon::test
