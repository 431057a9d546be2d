// SPDX-License-Identifier: Apache-2.0
// Writes the nodes again in their order, with quantizers between them.
#include "compiler/quantize/write_qdq.h"

#include "compiler/quantize/integer_weights.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

/// Which constant of a layer is rounded along which axis.
int64_t channelAxis(const NodeProto& layer)
{
    if (layer.op_type() == "Conv") return 0;
    return layer.op_type() == "Gemm" && integerOf(layer, "transB", 0) != 0 ? 0 : 1;
}

/// Of a filter's taps, those that one result takes: a transposed convolution's steps share them.
double tapShare(const NodeProto& layer)
{
    const tenon_onnx::AttributeProto* strides = attributeOf(layer, "strides");
    double share = 1;
    if (layer.op_type() == "ConvTranspose" && strides)
        for (const int64_t each : strides->ints()) share /= static_cast<double>(each);
    return share;
}

Tensor multiplied(const Tensor& tensor, float factor)
{
    if (factor == 1) return tensor;
    return Tensor::make(kFloat32, tensor.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < tensor.size(); ++i)
            storeNumber(kFloat32, out, i, tensor.number(i) * static_cast<double>(factor));
    });
}

class Writer
{
public:
    Writer(ModelProto& model, const QuantizePlan& plan,
           const std::map<std::string, RoundedTensor>& ranges, const QuantizeOptions& options)
        : m_old(model.graph())
        , m_graph(*model.mutable_graph())
        , m_view(m_old)
        , m_plan(plan)
        , m_ranges(ranges)
        , m_options(options)
    {
        for (const PlannedTensor& tensor : plan.tensors) m_tensors[tensor.name] = &tensor;
        reserveNames();
    }

    QdqNames run()
    {
        m_graph.clear_node();
        for (const PlannedTensor& tensor : m_plan.tensors)
            if (tensor.producer < 0) addQuantizer(tensor, tensor.name);
        for (int i = 0; i < m_old.node_size(); ++i) addNode(i);
        dropUnused();
        return std::move(m_names);
    }

private:
    void reserveNames()
    {
        for (const NodeProto& node : m_old.node()) {
            m_taken.insert(node.output().begin(), node.output().end());
            m_taken.insert(node.input().begin(), node.input().end());
            m_takenNodes.insert(node.name());
        }
        for (const auto& initializer : m_old.initializer()) m_taken.insert(initializer.name());
    }

    /// What a name of ours begins with: theirs, unless exporters joined the names of all they
    /// fused.
    std::string stemOf(const std::string& name)
    {
        constexpr size_t kLongest = 64;
        if (name.size() <= kLongest) return name;
        const auto known = m_stems.emplace(name, "tensor_" + std::to_string(m_stems.size()));
        return known.first->second;
    }

    static std::string unique(std::set<std::string>& taken, std::string name)
    {
        while (!taken.insert(name).second) name += "_";
        return name;
    }

    std::string constant(const std::string& name, const Tensor& value)
    {
        std::string chosen = unique(m_taken, name);
        storeTensor(value, chosen, *m_graph.add_initializer());
        return chosen;
    }

    void addLinear(const std::string& op, const std::vector<std::string>& inputs,
                   const std::string& output, int64_t axis = -1)
    {
        NodeProto& node = *m_graph.add_node();
        node.set_op_type(op);
        node.set_name(unique(m_takenNodes, stemOf(output) + "/" + op));
        for (const std::string& input : inputs) node.add_input(input);
        node.add_output(output);
        if (axis >= 0) setInteger(node, "axis", axis);
    }

    struct Linear
    {
        std::string scale, zero;
    };

