// SPDX-License-Identifier: Apache-2.0
// Batch normalization written out: means, squares, and what they make of the values.
#include "tests/zoo/batch_statistics.h"

#include "core/base/check.h"

#include <map>

namespace tenon::test {
namespace {

using tenon_onnx::AttributeProto;
using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;
using tenon_onnx::TensorProto;

/// Writes the nodes that stand for one normalization.
class WrittenOut
{
public:
    WrittenOut(GraphProto& graph, const NodeProto& node, size_t rank)
        : m_graph(graph)
        , m_node(node)
        , m_rank(rank)
    {
    }

    void write()
    {
        const std::string mean = meanOf(m_node.input(0), "mean");
        const std::string centred = add("Sub", "centred", {m_node.input(0), mean});
        const std::string variance = meanOf(add("Mul", "squares", {centred, centred}), "variance");
        const std::string safe = add("Add", "safe", {variance, epsilon()});
        const std::string normal =
            add("Div", "normal", {centred, add("Sqrt", "deviation", {safe})});
        const std::string scaled = add("Mul", "scaled", {normal, perChannel(1)});
        const std::string result = add("Add", "result", {scaled, perChannel(2)});
        add("Identity", "out", {result}, m_node.output(0));
        for (const std::string& statistic : {mean, variance}) publish(statistic);
    }

private:
    std::string name(const std::string& what) const { return m_node.name() + "/" + what; }

    std::string add(const char* op, const std::string& what, const std::vector<std::string>& inputs,
                    const std::string& output = "")
    {
        NodeProto& made = *m_graph.add_node();
        made.set_op_type(op);
        made.set_name(name(what));
        for (const std::string& input : inputs) made.add_input(input);
        made.add_output(output.empty() ? name(what) : output);
        return made.output(0);
    }

    std::string meanOf(const std::string& values, const std::string& what)
    {
        const std::string mean = add("ReduceMean", what, {values});
        AttributeProto& axes = *m_graph.mutable_node(m_graph.node_size() - 1)->add_attribute();
        axes.set_name("axes");
        axes.set_type(AttributeProto::INTS);
        for (size_t axis = 0; axis < m_rank; ++axis)
            if (axis != 1) axes.add_ints(static_cast<int64_t>(axis));
        return mean;
    }

    std::string constant(const std::string& what, int32_t type, const std::string& bytes,
                         int64_t count)
    {
        TensorProto& tensor = *m_graph.add_initializer();
        tensor.set_name(name(what));
        tensor.set_data_type(type);
        tensor.add_dims(count);
        tensor.set_raw_data(bytes);
        return tensor.name();
    }

    std::string epsilon()
    {
        float value = 1e-5f;
        for (const AttributeProto& attribute : m_node.attribute())
            if (attribute.name() == "epsilon") value = attribute.f();
        return constant("epsilon", TensorProto::FLOAT,
                        {reinterpret_cast<const char*>(&value), sizeof value}, 1);
    }

    /// An operand of one value per channel, which stands before the other axes.
    std::string perChannel(int operand)
    {
        std::vector<int64_t> shape(m_rank, 1);
        shape[1] = -1;
        const std::string what = "shape" + std::to_string(operand);
        const std::string bytes(reinterpret_cast<const char*>(shape.data()),
                                shape.size() * sizeof(int64_t));
        return add("Reshape", "operand" + std::to_string(operand),
                   {m_node.input(operand),
                    constant(what, TensorProto::INT64, bytes, static_cast<int64_t>(m_rank))});
    }

    void publish(const std::string& tensor)
    {
        auto& output = *m_graph.add_output();
        output.set_name(tensor);
        output.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
    }

    GraphProto& m_graph;
    const NodeProto& m_node;
    size_t m_rank;
};

/// Extents of each result that a convolution or dense layer makes, kept along to its normalization.
std::map<std::string, size_t> ranksOf(const GraphProto& graph)
{
    std::map<std::string, size_t> weights, ranks;
    for (const TensorProto& tensor : graph.initializer())
        weights[tensor.name()] = static_cast<size_t>(tensor.dims_size());
    for (const auto& input : graph.input())
        ranks[input.name()] = static_cast<size_t>(input.type().tensor_type().shape().dim_size());
    for (const NodeProto& node : graph.node())
        for (const std::string& made : node.output()) {
            const std::string& op = node.op_type();
            const bool isReshape = op == "Reshape";
            if (op == "Conv" || op == "ConvTranspose" || op == "Gemm") {
                ranks[made] = weights.at(node.input(1));
            } else if (isReshape) {
                for (const TensorProto& tensor : graph.initializer())
                    if (tensor.name() == node.input(1))
                        ranks[made] = static_cast<size_t>(tensor.dims(0));
            } else {
                for (const std::string& operand : node.input())
                    ranks[made] = std::max(ranks[made], ranks.count(operand) ? ranks[operand] : 0);
            }
        }
    return ranks;
}

TensorProto& initializerOf(ModelProto& model, const std::string& name)
{
    for (TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
        if (tensor.name() == name) return tensor;
    CHECK(false) << "no initializer " << name;
    return *model.mutable_graph()->mutable_initializer(0);
}

} // namespace

int normalizationsOf(const ModelProto& model)
{
    int count = 0;
    for (const NodeProto& node : model.graph().node())
        count += node.op_type() == "BatchNormalization";
    return count;
}

ModelProto measuringStatistics(const ModelProto& model)
{
    ModelProto measuring = model;
    GraphProto& graph = *measuring.mutable_graph();
    graph.clear_node();
    graph.clear_output();
    const std::map<std::string, size_t> ranks = ranksOf(model.graph());
    for (const NodeProto& node : model.graph().node())
        if (node.op_type() == "BatchNormalization")
            WrittenOut(graph, node, ranks.at(node.input(0))).write();
        else
            *graph.add_node() = node;
    return measuring;
}

ModelProto withStatistics(ModelProto model, const std::vector<TensorProto>& statistics)
{
    size_t next = 0;
    for (const NodeProto& node : model.graph().node()) {
        if (node.op_type() != "BatchNormalization") continue;
        for (const int operand : {3, 4}) {
            CHECK(next < statistics.size()) << "statistics of too few normalizations";
            TensorProto& kept = initializerOf(model, node.input(operand));
            CHECK(statistics[next].raw_data().size() == kept.raw_data().size()) << kept.name();
            kept.set_raw_data(statistics[next++].raw_data());
        }
    }
    CHECK(next == statistics.size()) << "statistics of another model";
    return model;
}

} // namespace tenon::test
