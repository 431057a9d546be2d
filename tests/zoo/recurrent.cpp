// SPDX-License-Identifier: Apache-2.0
// Stacks of recurrent layers: GRU, LSTM, and CRNN, which reads text lines by a convolution network
// and two LSTMs of both directions.
#include "tests/zoo/layers.h"

#include <cmath>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Recurrence
{
    std::string op; ///< "GRU" or "LSTM"
    int64_t inputs;
    int64_t hidden;
    int64_t directions;
};

/// [length, batch, inputs] -> [length, batch, directions * hidden]
std::string recurrent(ModelBuilder& b, const std::string& scope, const std::string& x,
                      const Recurrence& r)
{
    const int64_t gates = r.op == "GRU" ? 3 : 4;
    const double deviation = 0.8 / std::sqrt(static_cast<double>(r.hidden));
    const std::vector<std::string> operands = {
        x, b.weight(b.parameter(scope, "W"), {r.directions, gates * r.hidden, r.inputs}, deviation),
        b.weight(b.parameter(scope, "R"), {r.directions, gates * r.hidden, r.hidden}, deviation),
        b.weight(b.parameter(scope, "B"), {r.directions, 2 * gates * r.hidden}, 0.1)};
    Attrs attrs = {{"direction", std::string(r.directions == 2 ? "bidirectional" : "forward")},
                   {"hidden_size", r.hidden}};
    if (r.op == "GRU") attrs.push_back({"linear_before_reset", int64_t{1}});
    const std::string y = b.node(r.op, scope, operands, attrs);
    return reshape(b, scope, transpose(b, scope, y, {0, 2, 1, 3}), {0, 0, r.directions * r.hidden});
}

/// `layers` of them above one another, and a dense layer for every step.
std::string makeStack(const char* name, Recurrence r, int64_t layers, const ZooOptions& options)
{
    constexpr int64_t kLength = 100, kFeatures = 80, kClasses = 40;
    ModelBuilder b(name, options);
    r.hidden = b.channels(r.hidden);
    r.inputs = kFeatures;
    std::string x = b.input("features", TensorProto::FLOAT, {kLength, options.batch, kFeatures});
    for (int64_t layer = 0; layer < layers; ++layer) {
        x = recurrent(b, "/layers/" + std::to_string(layer), x, r);
        r.inputs = r.directions * r.hidden;
    }
    b.output(linear(b, "/classifier", x, r.inputs, kClasses), "output",
             {kLength, options.batch, kClasses});
    return b.bytes();
}

/// Of a line of 32 rows: one row of columns is left.
std::string lineFeatures(ModelBuilder& b, std::string x)
{
    struct Layer
    {
        int64_t outputs;
        bool isNormalized;
        Dims pool; ///< strides of a maximum before it
    };
    const std::vector<Layer> layers = {{64, false, {}},  {128, false, {2, 2}}, {256, true, {2, 2}},
                                       {256, false, {}}, {512, true, {2, 1}},  {512, false, {}}};
    int64_t channels = 1;
    int index = 0;
    for (const Layer& layer : layers) {
        const std::string scope = "/cnn/" + std::to_string(index++);
        if (!layer.pool.empty())
            x = b.node("MaxPool", scope + "/pool", {x},
                       {{"kernel_shape", Dims{2, 2}},
                        {"pads", layer.pool[1] == 1 ? Dims{0, 1, 0, 1} : Dims{0, 0, 0, 0}},
                        {"strides", layer.pool}});
        const int64_t outputs = b.channels(layer.outputs);
        x = b.conv(scope, x, {.inputs = channels, .outputs = outputs, .hasBias = true});
        if (layer.isNormalized) x = b.batchNorm(scope + "/bn", x, outputs);
        x = b.relu(scope, x);
        channels = outputs;
    }
    x = b.node("MaxPool", "/cnn/pool", {x},
               {{"kernel_shape", Dims{2, 2}}, {"pads", Dims{0, 1, 0, 1}}, {"strides", Dims{2, 1}}});
    x = b.conv("/cnn/last", x,
               {.inputs = channels,
                .outputs = channels,
                .kernel = {2, 2},
                .pads = {0, 0, 0, 0},
                .hasBias = true});
    return b.relu("/cnn/last", b.batchNorm("/cnn/last/bn", x, channels));
}

} // namespace

std::string makeGruStack(const ZooOptions& options)
{
    return makeStack("gru_stack", {"GRU", 0, 256, 1}, 3, options);
}

std::string makeLstmStack(const ZooOptions& options)
{
    return makeStack("lstm_stack", {"LSTM", 0, 320, 2}, 3, options);
}

std::string makeCrnn(const ZooOptions& options)
{
    constexpr int64_t kColumns = 100, kSymbols = 37;
    ModelBuilder b("crnn", options);
    std::string x =
        lineFeatures(b, b.input("line", TensorProto::FLOAT, {options.batch, 1, 32, kColumns}));
    x = b.node("Squeeze", "/squeeze", {x, b.integers("squeeze.axes", {2})});
    x = transpose(b, "/steps", x, {2, 0, 1});
    Recurrence r = {"LSTM", b.channels(512), b.channels(256), 2};
    for (int64_t layer = 0; layer < 2; ++layer) {
        const std::string scope = "/rnn/" + std::to_string(layer);
        x = recurrent(b, scope, x, r);
        x = linear(b, scope + "/embedding", x, 2 * r.hidden, layer == 0 ? r.hidden : kSymbols);
        r.inputs = r.hidden;
    }
    b.output(x, "symbols", {kColumns / 4 + 1, options.batch, kSymbols});
    return b.bytes();
}

} // namespace tenon::test
