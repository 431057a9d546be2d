// SPDX-License-Identifier: Apache-2.0
// GraphState: the module under construction and what every name of the file stands for so far.
#pragma once

#include "compiler/frontend/import/narrow_types.h"
#include "core/base/diagnostic.h"
#include "core/ir/change_set.h"
#include "core/ir/module.h"
#include "core/ir/size_bounds.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// What a name of the file's graph stands for. Constants become nodes only when a node reads them
/// as data; values used as static parameters never do.
struct ImportedValue
{
    std::string name;
    ValueRef ref;         ///< invalid: a constant not placed yet, or nothing is known
    TensorType type;      ///< meaningful when isTyped
    bool isTyped = false; ///< false: downstream of something that could not be imported
    std::shared_ptr<const Tensor> constant;
    std::optional<std::vector<Dim>> dims;   ///< integer elements known up to symbols (rank 0 or 1)
    std::vector<SourceId> origin;           ///< source nodes that a constant was made by
    const NarrowType* narrowType = nullptr; ///< when the values are its codes
    std::optional<std::vector<std::string>> elements; ///< of a sequence: names of its tensors
    bool isStacked = false; ///< a sequence whose one name is that of all its tensors, stacked
};

/// A constant not placed yet; short integer lists are known as dimensions, too.
ImportedValue constantValue(std::string name, Tensor value);
/// What an unknown value shows as: a handle without shape.
TensorType untypedValue();
/// More elements than any real tensor; refusing them keeps every later size inside 64 bits.
bool isTooLarge(const Shape& shape);

/// An outer value that a body reads: a parameter of the body behind its own.
struct CapturedValue
{
    std::string name;
    NodeId param;
};

/// Builds one function: its values by name, its nodes in order. Every node placed through it is
/// typed by the operator's own inference.
class GraphState
{
public:
    GraphState();
    /// The body of a node of `outer`: takes over its module and sources until giveBack(), and finds
    /// its values.
    GraphState(GraphState& outer, std::string name);

    Module module;
    GraphFunction function;
    std::vector<SourceNode> sources;
    std::map<SourceId, std::vector<NodeId>> consumers; ///< nodes that took a source's value as
                                                       ///< static parameter
    std::map<SourceId, std::string> foldReasons;
    std::unordered_set<std::string> readNames; ///< names that a node or a graph output reads
    SizeBounds bounds;                         ///< of sizes that the inputs leave open

    std::vector<CapturedValue> captures; ///< of a body, in the order in which they were found

    /// Also finds what encloses a body; such a value becomes a capture, a constant a copy.
    ImportedValue* find(const std::string& name);
    /// Binds a name; false when it is taken already.
    bool define(ImportedValue value);
    void undefine(const std::string& name);

    NodeId addParameter(const std::string& name, const TensorType& type);
    ValueRef addConstant(std::shared_ptr<const Tensor> value, const std::string& name,
                         std::vector<SourceId> origin);
    /// Infers the types and stores the record; errors are the operator's own.
    Result<NodeId> addOp(std::string op, std::vector<ValueRef> operands, Attrs attrs,
                         SourceId source);
    /// A node with bodies; its types are stated.
    NodeId addControl(std::string op, std::vector<ValueRef> operands, Attrs attrs,
                      std::vector<FunctionId> bodies, Types types, SourceId source);
    /// A name for a size that is known at run time only.
    std::string newSize() { return "_s" + std::to_string(m_sizes++); }
    /// True when the dimension depends on a size named since `sizes` sizes had names.
    bool isNewerThan(const Dim& dim, int64_t sizes) const;
    int64_t sizeCount() const { return m_sizes; }
    /// A node that only shows that something was here, by a name that no operator has: "onnx.<Op>".
    NodeId addOpaque(std::string op, std::vector<ValueRef> operands, Types types, SourceId source);

    /// The value as an operand, placing its constant when needed; invalid when it has no value.
    ValueRef place(ImportedValue& value);

    /// Source nodes that ended in no node of the module, as the import's folding ledger.
    std::vector<Change> ledger() const;
    /// Ends a body: its function is stored and everything taken over returns to the outer graph.
    void giveBack();
    /// Removes a body that is not used, with everything in it.
    void eraseBody(FunctionId body);
    /// Sets function, sources and main of the module; drops constants nothing reads.
    Module finish();

private:
    void dropIdleConstants();
    ValueRef addSizes(const ImportedValue& value);

    GraphState* m_outer = nullptr;
    int64_t m_sizes = 0;
    std::unordered_map<std::string, ImportedValue> m_values;
};

/// How far an import had come before a body that may be taken back.
struct ImportMark
{
    size_t sources, diagnostics;
};

} // namespace tenon::compiler
