// SPDX-License-Identifier: Apache-2.0
// The plan: layers first, what lies between them next, then the tensors around all of it.
#include "compiler/quantize/quantize_plan.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tenon_onnx::NodeProto;

bool isLimit(const NodeProto& node) { return node.op_type() == "Relu" || node.op_type() == "Clip"; }
bool mustBeInside(const NodeProto& node)
{
    return node.op_type() == "Erf" || node.op_type() == "Exp";
}
bool isArithmetic(const NodeProto& node)
{
    return node.op_type() == "Add" || node.op_type() == "Sub" || node.op_type() == "Mul";
}
bool hasInput(const NodeProto& node, int at)
{
    return node.input_size() > at && !node.input(at).empty();
}

class Planner
{
public:
    Planner(const FloatGraph& graph, const QuantizeOptions& options)
        : m_graph(graph)
        , m_options(options)
    {
    }

    QuantizePlan run()
    {
        for (int i = 0; i < m_graph.nodeCount(); ++i) m_plan.nodes.push_back(roleIn(i));
        findBiases();
        do {
            keepCarried();
            findFunctions();
        } while (dropBareInner());
        addTensors();
        widen();
        m_plan.functions = m_sources;
        return std::move(m_plan);
    }

private:
    PlannedNode& at(int node) { return m_plan.nodes[static_cast<size_t>(node)]; }
    const PlannedNode& at(int node) const { return m_plan.nodes[static_cast<size_t>(node)]; }

    PlannedNode roleIn(int index) const
    {
        const NodeProto& node = m_graph.node(index);
        PlannedNode role = roleOf(m_graph, node);
        const auto names = [](const std::vector<std::string>& list, const std::string& name) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        if (role.isQuantized() && names(m_options.floatNodes, node.name()))
            return {NodeRole::Float, "it was asked to stay in float by name"};
        if (role.isQuantized() && names(m_options.floatOps, node.op_type()))
            return {NodeRole::Float, "it was asked to stay in float with all " + node.op_type()};
        return role;
    }

    /// An addition of one constant per channel behind a layer without a bias.
    void findBiases()
    {
        for (int i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeProto& node = m_graph.node(i);
            if (node.op_type() != "Add" || !at(i).isQuantized()) continue;
            for (const int operand : {0, 1})
                if (isBiasOf(node, operand)) at(i).role = NodeRole::Bias;
        }
    }

    bool isBiasOf(const NodeProto& add, int operand) const
    {
        const int producer = m_graph.producer(add.input(operand));
        const Tensor* bias = m_graph.constant(add.input(1 - operand));
        if (producer < 0 || !bias || at(producer).role != NodeRole::Layer) return false;
        const NodeProto& layer = m_graph.node(producer);
        if (hasInput(layer, 2) || m_graph.onlyConsumer(add.input(operand)) < 0) return false;
        const std::vector<int64_t>& weight = m_graph.constant(layer.input(1))->shape();
        const bool isTransposed = layer.op_type() == "ConvTranspose";
        const bool isConv = isTransposed || layer.op_type() == "Conv";
        const int64_t channels = isConv && !isTransposed ? weight[0] : weight[1];
        const size_t fromEnd = isConv ? weight.size() - 1 : 1;
        const std::vector<int64_t>& shape = bias->shape();
        return bias->dtype() == kFloat32 && bias->size() == channels && shape.size() >= fromEnd &&
               shape.size() <= (isConv ? weight.size() : size_t{2}) &&
               shape[shape.size() - fromEnd] == channels;
    }

    /// Nodes that are no layers compute with integers when their operands are integers already and
    /// somebody gains by it.
    void keepCarried()
    {
        const auto count = static_cast<size_t>(m_graph.nodeCount());
        std::vector<bool> isBehindLayer(count, false);
        for (int i = 0; i < m_graph.nodeCount(); ++i) {
            PlannedNode& node = at(i);
            if (!node.isQuantized()) continue;
            bool isBehind = node.role == NodeRole::Layer;
            for (const int input : activationInputs(m_graph, m_graph.node(i))) {
                const std::string& tensor = m_graph.node(i).input(input);
                const int producer = m_graph.producer(tensor);
                const bool isCarried =
                    producer < 0 ? m_graph.isInput(tensor) : at(producer).isQuantized();
                if (producer >= 0)
                    isBehind = isBehind || isBehindLayer[static_cast<size_t>(producer)];
                if (!isCarried && node.role != NodeRole::Layer)
                    node = {NodeRole::Float, "its operands are floats"};
            }
            isBehindLayer[static_cast<size_t>(i)] = isBehind && node.isQuantized();
        }
        for (int i = m_graph.nodeCount(); i-- > 0;) {
            if (!at(i).isQuantized() || isWanted(m_graph.node(i))) continue;
            if (!isBehindLayer[static_cast<size_t>(i)])
                at(i) = {NodeRole::Float, "no layer is around it"};
            else if (isForFloats(i))
                at(i) = {NodeRole::Float, "only floats read it"};
        }
    }

