// SPDX-License-Identifier: Apache-2.0
// GraphImport: what the import of a graph of any format keeps and reports. An importer says what
// its file declares and hands over node after node; sizes and values that a user binds, sorting,
// provenance and the wording of problems are here.
#pragma once

#include "compiler/frontend/import/node_import.h"
#include "compiler/frontend/loaded.h"

#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

namespace tenon::compiler {

struct Definition;

/// An input of a graph as its file declares it.
struct DeclaredInput
{
    ValueFacts facts;
    std::optional<DataType> dtype;      ///< nothing: it cannot be computed with
    const NarrowType* narrow = nullptr; ///< its values are codes, held as `dtype`
};

/// The names around a node of the file; "" is an absent one.
struct NodeNames
{
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::vector<std::string> readInside; ///< by bodies of the node
    bool readsShapesOnly = false;        ///< its results do not depend on the inputs' elements
};

/// A body as a function of the module.
struct ImportedBody
{
    FunctionId function;
    std::vector<CapturedValue> captures;
    std::vector<ImportedValue> results; ///< refs are inside the body
};

/// Executors take and return tensors.
Diagnostic unsupportedSequence(const std::string& what);

class GraphImport
{
public:
    /// `file` is named by every problem; `options` must live as long.
    GraphImport(std::string file, const ImportOptions& options);
    /// A body of a node of `outer`, whose values it finds; see GraphState.
    GraphImport(GraphImport& outer, const std::string& label);

    GraphState& state() { return m_state; }
    const ImportOptions& options() const { return m_options; }

    void report(Diagnostic diagnostic);
    void report(Diagnostic diagnostic, SourceId source);
    /// True when the last diagnostic was not about this node.
    bool isFirstComplaint(SourceId source) const;

    /// All inputs at once, for one's binding may fix a dimension of another: as parameters, or as
    /// constants where the options have a value.
    void addInputs(std::vector<DeclaredInput> inputs);
    /// A node's names, in the file's order; before any node is imported.
    void addNames(NodeNames names);
    void addReadName(const std::string& name) { m_state.readNames.insert(name); }
    /// Indices of the named nodes such that producers stand before readers; a cycle is reported.
    std::vector<int> sortedNodes();
    /// Input names that nothing stands for become values of unknown type; reported.
    void defineUnknownInputs(const std::vector<std::string>& inputs, SourceId source);
    /// The same where an operator may be lent memory that nothing was written to; not reported.
    void defineLentMemory(const std::vector<std::string>& inputs);
    /// Ends a node's import. False when it failed: that is reported and the operators are removed;
    /// the caller then shows the node by addOpaque(). `chooser`: the value that chooses between
    /// bodies of which one could not be imported, else "".
    bool settle(NodeImport& node, const std::string& chooser = {});
    /// A node that is shown though it cannot be compiled. `declared`: per output what the file says
    /// of it, nothing when that is no whole type.
    void addOpaque(const std::string& op, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs,
                   const std::vector<std::optional<TensorType>>& declared, SourceId source);
    /// Results of the graph, in order.
    void addOutputs(const std::vector<std::string>& names);
    /// The module, its diagnostics and the ledger; `name` and `facts` are left to the caller.
    Loaded take();

protected:
    // Bodies: what they capture becomes parameters behind their own.
    /// Results of this body, which ends.
    ImportedBody takeBody(const std::vector<std::string>& outputs);
    /// Nothing when the child's body has errors, which then are reported here.
    std::optional<ImportedBody> adopted(GraphImport& child, ImportedBody body);
    ImportMark mark() const { return {m_state.sources.size(), m_diagnostics.size()}; }
    /// Removes a body imported since then, with its nodes of the file and what was said of them.
    void takeBack(FunctionId body, const ImportMark& mark);
    /// A body whose parameters from `fixed` on take the results from `firstResult` on in the next
    /// step: sizes that change from step to step become symbols of `params`. `importOnce` may be
    /// called again.
    std::optional<ImportedBody>
    importLoopBody(NodeImport& node,
                   const std::function<std::optional<ImportedBody>(const Types&)>& importOnce,
                   Types& params, size_t fixed, size_t carried, size_t firstResult);
    /// The body's results after its nodes became nodes of this graph.
    std::vector<ImportedValue> inlineBody(const ImportedBody& body,
                                          const std::vector<ValueRef>& arguments);
    /// Likewise, as the results of the node, whose own there is none; `reason` says why.
    void takeInline(NodeImport& node, const ImportedBody& body,
                    const std::vector<ValueRef>& arguments, const std::string& reason);
    /// Sizes that got names inside of a body have none outside.
    TensorType typeOutside(const TensorType& type, int64_t sizes);
    std::vector<ValueRef> capturedOperands(const ImportedBody& body);
    /// Both bodies take the captures of both.
    void unifyCaptures(ImportedBody& a, ImportedBody& b);

    GraphState m_state;
    std::string m_file;
    std::map<std::string, int64_t> m_dims; ///< bound symbols
    uint32_t m_firstSource = 0;            ///< source of the graph's first node
    std::set<std::string> m_inputNames;

private:
    void bindDimensions(const std::vector<DeclaredInput>& inputs);
    void bindShape(ValueFacts& facts);
    void boundShape(ValueFacts& facts);
    void addInput(DeclaredInput input);
    void fixValue(const std::string& name, const TensorType& declared, const Tensor& value);
    /// Inputs of the graph that the named value is computed from.
    std::vector<std::string> inputsBehind(const std::string& name) const;
    /// The error of a node that wants a value at import, with how to give it.
    Diagnostic withNeededValues(Diagnostic error, const std::string& neededValue);

    const ImportOptions& m_options;
    std::string m_path = "main"; ///< of the graph inside its file
    std::vector<Diagnostic> m_diagnostics;
    std::vector<std::string> m_neededValues;
    std::vector<NodeNames> m_nodes;
    std::unordered_map<std::string, size_t> m_producers; ///< index in m_nodes
};

/// A node of an operator that the user declares; to the attributes of attrsOf() the importer adds
/// those of the declared ones that its file gives.
Attrs attrsOf(const Definition& definition);
void importDefined(NodeImport& node, const Definition& definition, Attrs attrs);

} // namespace tenon::compiler