    /// Tensors that share a range share its constants.
    Linear linearOf(const PlannedTensor& tensor)
    {
        const std::string& root = tensor.sameAs.empty() ? tensor.name : tensor.sameAs;
        const auto known = m_linear.find(root);
        if (known != m_linear.end()) return known->second;
        const LinearRange& range = m_ranges.at(tensor.name).range;
        const Linear linear{
            constant(stemOf(root) + "_scale", Tensor::of<float>(kFloat32, {}, {range.scale})),
            constant(stemOf(root) + "_zero_point",
                     Tensor::make(range.dtype, {}, [&](std::span<std::byte> out) {
                         storeInteger(range.dtype, out, 0, range.zero);
                     }))};
        return m_linear[root] = linear;
    }

    /// Rounds what `from` holds.
    void addQuantizer(const PlannedTensor& tensor, const std::string& from)
    {
        const Linear linear = linearOf(tensor);
        const std::string integers = unique(m_taken, stemOf(tensor.name) + "_quantized");
        const std::string real =
            tensor.isForAll ? tensor.name : unique(m_taken, stemOf(tensor.name) + "_dequantized");
        addLinear("QuantizeLinear", {from, linear.scale, linear.zero}, integers);
        addLinear("DequantizeLinear", {integers, linear.scale, linear.zero}, real);
        m_names.dequantized[tensor.name] = real;
    }

    void addNode(int index)
    {
        const PlannedNode& planned = m_plan.nodes[static_cast<size_t>(index)];
        NodeProto node = m_old.node(index);
        for (std::string& input : *node.mutable_input()) {
            const bool takesRounded =
                planned.isQuantized() || (m_options.hasIntegerEnds && m_view.isInput(input));
            const auto rounded = m_names.dequantized.find(input);
            if (takesRounded && rounded != m_names.dequantized.end()) input = rounded->second;
        }
        if (planned.isQuantized()) {
            if (planned.role == NodeRole::Layer) roundLayer(m_old.node(index), node);
            if (planned.role == NodeRole::Computing) roundOperands(m_old.node(index), node);
        }
        std::vector<std::pair<const PlannedTensor*, std::string>> rounded;
        for (std::string& output : *node.mutable_output()) {
            const auto tensor = m_tensors.find(output);
            if (tensor == m_tensors.end()) continue;
            if (tensor->second->isForAll) output = unique(m_taken, stemOf(output) + "_float");
            rounded.emplace_back(tensor->second, output);
        }
        m_graph.add_node()->Swap(&node);
        for (const auto& [tensor, from] : rounded) addQuantizer(*tensor, from);
    }

    /// Range of the data that a layer reads; 1 where nobody rounds them.
    double scaleOf(const std::string& tensor) const
    {
        const auto range = m_ranges.find(tensor);
        return range == m_ranges.end() ? 1 : static_cast<double>(range->second.range.scale);
    }

    /// The bias of every output; empty: the layer has none.
    std::vector<double> biasOf(const NodeProto& layer, int64_t channels) const
    {
        if (layer.input_size() < 3 || layer.input(2).empty()) return {};
        const float factor = layer.op_type() == "Gemm" ? floatOf(layer, "beta", 1) : 1;
        auto bias = multiplied(*m_view.constant(layer.input(2)), factor).numbers();
        if (bias.size() == 1) bias.resize(static_cast<size_t>(channels), bias.front());
        return bias;
    }

    void roundLayer(const NodeProto& given, NodeProto& node)
    {
        const bool isGemm = given.op_type() == "Gemm";
        const Tensor weight =
            multiplied(*m_view.constant(given.input(1)), isGemm ? floatOf(given, "alpha", 1) : 1);
        WeightForm form{.dtype = m_options.weightType,
                        .axis = channelAxis(given),
                        .isPerChannel = m_options.isPerChannel,
                        .inputScale = scaleOf(given.input(0)),
                        .bias = {}};
        form.bias = biasOf(given, weight.shape()[static_cast<size_t>(form.axis)]);
        const IntegerWeight rounded = roundWeight(weight, form);
        node.set_input(1, addWeight(given, given.input(1), rounded));
        eraseAttribute(node, "alpha");
        eraseAttribute(node, "beta");
        std::vector<double> bias = form.bias;
        if (given.op_type() != "MatMul") addLost(given, weight, rounded, bias);
        if (bias.empty()) return;
        while (node.input_size() < 3) node.add_input();
        const std::string name = form.bias.empty() ? given.name() + "_bias" : given.input(2);
        node.set_input(2, addBias(name, roundBias(bias, rounded, form.inputScale)));
    }

