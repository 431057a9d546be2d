// SPDX-License-Identifier: Apache-2.0
// Factors by alternation over all pairs, then the weights.
#include "compiler/quantize/equalize_layers.h"

#include "compiler/quantize/float_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

constexpr std::array<std::string_view, 3> kActivations{"Relu", "LeakyRelu", "PRelu"};
constexpr std::array<std::string_view, 6> kPassing{
    "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Flatten", "Identity"};

template <size_t n>
bool contains(const std::array<std::string_view, n>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// How a layer multiplies: which input channel reaches which output channel, how strongly at most.
struct Weights
{
    bool isTurned = false; ///< inputs come first in the matrix of a Gemm
    int64_t outputs = 0, inputs = 0, groups = 1, inner = 1;

    int64_t outputOf(int64_t element) const
    {
        return isTurned ? element % outputs : element / inner / perGroup();
    }
    int64_t inputOf(int64_t element) const
    {
        if (isTurned) return element / outputs;
        const int64_t group = outputOf(element) / (outputs / groups);
        return group * perGroup() + element / inner % perGroup();
    }

private:
    int64_t perGroup() const { return inputs / groups; }
};

std::optional<Weights> weightsOf(const FloatGraph& graph, const NodeProto& layer)
{
    const bool isConv = layer.op_type() == "Conv";
    if (!isConv && layer.op_type() != "Gemm") return std::nullopt;
    const Tensor* weight = layer.input_size() > 1 ? graph.constant(layer.input(1)) : nullptr;
    if (!weight || weight->dtype() != kFloat32 || weight->size() == 0) return std::nullopt;
    const std::vector<int64_t>& shape = weight->shape();
    if (shape.size() < 2 || (!isConv && shape.size() != 2)) return std::nullopt;
    Weights out;
    out.isTurned = !isConv && integerOf(layer, "transB", 0) == 0;
    out.groups = isConv ? integerOf(layer, "group", 1) : 1;
    out.outputs = shape[out.isTurned ? 1 : 0];
    if (out.groups < 1 || out.outputs % out.groups != 0) return std::nullopt;
    out.inputs = shape[out.isTurned ? 0 : 1] * out.groups;
    for (size_t i = 2; i < shape.size(); ++i) out.inner *= shape[i];
    const bool isPlain = floatOf(layer, "alpha", 1) == 1 && floatOf(layer, "beta", 1) == 1 &&
                         integerOf(layer, "transA", 0) == 0;
    if (!isConv && !isPlain) return std::nullopt;
    if (layer.input_size() > 2 && !layer.input(2).empty()) {
        const Tensor* bias = graph.constant(layer.input(2));
        if (!bias || bias->dtype() != kFloat32 || bias->size() != out.outputs) return std::nullopt;
    }
    return out;
}

bool isZero(const FloatGraph& graph, const NodeProto& node, int input)
{
    const Tensor* value = node.input_size() > input ? graph.constant(node.input(input)) : nullptr;
    return value && value->size() == 1 && value->number(0) == 0;
}

/// Clip from 0 up without a limit is a Relu.
bool isRelu(const FloatGraph& graph, const NodeProto& node)
{
    if (contains(kActivations, node.op_type()))
        return node.op_type() != "PRelu" || graph.isConstant(node.input(1));
    return node.op_type() == "Clip" && isZero(graph, node, 1) &&
           (node.input_size() < 3 || node.input(2).empty());
}

bool passes(const NodeProto& node)
{
    if (node.op_type() == "Flatten") return integerOf(node, "axis", 1) == 1;
    return contains(kPassing, node.op_type()) && node.output_size() == 1;
}

/// The upper end of a Clip that begins at 0, as Relu6 does; 0: it is none.
double limitOf(const FloatGraph& graph, const NodeProto& node)
{
    if (node.op_type() != "Clip" || !isZero(graph, node, 1) || node.input_size() < 3) return 0;
    const Tensor* limit = graph.constant(node.input(2));
    return limit && limit->size() == 1 ? std::max(limit->number(0), 0.0) : 0;
}

/// The pair that begins with node `first`.
std::optional<LayerPair> pairFrom(const FloatGraph& graph, int first)
{
    const NodeProto& layer = graph.node(first);
    const auto from = weightsOf(graph, layer);
    if (!from) return std::nullopt;
    LayerPair out{.first = layer.name(), .second = {}, .tensor = layer.output(0)};
    std::string tensor = layer.output(0);
    for (int next = graph.onlyConsumer(tensor); next >= 0; next = graph.onlyConsumer(tensor)) {
        const NodeProto& node = graph.node(next);
        if (node.input(0) != tensor || node.output_size() == 0) return std::nullopt;
        if (const auto to = weightsOf(graph, node)) {
            if (to->inputs % from->outputs != 0) return std::nullopt;
            out.second = node.name();
            return out;
        }
        const double limit = limitOf(graph, node);
        if (!isRelu(graph, node) && !passes(node) && limit == 0) return std::nullopt;
        if (limit > 0) out.limit = out.limit > 0 ? std::min(out.limit, limit) : limit;
        if (tensor == out.tensor && !passes(node)) out.tensor = node.output(0);
        tensor = node.output(0);
    }
    return std::nullopt;
}

/// A layer by its strongest weight from every input channel to every output channel.
struct Layer
{
    Weights weights;
    std::vector<double> strengths; ///< by the first element of their weights, over `inner`
    int pairBefore = -1, pairBehind = -1;
};

class Equalizer
{
public:
    Equalizer(GraphProto& graph, const std::map<std::string, std::vector<double>>& peaks,
              std::vector<LayerPair> pairs)
        : m_graph(graph)
        , m_view(graph)
        , m_pairs(std::move(pairs))
    {
        for (int i = 0; i < graph.node_size(); ++i) m_nodes[graph.node(i).name()] = i;
        for (size_t i = 0; i < m_pairs.size(); ++i) {
            layer(m_pairs[i].first).pairBehind = static_cast<int>(i);
            layer(m_pairs[i].second).pairBefore = static_cast<int>(i);
            const auto channels =
                static_cast<size_t>(m_layers.at(m_pairs[i].first).weights.outputs);
            m_factors.emplace_back(channels, 0.0);
            const auto known = peaks.find(m_pairs[i].tensor);
            const bool isKnown = known != peaks.end() && known->second.size() == channels;
            m_peaks.push_back(isKnown ? known->second : std::vector<double>(channels, 0.0));
            m_floors.push_back(floorsOf(m_peaks.back(), m_pairs[i].limit, isKnown));
            m_peaks.back() = shares(m_peaks.back());
        }
    }

    std::vector<EqualizedPair> run()
    {
        constexpr int kMostRounds = 200;
        constexpr double kSettled = 1e-3; // of a power of two
        for (int round = 0; round < kMostRounds; ++round) {
            double moved = 0;
            for (size_t i = 0; i < m_pairs.size(); ++i) moved = std::max(moved, balance(i));
            if (moved < kSettled) break;
        }
        std::vector<EqualizedPair> out;
        for (size_t i = 0; i < m_pairs.size(); ++i) out.push_back(accountOf(i));
        for (const auto& [name, of] : m_layers)
            rewrite(*m_graph.mutable_node(m_nodes.at(name)), of);
        for (const auto& [name, tensor] : m_added)
            storeTensor(tensor, name, *m_graph.add_initializer());
        return out;
    }

private:
    Layer& layer(const std::string& name)
    {
        const auto known = m_layers.find(name);
        if (known != m_layers.end()) return known->second;
        const NodeProto& node = m_graph.node(m_nodes.at(name));
        Layer out{.weights = *weightsOf(m_view, node), .strengths = {}};
        const Tensor& weight = *m_view.constant(node.input(1));
        out.strengths.resize(static_cast<size_t>(weight.size() / out.weights.inner), 0.0);
        for (int64_t i = 0; i < weight.size(); ++i) {
            double& strength = out.strengths[static_cast<size_t>(i / out.weights.inner)];
            strength = std::max(strength, std::abs(weight.number(i)));
        }
        return m_layers[name] = std::move(out);
    }

    /// Logarithm of the least factor with which a channel stays below a limit, with a quarter to
    /// spare: 0 and more where it may not change, minus infinity where nothing limits it.
    static std::vector<double> floorsOf(const std::vector<double>& peaks, double limit,
                                        bool isKnown)
    {
        constexpr double kSpare = 1.25;
        std::vector<double> out(peaks.size(), -HUGE_VAL);
        for (size_t i = 0; i < peaks.size() && limit > 0; ++i)
            out[i] = isKnown ? std::log2(kSpare * peaks[i] / limit) : 0;
        return out;
    }

    /// Each value as a share of the largest.
    static std::vector<double> shares(std::vector<double> values)
    {
        const double largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
        for (double& value : values) value = largest > 0 ? value / largest : 0;
        return values;
    }

    /// Channels of the input that belong to one of the layer before, behind a Flatten.
    double inputFactor(const Layer& of, int64_t input) const
    {
        if (of.pairBefore < 0) return 0;
        const std::vector<double>& factors = m_factors[static_cast<size_t>(of.pairBefore)];
        return factors[sourceOf(of, input)];
    }
    size_t sourceOf(const Layer& of, int64_t input) const
    {
        const auto count =
            static_cast<int64_t>(m_factors[static_cast<size_t>(of.pairBefore)].size());
        return static_cast<size_t>(input / (of.weights.inputs / count));
    }
    double outputFactor(const Layer& of, int64_t output) const
    {
        if (of.pairBehind < 0) return 0;
        return m_factors[static_cast<size_t>(of.pairBehind)][static_cast<size_t>(output)];
    }

    /// The largest weight of every channel between the two layers, with the factors on the other
    /// side of the layer.
    std::vector<double> rangesMade(const Layer& first, size_t channels) const
    {
        std::vector<double> out(channels, 0.0), factors;
        for (int64_t i = 0; i < first.weights.inputs; ++i)
            factors.push_back(std::exp2(inputFactor(first, i)));
        for (size_t i = 0; i < first.strengths.size(); ++i) {
            const int64_t element = static_cast<int64_t>(i) * first.weights.inner;
            double& range = out[static_cast<size_t>(first.weights.outputOf(element))];
            const auto input = static_cast<size_t>(first.weights.inputOf(element));
            range = std::max(range, first.strengths[i] * factors[input]);
        }
        return out;
    }
    std::vector<double> rangesRead(const Layer& second, size_t channels) const
    {
        std::vector<double> out(channels, 0.0), factors;
        for (int64_t i = 0; i < second.weights.outputs; ++i)
            factors.push_back(std::exp2(-outputFactor(second, i)));
        for (size_t i = 0; i < second.strengths.size(); ++i) {
            const int64_t element = static_cast<int64_t>(i) * second.weights.inner;
            double& range = out[sourceOf(second, second.weights.inputOf(element))];
            const auto output = static_cast<size_t>(second.weights.outputOf(element));
            range = std::max(range, second.strengths[i] * factors[output]);
        }
        return out;
    }

    /// Factors of one pair with all others as they are: a channel takes the same share of the range
    /// in front, of weights or of data, as of the weights behind. How far the furthest moved.
    double balance(size_t index)
    {
        constexpr double kMost = 16; // beyond 65,536 a channel is as good as dead
        std::vector<double>& factors = m_factors[index];
        const auto made = shares(rangesMade(m_layers.at(m_pairs[index].first), factors.size()));
        const auto read = shares(rangesRead(m_layers.at(m_pairs[index].second), factors.size()));
        std::vector<double> even(factors.size(), 0.0);
        double held = 0, heldSum = 0;
        for (size_t i = 0; i < factors.size(); ++i) {
            if (made[i] == 0 || read[i] == 0) continue;
            const double front = std::max(made[i], m_peaks[index][i]);
            even[i] = std::clamp(std::log2(front / read[i]) / 2, -kMost, kMost);
            if (m_floors[index][i] < 0) continue;
            held += 1;
            heldSum += even[i];
        }
        // The others beside those that a limit holds.
        const double middle = held > 0 ? heldSum / held : 0;
        double moved = 0;
        for (size_t i = 0; i < factors.size(); ++i) {
            if (made[i] == 0 || read[i] == 0 || m_floors[index][i] >= 0) continue;
            const double factor = std::max(even[i] - middle, m_floors[index][i]);
            moved = std::max(moved, std::abs(factor - factors[i]));
            factors[i] = factor;
        }
        return moved;
    }

    EqualizedPair accountOf(size_t index) const
    {
        EqualizedPair out{.first = m_pairs[index].first, .second = m_pairs[index].second};
        for (size_t i = 0; i < m_factors[index].size(); ++i) {
            const double factor = std::exp2(m_factors[index][i]);
            out.channels += factor != 1;
            out.least = std::min(out.least, factor);
            out.greatest = std::max(out.greatest, factor);
        }
        return out;
    }

    void rewrite(NodeProto& node, const Layer& of)
    {
        const Tensor& weight = *m_view.constant(node.input(1));
        const std::string stem = node.name() + "/equalized";
        m_added.emplace_back(stem + "_weight", scaled(weight, [&](int64_t i) {
                                 return inputFactor(of, of.weights.inputOf(i)) -
                                        outputFactor(of, of.weights.outputOf(i));
                             }));
        if (node.input_size() > 2 && !node.input(2).empty()) {
            const Tensor& bias = *m_view.constant(node.input(2));
            m_added.emplace_back(stem + "_bias",
                                 scaled(bias, [&](int64_t i) { return -outputFactor(of, i); }));
            node.set_input(2, stem + "_bias");
        }
        node.set_input(1, stem + "_weight");
    }

    template <class Exponent>
    static Tensor scaled(const Tensor& tensor, Exponent exponentOf)
    {
        return Tensor::make(kFloat32, tensor.shape(), [&](std::span<std::byte> out) {
            for (int64_t i = 0; i < tensor.size(); ++i)
                storeNumber(kFloat32, out, i, tensor.number(i) * std::exp2(exponentOf(i)));
        });
    }

    GraphProto& m_graph;
    FloatGraph m_view;
    std::vector<LayerPair> m_pairs;
    std::map<std::string, int> m_nodes;
    std::map<std::string, Layer> m_layers;
    std::vector<std::vector<double>> m_factors; ///< logarithms to base 2, by pair and channel
    std::vector<std::vector<double>> m_peaks;   ///< as shares of the largest
    std::vector<std::vector<double>> m_floors;  ///< logarithms, too
    std::vector<std::pair<std::string, Tensor>> m_added;
};

} // namespace

std::vector<LayerPair> equalizedPairs(const ModelProto& model)
{
    const FloatGraph graph(model.graph());
    std::vector<LayerPair> out;
    for (int i = 0; i < graph.nodeCount(); ++i)
        if (auto pair = pairFrom(graph, i)) out.push_back(*std::move(pair));
    return out;
}

std::vector<EqualizedPair> equalizeLayers(ModelProto& model,
                                          const std::map<std::string, std::vector<double>>& peaks)
{
    return Equalizer(*model.mutable_graph(), peaks, equalizedPairs(model)).run();
}

} // namespace tenon::compiler
