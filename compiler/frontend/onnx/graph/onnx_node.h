// SPDX-License-Identifier: Apache-2.0
// OnnxNode: a node of an ONNX graph with its attributes and its opset.
#pragma once

#include "compiler/frontend/import/node_import.h"
#include "compiler/frontend/onnx/file/tensor_reader.h"

#include <string_view>

namespace tenon::compiler {

class OnnxNode : public NodeImport
{
public:
    OnnxNode(GraphState& state, const tenon_onnx::NodeProto& proto, SourceId source, int64_t opset,
             TensorStorage storage);

    const tenon_onnx::NodeProto& proto() const { return m_proto; }
    int64_t opset() const { return m_opset; } ///< version of the node's own domain

    int64_t integer(std::string_view attr, int64_t fallback);
    double number(std::string_view attr, double fallback);
    std::string string(std::string_view attr, std::string_view fallback);
    std::vector<int64_t> integers(std::string_view attr, std::vector<int64_t> fallback);
    std::vector<double> numbers(std::string_view attr, std::vector<double> fallback);
    std::vector<std::string> strings(std::string_view attr, std::vector<std::string> fallback);
    bool hasAttr(std::string_view attr) const { return findAttr(attr) != nullptr; }
    std::shared_ptr<const Tensor> tensorAttr(std::string_view attr); ///< fails when absent
    /// When the tensor of the attribute holds codes of a narrow type, else null.
    const NarrowType* narrowAttr(std::string_view attr);
    std::shared_ptr<const Tensor> sparseAttr(std::string_view attr); ///< fails when absent
    const tenon_onnx::GraphProto* graphAttr(std::string_view attr);  ///< fails when absent

private:
    const tenon_onnx::AttributeProto* findAttr(std::string_view name) const;
    const tenon_onnx::AttributeProto* typedAttr(std::string_view name, int type);

    const tenon_onnx::NodeProto& m_proto;
    int64_t m_opset;
    TensorStorage m_storage;
};

} // namespace tenon::compiler
