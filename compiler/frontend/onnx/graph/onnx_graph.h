// SPDX-License-Identifier: Apache-2.0
// OnnxGraph: one ONNX graph or body into graph IR, node after node, collecting every problem.
#pragma once

#include "compiler/frontend/import/graph_import.h"
#include "compiler/frontend/onnx/graph/onnx_node.h"

#include <array>

namespace tenon::compiler {

class OnnxGraph : public GraphImport
{
public:
    OnnxGraph(const tenon_onnx::ModelProto& model, std::string file, TensorStorage storage,
              const ImportOptions& options);

    /// The module, its diagnostics and the ledger; `facts` is left to the caller.
    Loaded run();

private:
    /// An operator that needs more than its node: bodies, or lists of values.
    struct GraphOperator
    {
        std::string_view op;
        int sinceVersion;
        void (OnnxGraph::*import)(OnnxNode&);
    };
    /// Null for other operators.
    static const GraphOperator* findGraphOperator(const std::string& key, int64_t opset);
    void importByGraph(const GraphOperator& op, OnnxNode& node);
    /// A body of a node of `parent`.
    OnnxGraph(OnnxGraph& parent, const tenon_onnx::GraphProto& graph, const std::string& label);

    using Body = ImportedBody;
    /// Nothing when the body has errors, which then are reported.
    std::optional<Body> importBody(const tenon_onnx::GraphProto& graph, const Types& params,
                                   const std::string& label);
    Body runBody(const Types& params);
    void importBodyInputs(const Types& params);
    void importBodyNodes();
    /// Sizes that change from step to step become symbols of `params`.
    std::optional<Body> importLoopBody(OnnxNode& node, const tenon_onnx::GraphProto& graph,
                                       Types& params, size_t fixed, size_t carried,
                                       size_t firstResult);
    /// Fails for an input that is a sequence.
    bool refusesSequences(OnnxNode& node) const;
    using Branches = std::array<const tenon_onnx::GraphProto*, 2>; ///< then, else
    void importIf(OnnxNode& node);
    void importOpenIf(OnnxNode& node, const Branches& graphs);
    std::optional<Body> importBranch(OnnxNode& node, const Branches& graphs, size_t which);
    /// True when the first branch removes an axis that the condition says is 1; that is noted.
    bool isSqueezed(OnnxNode& node, const Body& then);
    void importLoop(OnnxNode& node);
    /// A value that a step of an unrolled loop takes or hands on, with the tensors of a sequence.
    struct StepValue
    {
        ImportedValue value;
        std::vector<ImportedValue> elements;
    };
    /// Fails where an operator wants to know how many tensors a sequence has and only the run does.
    static void refuseStacked(OnnxNode& node);
    /// A Loop of who knows how many steps that only appends to sequences; false for other nodes.
    bool importCollecting(OnnxNode& node);
    void unrollLoop(OnnxNode& node, const tenon_onnx::GraphProto& graph);
    StepValue stepValueOf(const std::string& name);
    void bindStepValue(const std::string& name, const StepValue& given,
                       std::vector<ValueRef>& arguments);
    Body takeStep(std::vector<StepValue>& results);
    std::optional<std::vector<StepValue>> importStep(const tenon_onnx::GraphProto& graph,
                                                     const std::vector<StepValue>& inputs,
                                                     const std::string& label);
    void outputSteps(OnnxNode& node, const std::vector<StepValue>& carried,
                     std::vector<std::vector<ValueRef>> collected);
    void importScan(OnnxNode& node);
    void importBatchedScan(OnnxNode& node);
    void importFlexAttention(OnnxNode& node);
    ValueRef modified(OnnxNode& node, const char* attr, ValueRef value);
    void importSequenceConstruct(OnnxNode& node);
    void importSequenceEmpty(OnnxNode& node);
    void importSequenceInsert(OnnxNode& node);
    void importSequenceErase(OnnxNode& node);
    void importSequenceAt(OnnxNode& node);
    void importSequenceLength(OnnxNode& node);
    void importSequenceMap(OnnxNode& node);
    void importSplitToSequence(OnnxNode& node);
    void importConcatFromSequence(OnnxNode& node);
    /// A sequence of new tensors, which get names.
    void outputElements(OnnxNode& node, size_t output, std::vector<ImportedValue> values);
    void makeScanBody(OnnxNode& node, Body& body, size_t states, std::vector<ValueRef>& sequences);

    void noteNames();
    void importInitializers();
    void importSparse(const tenon_onnx::SparseTensorProto& proto);
    void importInputs();
    /// The version of the node's own domain.
    int64_t opsetOf(const tenon_onnx::NodeProto& node) const;
    void importNode(const tenon_onnx::NodeProto& proto, SourceId source);
    static void importDefinedNode(OnnxNode& node, const Definition& definition);
    void settleOrShow(OnnxNode& node);
    void importOpaque(const tenon_onnx::NodeProto& proto, SourceId source);
    /// What the file says of a value, with bound symbols; nothing when that is no whole type.
    std::optional<TensorType> declaredType(const std::string& name) const;
    std::vector<std::string> outputNames() const;

    const tenon_onnx::ModelProto& m_model;
    const tenon_onnx::GraphProto& m_graph;
    TensorStorage m_storage;
    std::map<std::string, const tenon_onnx::ValueInfoProto*> m_declared;
    int64_t m_opset = 0;
};

} // namespace tenon::compiler
