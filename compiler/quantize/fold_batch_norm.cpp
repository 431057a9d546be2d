// SPDX-License-Identifier: Apache-2.0
// y = (w x + b - mean) * scale / sqrt(variance + epsilon) + shift, as one layer; behind layers
// whose channels are joined, each takes its own.
#include "compiler/quantize/fold_batch_norm.h"

#include "compiler/quantize/float_graph.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

struct Affine
{
    std::vector<double> factor, offset;
};

/// Of each channel; nothing where the parameters are no constants.
std::optional<Affine> affineOf(const FloatGraph& graph, const NodeProto& norm)
{
    if (norm.input_size() < 5 || integerOf(norm, "training_mode", 0) != 0) return std::nullopt;
    const double epsilon = static_cast<double>(floatOf(norm, "epsilon", 1e-5F));
    std::vector<std::vector<double>> values;
    for (int i = 1; i < 5; ++i) {
        const Tensor* value = graph.constant(norm.input(i));
        if (!value || value->dtype() != kFloat32) return std::nullopt;
        values.push_back(value->numbers());
        if (values.back().size() != values.front().size()) return std::nullopt;
    }
    Affine out;
    for (size_t i = 0; i < values[0].size(); ++i) {
        const double factor = values[0][i] / std::sqrt(values[3][i] + epsilon);
        out.factor.push_back(factor);
        out.offset.push_back(values[1][i] - values[2][i] * factor);
    }
    return out;
}

/// Channel of element `i` of a weight of this shape, for `groups` of a transposed convolution.
struct ChannelOf
{
    int64_t inner, channels, groups, inputs;
    bool isTransposed;

    size_t operator()(int64_t i) const
    {
        const int64_t within = (i / inner) % channels;
        if (!isTransposed) return static_cast<size_t>(within);
        const int64_t input = i / inner / channels;
        return static_cast<size_t>(input / (inputs / groups) * channels + within);
    }
};

std::optional<ChannelOf> channelsOf(const NodeProto& layer, const std::vector<int64_t>& shape)
{
    if (shape.size() < 2) return std::nullopt;
    const bool isTransposed = layer.op_type() == "ConvTranspose";
    const bool isGemm = layer.op_type() == "Gemm";
    const size_t axis = isTransposed || (isGemm && integerOf(layer, "transB", 0) == 0) ? 1 : 0;
    int64_t inner = 1;
    for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
    const int64_t groups = isTransposed ? integerOf(layer, "group", 1) : 1;
    if (groups < 1 || inner < 1 || shape[axis] < 1 || shape[0] < groups) return std::nullopt;
    return ChannelOf{inner, shape[axis], groups, shape[0], isTransposed};
}

Tensor floats(std::vector<int64_t> shape, const std::vector<double>& values)
{
    return Tensor::make(kFloat32, std::move(shape), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < values.size(); ++i)
            storeNumber(kFloat32, out, static_cast<int64_t>(i), values[i]);
    });
}

class Folder
{
public:
    explicit Folder(GraphProto& graph)
        : m_graph(graph)
        , m_view(graph)
    {
    }

    size_t run()
    {
        std::vector<int> folded;
        for (int i = 0; i < m_graph.node_size(); ++i)
            if (m_graph.node(i).op_type() == "BatchNormalization" && fold(i)) folded.push_back(i);
        for (size_t i = folded.size(); i-- > 0;)
            m_graph.mutable_node()->DeleteSubrange(folded[i], 1);
        for (const auto& [name, tensor] : m_added)
            storeTensor(tensor, name, *m_graph.add_initializer());
        return folded.size();
    }

private:
    bool fold(int index)
    {
        const NodeProto& norm = m_graph.node(index);
        const int before = m_view.producer(norm.input(0));
        if (before < 0 || m_view.onlyConsumer(norm.input(0)) != index) return false;
        const auto affine = affineOf(m_view, norm);
        if (!affine) return false;
        NodeProto& node = *m_graph.mutable_node(before);
        const std::vector<int> layers =
            node.op_type() == "Concat" ? joined(before) : std::vector{before};
        if (!foldInto(layers, *affine)) return false;
        node.set_output(0, norm.output(0));
        return true;
    }