    /// Corrects the bias, or makes one, where the means of the data are known.
    void addLost(const NodeProto& layer, const Tensor& weight, const IntegerWeight& rounded,
                 std::vector<double>& bias) const
    {
        const auto data = m_ranges.find(layer.input(0));
        if (data == m_ranges.end()) return;
        const auto lost = lostMeans(weight, rounded, data->second.channelMeans);
        if (lost.empty()) return;
        bias.resize(lost.size(), 0.0);
        for (size_t i = 0; i < lost.size(); ++i) bias[i] += lost[i] * tapShare(layer);
    }

    struct WeightNames
    {
        std::string integers, scales, zeros;
    };
    struct StoredWeight
    {
        IntegerWeight weight;
        WeightNames names;
    };

    static bool isSame(const IntegerWeight& a, const IntegerWeight& b)
    {
        return a.scales == b.scales && a.zero == b.zero && a.axis == b.axis &&
               a.integers.hash() == b.integers.hash();
    }

    /// Constants of the file: once for all readers that round a weight alike.
    const WeightNames& storedWeight(const std::string& name, const IntegerWeight& rounded)
    {
        std::vector<StoredWeight>& known = m_stored[name];
        const auto same = std::find_if(known.begin(), known.end(), [&](const StoredWeight& each) {
            return isSame(each.weight, rounded);
        });
        if (same != known.end()) return same->names;
        const DataType dtype = rounded.integers.dtype();
        std::vector<int64_t> shape;
        if (rounded.scales.size() > 1) shape.push_back(static_cast<int64_t>(rounded.scales.size()));
        const std::string integers = constant(stemOf(name) + "_quantized", rounded.integers);
        const std::string scales =
            constant(stemOf(name) + "_scale", Tensor::of<float>(kFloat32, shape, rounded.scales));
        const std::string zeros = constant(
            stemOf(name) + "_zero_point", Tensor::make(dtype, shape, [&](std::span<std::byte> out) {
                for (size_t i = 0; i < rounded.scales.size(); ++i)
                    storeInteger(dtype, out, static_cast<int64_t>(i), rounded.zero);
            }));
        return known.emplace_back(StoredWeight{rounded, {integers, scales, zeros}}).names;
    }

    std::string addWeight(const NodeProto& reader, const std::string& name,
                          const IntegerWeight& rounded)
    {
        const bool isPerChannel = rounded.scales.size() > 1;
        const WeightNames& stored = storedWeight(name, rounded);
        const std::string real = unique(m_taken, stemOf(name) + "_dequantized");
        addLinear("DequantizeLinear", {stored.integers, stored.scales, stored.zeros}, real,
                  isPerChannel ? rounded.axis : -1);
        const auto [least, greatest] =
            std::minmax_element(rounded.scales.begin(), rounded.scales.end());
        m_names.weights.push_back({.name = name,
                                   .node = reader.name(),
                                   .op = reader.op_type(),
                                   .dtype = rounded.integers.dtype(),
                                   .channels = rounded.scales.size(),
                                   .leastScale = static_cast<double>(*least),
                                   .greatestScale = static_cast<double>(*greatest),
                                   .sqnrDb = rounded.sqnrDb});
        return real;
    }

    std::string addBias(const std::string& name, const IntegerBias& bias)
    {
        const std::string integers = constant(stemOf(name) + "_quantized", bias.integers);
        const std::string scales = constant(stemOf(name) + "_scale", bias.scales);
        const std::string real = unique(m_taken, stemOf(name) + "_dequantized");
        addLinear("DequantizeLinear", {integers, scales}, real, 0);
        return real;
    }

