// SPDX-License-Identifier: Apache-2.0
// GraphImport: one ONNX graph into a GraphState, node after node, collecting every problem.
#pragma once

#include "compiler/frontend/loaded.h"
#include "compiler/frontend/onnx/graph_state.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "compiler/frontend/onnx/tensor_reader.h"

#include <set>
#include <unordered_map>

namespace tenon::compiler {

class GraphImport
{
public:
    GraphImport(const tenon_onnx::ModelProto& model, std::string file, TensorStorage storage,
                const ImportOptions& options);

    /// The module, its diagnostics and the ledger; `facts` is left to the caller.
    Loaded run();

private:
    void importInitializers();
    void importSparse(const tenon_onnx::SparseTensorProto& proto);
    /// The version of the node's own domain.
    int64_t opsetOf(const tenon_onnx::NodeProto& node) const;
    void importInputs();
    void importInput(const tenon_onnx::ValueInfoProto& info, ValueFacts facts);
    void bindDimensions(
        const std::vector<std::pair<const tenon_onnx::ValueInfoProto*, ValueFacts>>& inputs);
    void bindShape(ValueFacts& facts);
    void fixValue(const std::string& name, const TensorType& declared, const Tensor& value);
    /// Inputs of the graph that the named value is computed from.
    std::vector<std::string> inputsBehind(const std::string& name) const;
    /// The error of a node that wants a value at import, with how to give it.
    Diagnostic withNeededValues(Diagnostic error, const std::string& neededValue);
    std::vector<int> sortedNodes();
    void importNode(const tenon_onnx::NodeProto& proto, SourceId source);
    void reportUnknownInputs(const tenon_onnx::NodeProto& proto, SourceId source);
    void importOpaque(const tenon_onnx::NodeProto& proto, SourceId source);
    void importOutputs();
    /// True when the last diagnostic was not about this node.
    bool isFirstComplaint(SourceId source) const;
    void report(Diagnostic diagnostic, SourceId source);
    void report(Diagnostic diagnostic);

    const tenon_onnx::ModelProto& m_model;
    const tenon_onnx::GraphProto& m_graph;
    std::string m_file;
    TensorStorage m_storage;
    const ImportOptions& m_options;
    GraphState m_state;
    std::vector<Diagnostic> m_diagnostics;
    std::map<std::string, int64_t> m_dims; ///< bound symbols
    std::map<std::string, const tenon_onnx::ValueInfoProto*> m_declared;
    std::unordered_map<std::string, const tenon_onnx::NodeProto*> m_producers;
    std::vector<std::string> m_neededValues;
    int64_t m_opset = 0;
};

} // namespace tenon::compiler