    /// Layers whose channels stand side by side in the concatenation, which alone reads them;
    /// empty: its operands are others.
    std::vector<int> joined(int concat) const
    {
        const NodeProto& node = m_graph.node(concat);
        if (integerOf(node, "axis", 0) != 1) return {};
        std::vector<int> layers;
        for (const std::string& part : node.input()) {
            const int layer = m_view.producer(part);
            const bool isTwice = std::find(layers.begin(), layers.end(), layer) != layers.end();
            if (layer < 0 || isTwice || m_view.onlyConsumer(part) != concat) return {};
            layers.push_back(layer);
        }
        return layers;
    }

    /// Each takes as many of the channels as it has; all of them, or none.
    bool foldInto(const std::vector<int>& layers, const Affine& affine)
    {
        std::vector<std::pair<NodeProto*, Scaled>> made;
        size_t at = 0;
        for (const int index : layers) {
            auto scaled = scale(m_graph.node(index), affine, at);
            if (!scaled) return false;
            at += static_cast<size_t>(scaled->bias.size());
            made.emplace_back(m_graph.mutable_node(index), *std::move(scaled));
        }
        if (layers.empty() || at != affine.factor.size()) return false;
        for (auto& [layer, scaled] : made) {
            const std::string stem = layer->name() + "/folded";
            while (layer->input_size() < 3) layer->add_input();
            layer->set_input(1, stem + "_weight");
            layer->set_input(2, stem + "_bias");
            m_added.emplace_back(stem + "_weight", std::move(scaled.weight));
            m_added.emplace_back(stem + "_bias", std::move(scaled.bias));
        }
        return true;
    }

    struct Scaled
    {
        Tensor weight, bias;
    };

    /// By the factors and offsets from `first` on; nothing where it is no layer that takes them.
    std::optional<Scaled> scale(const NodeProto& layer, const Affine& affine, size_t first) const
    {
        const std::string& op = layer.op_type();
        if (op != "Conv" && op != "ConvTranspose" && op != "Gemm") return std::nullopt;
        if (op == "Gemm" && (floatOf(layer, "alpha", 1) != 1 || floatOf(layer, "beta", 1) != 1))
            return std::nullopt;
        const Tensor* weight = m_view.constant(layer.input(1));
        if (!weight || weight->dtype() != kFloat32) return std::nullopt;
        const auto channel = channelsOf(layer, weight->shape());
        if (!channel) return std::nullopt;
        const auto channels = static_cast<size_t>(channel->channels * channel->groups);
        if (first + channels > affine.factor.size()) return std::nullopt;
        std::vector<double> bias(channels, 0.0);
        if (layer.input_size() > 2 && !layer.input(2).empty()) {
            const Tensor* given = m_view.constant(layer.input(2));
            if (!given || static_cast<size_t>(given->size()) != channels) return std::nullopt;
            bias = given->numbers();
        }
        std::vector<double> values = weight->numbers();
        for (size_t i = 0; i < values.size(); ++i)
            values[i] *= affine.factor[first + (*channel)(static_cast<int64_t>(i))];
        for (size_t i = 0; i < channels; ++i)
            bias[i] = bias[i] * affine.factor[first + i] + affine.offset[first + i];
        return Scaled{floats(weight->shape(), values),
                      floats({static_cast<int64_t>(channels)}, bias)};
    }

    GraphProto& m_graph;
    FloatGraph m_view;
    std::vector<std::pair<std::string, Tensor>> m_added;
};

} // namespace

size_t foldBatchNorms(ModelProto& model) { return Folder(*model.mutable_graph()).run(); }

} // namespace tenon::compiler