    /// Sums and means that are rounded for nobody, as those inside of a norm that is written out.
    bool isForFloats(int index) const
    {
        const NodeProto& node = m_graph.node(index);
        const bool computes = at(index).role == NodeRole::Computing &&
                              (isArithmetic(node) || node.op_type() == "ReduceMean");
        return computes && !m_graph.isResult(node.output(0)) && !m_graph.isCaptured(node.output(0));
    }

    bool isWanted(const NodeProto& node) const
    {
        for (const std::string& output : node.output())
            for (const int reader : m_graph.consumers(output))
                if (at(reader).isQuantized()) return true;
        return false;
    }

    /// The tensor that the node is a function of; "" when there are several.
    std::string sourceOf(int index) const
    {
        const NodeProto& node = m_graph.node(index);
        const PlannedNode& planned = at(index);
        const bool canBe = planned.role == NodeRole::Function ||
                           (planned.role == NodeRole::Computing && isArithmetic(node));
        if (!canBe) return {};
        std::string source;
        for (const std::string& input : node.input()) {
            if (input.empty()) continue;
            if (const Tensor* constant = m_graph.constant(input)) {
                if (constant->size() != 1) return {};
                continue;
            }
            const auto found = m_sources.find(input);
            const std::string& of = found == m_sources.end() ? input : found->second;
            if (!source.empty() && of != source) return {};
            source = of;
        }
        return source;
    }

    /// Slopes of PReLU, one or one per channel, behind a layer are scales of its sums.
    bool isSlopesOf(int index) const
    {
        const NodeProto& node = m_graph.node(index);
        const int producer = m_graph.producer(node.input(0));
        const bool isBehind = node.op_type() == "PRelu" && producer >= 0 &&
                              m_graph.onlyConsumer(node.input(0)) == index;
        if (!isBehind || at(index).role != NodeRole::Function) return false;
        const NodeProto& made = m_graph.node(producer);
        const bool isBias = at(producer).role == NodeRole::Bias;
        if (!isBias && at(producer).role != NodeRole::Layer) return false;
        const NodeProto& layer = isBias ? m_graph.node(layerOf(made)) : made;
        const Tensor* slopes = m_graph.constant(node.input(1));
        if (layer.op_type() != "Conv" || !slopes) return false;
        const std::vector<int64_t>& weight = m_graph.constant(layer.input(1))->shape();
        const std::vector<int64_t>& shape = slopes->shape();
        const size_t rank = weight.size() - 1;
        return slopes->size() == 1 ||
               (slopes->size() == weight[0] && shape.size() == rank && shape[0] == weight[0]);
    }

    /// Of a bias.
    int layerOf(const NodeProto& add) const
    {
        return m_graph.producer(add.input(m_graph.constant(add.input(0)) ? 1 : 0));
    }

    /// Limits behind a layer or sum become limits of its integers: nothing is rounded between.
    bool isLimitOf(int index) const
    {
        if (isSlopesOf(index)) return true;
        const NodeProto& node = m_graph.node(index);
        const int producer = m_graph.producer(node.input(0));
        if (!isLimit(node) || producer < 0 || m_sources.contains(node.input(0))) return false;
        const NodeRole role = at(producer).role;
        return (role == NodeRole::Layer || role == NodeRole::Bias || role == NodeRole::Computing) &&
               m_graph.onlyConsumer(node.input(0)) == index;
    }

    void findFunctions()
    {
        m_sources.clear();
        m_inside.clear();
        std::vector<std::string> made(static_cast<size_t>(m_graph.nodeCount()));
        for (int i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeProto& node = m_graph.node(i);
            if (at(i).role == NodeRole::Bias)
                for (const int input : activationInputs(m_graph, node))
                    m_inside.insert(node.input(input));
            if (!at(i).isQuantized()) continue;
            if (isLimitOf(i)) {
                m_inside.insert(node.input(0));
                continue;
            }
            const std::string source = sourceOf(i);
            if (source.empty()) continue;
            made[static_cast<size_t>(i)] = source;
            m_sources[node.output(0)] = source;
        }
        for (const auto& [tensor, source] : m_sources)
            if (isInsideFunction(tensor, source, made)) m_inside.insert(tensor);
    }

