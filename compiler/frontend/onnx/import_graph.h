// SPDX-License-Identifier: Apache-2.0
// GraphImport: one ONNX graph into a GraphState, node after node, collecting every problem.
#pragma once

#include "compiler/frontend/loaded.h"
#include "compiler/frontend/onnx/graph_state.h"
#include "compiler/frontend/onnx/node_import.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "compiler/frontend/onnx/tensor_reader.h"

#include <set>
#include <unordered_map>

namespace tenon::compiler {

struct Definition;

class GraphImport
{
public:
    GraphImport(const tenon_onnx::ModelProto& model, std::string file, TensorStorage storage,
                const ImportOptions& options);

    /// The module, its diagnostics and the ledger; `facts` is left to the caller.
    Loaded run();

private:
    /// An operator that needs more than its node: bodies, or lists of values.
    struct GraphOperator
    {
        std::string_view op;
        int sinceVersion;
        void (GraphImport::*import)(NodeImport&);
    };
    /// Null for other operators.
    static const GraphOperator* findGraphOperator(const std::string& key, int64_t opset);
    void importByGraph(const GraphOperator& op, const tenon_onnx::NodeProto& proto,
                       SourceId source);
    /// A body of a node of `parent`.
    GraphImport(GraphImport& parent, const tenon_onnx::GraphProto& graph, const std::string& label);

    /// A body as a function of the module.
    struct Body
    {
        FunctionId function;
        std::vector<CapturedValue> captures;
        std::vector<ImportedValue> results; ///< refs are inside the body
    };
    /// Nothing when the body has errors, which then are reported.
    std::optional<Body> importBody(const tenon_onnx::GraphProto& graph, const Types& params,
                                   const std::string& label);
    Body runBody(const Types& params);
    void importBodyInputs(const Types& params);
    /// A body whose parameters from `fixed` on take the results from `firstResult` on in the next
    /// step: sizes that change from step to step become symbols of `params`.
    std::optional<Body> importLoopBody(NodeImport& node, const tenon_onnx::GraphProto& graph,
                                       Types& params, size_t fixed, size_t carried,
                                       size_t firstResult);
    /// Fails for an input that is a sequence.
    bool refusesSequences(NodeImport& node) const;
    void importIf(NodeImport& node);
    /// The body's results after its nodes became nodes of this graph.
    std::vector<ImportedValue> inlineBody(const Body& body, const std::vector<ValueRef>& arguments);
    void importLoop(NodeImport& node);
    void importScan(NodeImport& node);
    void importBatchedScan(NodeImport& node);
    void importFlexAttention(NodeImport& node);
    ValueRef modified(NodeImport& node, const char* attr, ValueRef value);
    void importSequenceConstruct(NodeImport& node);
    void importSequenceEmpty(NodeImport& node);
    void importSequenceInsert(NodeImport& node);
    void importSequenceErase(NodeImport& node);
    void importSequenceAt(NodeImport& node);
    void importSequenceLength(NodeImport& node);
    void importSequenceMap(NodeImport& node);
    void importSplitToSequence(NodeImport& node);
    void importConcatFromSequence(NodeImport& node);
    /// A sequence of new tensors, which get names.
    void outputElements(NodeImport& node, size_t output, std::vector<ImportedValue> values);
    void makeScanBody(NodeImport& node, Body& body, size_t states,
                      std::vector<ValueRef>& sequences);
    TensorType typeOutside(const TensorType& type, int64_t sizes);
    std::vector<ValueRef> capturedOperands(const Body& body);
    void unifyCaptures(Body& a, Body& b);
    void noteNames();
    /// Executors take and return tensors.
    Diagnostic unsupportedSequence(const std::string& what) const;
    void settle(NodeImport& node, const tenon_onnx::NodeProto& proto, SourceId source);

    void importInitializers();
    void importSparse(const tenon_onnx::SparseTensorProto& proto);
    /// The version of the node's own domain.
    int64_t opsetOf(const tenon_onnx::NodeProto& node) const;
    void importInputs();
    void importInput(const tenon_onnx::ValueInfoProto& info, ValueFacts facts);
    void bindDimensions(
        const std::vector<std::pair<const tenon_onnx::ValueInfoProto*, ValueFacts>>& inputs);
    void bindShape(ValueFacts& facts);
    void boundShape(ValueFacts& facts);
    void fixValue(const std::string& name, const TensorType& declared, const Tensor& value);
    /// Inputs of the graph that the named value is computed from.
    std::vector<std::string> inputsBehind(const std::string& name) const;
    /// The error of a node that wants a value at import, with how to give it.
    Diagnostic withNeededValues(Diagnostic error, const std::string& neededValue);
    std::vector<int> sortedNodes();
    void importNode(const tenon_onnx::NodeProto& proto, SourceId source);
    void reportUnknownInputs(const tenon_onnx::NodeProto& proto, SourceId source);
    /// What the file says of a value, with bound symbols; nothing when that is no whole type.
    std::optional<TensorType> declaredType(const std::string& name) const;
    void importDefined(const Definition& definition, NodeImport& node);
    void importOpaque(const tenon_onnx::NodeProto& proto, SourceId source);
    void importOutputs();
    /// True when the last diagnostic was not about this node.
    bool isFirstComplaint(SourceId source) const;
    void report(Diagnostic diagnostic, SourceId source);
    void report(Diagnostic diagnostic);

    const tenon_onnx::ModelProto& m_model;
    const tenon_onnx::GraphProto& m_graph;
    std::string m_file;
    std::string m_path = "main"; ///< of the graph inside its file
    uint32_t m_firstSource = 0;  ///< source of the graph's first node
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
