// SPDX-License-Identifier: Apache-2.0
// TfliteGraph: one graph of a .tflite file into graph IR, operator after operator, collecting every
// problem.
#pragma once

#include "compiler/frontend/import/graph_import.h"
#include "compiler/frontend/tflite/graph/tflite_node.h"

namespace tenon::compiler {

class TfliteGraph : public GraphImport
{
public:
    TfliteGraph(const TfliteModel& model, std::string file, const ImportOptions& options);

    /// The module, its diagnostics and the ledger; `facts` is left to the caller.
    Loaded run();
    /// After run(): what is there with its channels first only, which the file has last.
    bool isTurned(ValueRef value) const { return m_turned.contains(value); }

private:
    /// An operator that needs more than its node: other graphs of the file, or variables.
    struct GraphOperator
    {
        std::string_view op;
        void (TfliteGraph::*import)(TfliteNode&);
    };
    static const GraphOperator* findGraphOperator(std::string_view op);
    /// A graph of the file as the body of a node of `parent`.
    TfliteGraph(TfliteGraph& parent, const TfliteSubgraph& graph, const std::string& label);
    std::optional<ImportedBody> importBody(const TfliteSubgraph& graph, const Types& params,
                                           const std::string& label);
    const TfliteSubgraph* bodyAt(TfliteNode& node, int64_t index, size_t inputs, size_t outputs);
    void importComposite(TfliteNode& node);
    void importIf(TfliteNode& node);
    void importWhile(TfliteNode& node);
    std::optional<ImportedBody> importStep(const TfliteSubgraph& step,
                                           const TfliteSubgraph& condition, const Types& params,
                                           const std::string& label);
    void importCallOnce(TfliteNode& node);
    void importVarHandle(TfliteNode& node);
    void importReadVariable(TfliteNode& node);
    void importAssignVariable(TfliteNode& node);

    void noteNames();
    void importConstants();
    void importInputs();
    /// Inputs of a body with the types from `first` on.
    void importBodyInputs(const Types& params, size_t first);
    void addSources();
    void importNodes();
    void importNode(const TfliteOperator& op, SourceId source);
    void settleOrShow(TfliteNode& node);
    bool hasComplex(const TfliteOperator& op) const;
    void importOpaque(const TfliteOperator& op, SourceId source);
    std::optional<TensorType> declaredType(int64_t tensor) const;
    std::vector<std::string> outputNames() const;
    /// Moves between layouts that nobody reads.
    void dropIdleMoves();

    const TfliteModel& m_model;
    const TfliteSubgraph& m_graph;
    int m_depth = 0; ///< of bodies
    ChannelsFirst m_layouts;
    std::set<ValueRef> m_turned;
    std::map<std::string, std::string> m_handles;   ///< variable by the name of its handle
    std::map<std::string, std::string> m_variables; ///< what it holds, by the name of that value
};

} // namespace tenon::compiler