    bool isInsideFunction(const std::string& tensor, const std::string& source,
                          const std::vector<std::string>& made) const
    {
        const std::vector<int>& readers = m_graph.consumers(tensor);
        if (m_graph.isResult(tensor) || m_graph.isCaptured(tensor) || readers.empty()) return false;
        return std::all_of(readers.begin(), readers.end(),
                           [&](int reader) { return made[static_cast<size_t>(reader)] == source; });
    }

    bool dropBareInner()
    {
        bool hasDropped = false;
        for (int i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeProto& node = m_graph.node(i);
            if (!at(i).isQuantized() || !mustBeInside(node) || m_inside.contains(node.output(0)))
                continue;
            at(i) = {NodeRole::Float, "its results have no range that 8 bits serve"};
            hasDropped = true;
        }
        return hasDropped;
    }

    void addTensors()
    {
        for (int i = 0; i < m_graph.nodeCount(); ++i) {
            if (!at(i).isQuantized()) continue;
            const NodeProto& node = m_graph.node(i);
            for (const int input : activationInputs(m_graph, node)) addTensor(node.input(input));
            for (const std::string& output : node.output())
                if (!output.empty() && (m_graph.isResult(output) || m_graph.isCaptured(output) ||
                                        !m_graph.consumers(output).empty()))
                    addTensor(output);
        }
        if (!m_options.hasIntegerEnds) return;
        for (const auto& input : m_graph.proto().input()) addEnd(input.name());
        for (const auto& result : m_graph.proto().output()) addEnd(result.name());
    }

    /// Inputs and results are rounded for everybody, also between nodes of floats.
    void addEnd(const std::string& name)
    {
        if (!m_graph.isFloat32(name) || m_graph.isConstant(name)) return;
        addTensor(name);
        for (PlannedTensor& tensor : m_plan.tensors)
            if (tensor.name == name && tensor.producer >= 0) tensor.isForAll = true;
    }

    void addTensor(const std::string& name)
    {
        if (m_inside.contains(name) || !m_plan.roundedNames.insert(name).second) return;
        PlannedTensor tensor{.name = name, .producer = m_graph.producer(name)};
        tensor.isForAll = tensor.producer >= 0 && at(tensor.producer).isQuantized();
        if (tensor.isForAll && at(tensor.producer).role == NodeRole::Moving) {
            const std::string& from = m_graph.node(tensor.producer).input(0);
            const auto known = std::find_if(m_plan.tensors.begin(), m_plan.tensors.end(),
                                            [&](const auto& t) { return t.name == from; });
            if (known != m_plan.tensors.end())
                tensor.sameAs = known->sameAs.empty() ? from : known->sameAs;
        }
        m_plan.tensors.push_back(std::move(tensor));
    }

    /// What comes out of the kernel that the node begins.
    const std::string& resultOf(const NodeProto& node) const
    {
        const std::string* tensor = &node.output(0);
        while (m_inside.contains(*tensor))
            tensor = &m_graph.node(m_graph.consumers(*tensor).front()).output(0);
        return *tensor;
    }

    /// Tensors that share a scale are wide together.
    void widen()
    {
        std::set<std::string> wide;
        for (int i = 0; i < m_graph.nodeCount(); ++i) {
            const NodeProto& node = m_graph.node(i);
            if (at(i).role == NodeRole::Layer) at(i).result = resultOf(node);
            const auto& names = m_options.wideNodes;
            if (!at(i).isQuantized() ||
                std::find(names.begin(), names.end(), node.name()) == names.end())
                continue;
            for (const int input : activationInputs(m_graph, node)) wide.insert(node.input(input));
            wide.insert(resultOf(node));
        }
        const auto root = [](const PlannedTensor& tensor) {
            return tensor.sameAs.empty() ? tensor.name : tensor.sameAs;
        };
        std::set<std::string> roots;
        for (const PlannedTensor& tensor : m_plan.tensors)
            if (wide.contains(tensor.name)) roots.insert(root(tensor));
        for (PlannedTensor& tensor : m_plan.tensors) tensor.isWide = roots.contains(root(tensor));
    }

    const FloatGraph& m_graph;
    const QuantizeOptions& m_options;
    QuantizePlan m_plan;
    std::map<std::string, std::string> m_sources; ///< results of functions: of which tensor
    std::set<std::string> m_inside; ///< tensors that nobody rounds, between nodes that are one
};

} // namespace

QuantizePlan planQuantization(const FloatGraph& graph, const QuantizeOptions& options)
{
    return Planner(graph, options).run();
}

} // namespace tenon::compiler
