// SPDX-License-Identifier: Apache-2.0
// A quantized model from a file, evaluated as the random ones are.
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "core/tensor/onnx_types.h"
#include "tests/fuzz/quantized/quantized_graph.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace tenon::test {

using namespace core;
using tenon_onnx::NodeProto;

namespace {

class ModelReader
{
public:
    Result<QuantizedGraph> read(const std::string& folder, int set)
    {
        auto bytes = readFile(folder + "/model.onnx");
        if (!bytes) return bytes.error();
        if (!m_model.ParseFromString(*bytes))
            return makeError(DiagnosticCode::BadModel, folder + " holds no ONNX model");
        m_graph.opset = static_cast<int>(m_model.opset_import(0).version());
        for (const auto& constant : m_model.graph().initializer())
            if (Status s = addConstant(constant, constant.name()); !s) return s.error();
        if (Status s = addInputs(folder + "/test_data_set_" + std::to_string(set)); !s)
            return s.error();
        for (const NodeProto& node : m_model.graph().node())
            if (Status s = addNode(node); !s) return s.error();
        dropTail();
        return std::move(m_graph);
    }

private:
    std::string renamed(const std::string& name, const char* stem)
    {
        return m_names[name] = stem + std::to_string(m_names.size());
    }

    Status addConstant(tenon_onnx::TensorProto proto, const std::string& name)
    {
        auto tensor = compiler::parseTensorProto(proto.SerializeAsString());
        if (!tensor) return tensor.error();
        proto.set_name(renamed(name, "c"));
        const Tensor& value = tensor->tensor;
        m_graph.tensors[proto.name()] = {value.dtype(), true, {value.shape(), value.numbers()}, {}};
        m_graph.constants.push_back(std::move(proto));
        return kDone;
    }

    Status addInputs(const std::string& folder)
    {
        int at = 0;
        for (const auto& input : m_model.graph().input()) {
            if (m_names.contains(input.name())) continue;
            auto tensor =
                compiler::readTensorFile(folder + "/input_" + std::to_string(at++) + ".pb");
            if (!tensor) return tensor.error();
            const std::string name = renamed(input.name(), "x");
            const Tensor& value = tensor->tensor;
            m_graph.inputs.push_back(name);
            m_graph.tensors[name] = {value.dtype(), false, {value.shape(), value.numbers()}, {}};
        }
        return kDone;
    }

    Status addNode(NodeProto node)
    {
        const std::string result = node.output(0);
        if (node.op_type() == "Constant") return addConstant(node.attribute(0).t(), result);
        const bool isQuantization = node.op_type() == "QuantizeLinear";
        for (std::string& input : *node.mutable_input())
            if (!input.empty()) input = m_names.at(input);
        const std::string name = renamed(result, isQuantization ? "q" : "r");
        node.set_output(0, name);
        const auto operand = [&](const std::string& of) { return &m_graph.tensors.at(of).exact; };
        GraphTensor out;
        if (isQuantization) out.dtype = m_graph.tensors.at(node.input(2)).dtype;
        out.exact = evaluateNode(node, operand, out.dtype, Numbers::Exact,
                                 m_graph.tensors.at(node.input(0)).isConstant);
        if (isQuantization) m_graph.quantized.push_back(name);
        m_graph.tensors[name] = std::move(out);
        m_graph.nodes.push_back(std::move(node));
        return kDone;
    }

    /// Real numbers behind the last quantized tensors are not counted in steps.
    void dropTail()
    {
        std::set<std::string> needed(m_graph.quantized.begin(), m_graph.quantized.end());
        std::vector<NodeProto> kept;
        for (size_t i = m_graph.nodes.size(); i-- > 0;) {
            const NodeProto& node = m_graph.nodes[i];
            if (!needed.contains(node.output(0))) continue;
            needed.insert(node.input().begin(), node.input().end());
            kept.push_back(node);
        }
        std::reverse(kept.begin(), kept.end());
        m_graph.nodes = std::move(kept);
    }

    tenon_onnx::ModelProto m_model;
    QuantizedGraph m_graph;
    std::map<std::string, std::string> m_names; ///< in the file -> here
};

} // namespace

Result<QuantizedGraph> readQuantizedModel(const std::string& folder, int set)
{
    return ModelReader().read(folder, set);
}

int dataSetsOf(const std::string& folder)
{
    int count = 0;
    while (std::filesystem::exists(folder + "/test_data_set_" + std::to_string(count))) ++count;
    return count;
}

} // namespace tenon::test