    /// Of the integers that the node reads beside its constants.
    DataType typeBeside(const NodeProto& node) const
    {
        for (const std::string& input : node.input())
            if (const auto range = m_ranges.find(input); range != m_ranges.end())
                return range->second.range.dtype;
        return m_options.activations.dtype;
    }

    /// Constants that a sum, product or concatenation reads.
    void roundOperands(const NodeProto& given, NodeProto& node)
    {
        for (int i = 0; i < given.input_size(); ++i) {
            const Tensor* value = m_view.constant(given.input(i));
            const bool isOperand = given.op_type() == "Concat" || given.op_type() == "Add" ||
                                   given.op_type() == "Sub" || given.op_type() == "Mul";
            if (!value || !isOperand || value->dtype() != kFloat32 || value->size() == 0) continue;
            const std::vector<double> values = value->numbers();
            const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
            const LinearRange range = linearRange(*least, *greatest, typeBeside(given),
                                                  m_options.activations.isSymmetric);
            IntegerWeight rounded{.scales = {range.scale}, .zero = range.zero};
            double signal = 0, noise = 0;
            rounded.integers =
                Tensor::make(range.dtype, value->shape(), [&](std::span<std::byte> out) {
                    for (size_t k = 0; k < values.size(); ++k) {
                        storeInteger(range.dtype, out, static_cast<int64_t>(k),
                                     range.integer(values[k]));
                        const double error = values[k] - range.rounded(values[k]);
                        signal += values[k] * values[k];
                        noise += error * error;
                    }
                });
            rounded.sqnrDb = sqnrDb(signal, noise);
            node.set_input(i, addWeight(given, given.input(i), rounded));
        }
    }

    /// Constants that nobody reads any more.
    void dropUnused()
    {
        const FloatGraph after(m_graph);
        const auto isUnused = [&](const std::string& name) {
            return after.consumers(name).empty() && !after.isResult(name);
        };
        std::vector<std::string> names;
        std::set<std::string> unused;
        for (const auto& tensor : m_graph.initializer())
            if (isUnused(tensor.name())) unused.insert(tensor.name());
        for (const NodeProto& node : m_graph.node())
            if (node.op_type() == "Constant" && isUnused(node.output(0)))
                unused.insert(node.output(0));
        std::set<std::string> constants;
        for (const auto& tensor : m_graph.initializer()) constants.insert(tensor.name());
        eraseWhere(*m_graph.mutable_input(),
                   [&](const auto& input) { return constants.contains(input.name()); });
        eraseWhere(*m_graph.mutable_initializer(),
                   [&](const auto& tensor) { return unused.contains(tensor.name()); });
        eraseWhere(*m_graph.mutable_node(), [&](const NodeProto& node) {
            return node.op_type() == "Constant" && unused.contains(node.output(0));
        });
    }

    template <class Field, class Condition>
    static void eraseWhere(Field& field, Condition condition)
    {
        int kept = 0;
        for (int i = 0; i < field.size(); ++i)
            if (!condition(field[i])) field.SwapElements(kept++, i);
        field.DeleteSubrange(kept, field.size() - kept);
    }

    const GraphProto m_old;
    GraphProto& m_graph;
    const FloatGraph m_view;
    const QuantizePlan& m_plan;
    const std::map<std::string, RoundedTensor>& m_ranges;
    const QuantizeOptions& m_options;
    std::map<std::string, const PlannedTensor*> m_tensors;
    std::map<std::string, Linear> m_linear;
    std::map<std::string, std::vector<StoredWeight>> m_stored; ///< by what they were
    std::map<std::string, std::string> m_stems;
    std::set<std::string> m_taken, m_takenNodes;
    QdqNames m_names;
};

} // namespace

QdqNames writeQdq(ModelProto& model, const QuantizePlan& plan,
                  const std::map<std::string, RoundedTensor>& ranges,
                  const QuantizeOptions& options)
{
    return Writer(model, plan, ranges, options).run();
}

} // namespace tenon::compiler
