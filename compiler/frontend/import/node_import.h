// SPDX-License-Identifier: Apache-2.0
// NodeImport: inputs and outputs of one node of a file, and what a converter makes of them. The
// first failure sticks: everything after it does nothing, so converters read as straight lines.
// Attributes are the formats' own: an importer derives from it.
#pragma once

#include "compiler/frontend/import/graph_state.h"

namespace tenon::compiler {

class NodeImport
{
public:
    /// The file's operator; "" among the names is an absent input or an output that nobody wants.
    NodeImport(GraphState& state, SourceId source, std::string op,
               const std::vector<std::string>& inputs, std::vector<std::string> outputs);

    SourceId source() const { return m_source; }
    const std::string& op() const { return m_op; }

    size_t inputCount() const { return m_inputs.size(); } ///< without trailing absent ones
    bool has(size_t input) const;
    bool isTyped(size_t input) const; ///< present and of known type
    ValueRef input(size_t input);     ///< fails when absent; see optionalInput
    ValueRef optionalInput(size_t input) { return has(input) ? this->input(input) : ValueRef{}; }
    const TensorType& type(size_t input);
    int64_t rank(size_t input) { return static_cast<int64_t>(type(input).shape.size()); }
    /// Constant dimensions; fails with dynamic-shape when one is symbolic.
    std::vector<int64_t> shape(size_t input);
    /// The same, but the first dimension may be symbolic: it is 0 then, by which `reshape` keeps
    /// what its operand has there. For converters that put it first again and do not count by it.
    std::vector<int64_t> batchShape(size_t input);
    const Tensor* constant(size_t input) const; ///< null when not known at import
    const std::optional<std::vector<Dim>>* dims(size_t input) const;
    /// True when the elements of an input are neither known nor known up to symbols.
    bool isRuntime(size_t input) const;
    /// The same of elements that are not known as numbers.
    bool isOpen(size_t input) const { return has(input) && !m_inputs[input]->constant; }
    /// Integers as dimensions: as known at import, else named and bound when the model runs. Fails
    /// when their number is not known.
    std::vector<Dim> boundDims(size_t input);
    /// The same for integers that an operator computed.
    std::vector<Dim> boundDims(ValueRef value);
    /// Of the sizes that the model's inputs leave open.
    const SizeBounds& bounds() const { return m_state.bounds; }
    /// Dimensions as int64 data of rank 1.
    ValueRef sizesOf(const Shape& shape);
    ValueRef sizeOf(const Dim& dim); ///< one as a scalar
    /// Names of a sequence's tensors; null when the input is no sequence.
    const std::vector<std::string>* elements(size_t input) const;
    bool isStacked(size_t input) const; ///< a sequence of which only the run knows the length
    /// Name of the first input that is a sequence, or "".
    std::string firstSequence() const;
    /// Elements of an input that must be known at import; fails otherwise.
    std::vector<int64_t> staticIntegers(size_t input);
    std::vector<double> staticNumbers(size_t input);

    /// The name of the value that a static parameter failed for; empty otherwise.
    const std::string& neededValue() const { return m_neededValue; }
    /// When the input holds codes of a narrow type (see narrow_types.h), else null.
    const NarrowType* narrowType(size_t input) const;
    /// From now on results hold codes of this type.
    void markResultsNarrow(const NarrowType* type) { m_resultsNarrow = type; }

    /// `axis` in [-rank, rank) made non-negative; fails otherwise.
    int64_t axisOf(int64_t axis, int64_t rank);
    std::vector<int64_t> axesOf(std::vector<int64_t> axes, int64_t rank);

    /// Adds an operator and returns its first result; invalid after a failure.
    ValueRef emit(std::string op, std::vector<ValueRef> operands, Attrs attrs = {});
    /// Adds a node with bodies whose results have these types.
    NodeId emitControl(std::string op, std::vector<ValueRef> operands, Attrs attrs,
                       std::vector<FunctionId> bodies, Types types);
    ValueRef scalar(double value, DataType dtype); ///< a rank-0 constant
    ValueRef constantNode(Tensor value);
    const TensorType& typeOf(ValueRef value) const;
    std::vector<int64_t> shapeOf(ValueRef value);      ///< constant, else fails
    std::vector<int64_t> batchShapeOf(ValueRef value); ///< see batchShape()

    size_t outputCount() const { return m_outputs.size(); }
    bool usesOutput(size_t output) const; ///< it has a name
    bool isRead(size_t output) const;     ///< and something reads it
    void output(size_t output, ValueRef value);
    /// With whatever else is known of the value.
    void outputValue(size_t output, ImportedValue value);
    void outputConstant(size_t output, Tensor value);
    void outputDims(size_t output, std::vector<Dim> dims, bool isScalar, DataType dtype = kInt64);
    /// The output is the input itself; the node leaves no trace but in the ledger.
    void forward(size_t output, size_t input);
    /// The same for a value of any name.
    void forward(size_t output, ImportedValue& value, std::string reason);

    bool hasFailed() const { return m_error.has_value(); }
    const Diagnostic& error() const { return *m_error; }
    void fail(DiagnosticCode code, std::string message, std::string detail = {});
    std::vector<Diagnostic>& notes() { return m_notes; }
    /// Fails when an input is there that the converter never asked for.
    void checkInputsSeen();
    /// Integers of small constants become constants: what shapes are computed from.
    void foldIntegers();
    /// Records who took static values; called once after a converter that succeeded.
    void finish();
    /// Removes the operators of a converter that failed half-way.
    void rollBack();
    bool hasUntypedInput() const;

private:
    void define(size_t output, ImportedValue value);
    void failForValue(size_t input);
    bool areInputsSmallConstants() const;
    std::optional<std::map<ValueRef, Tensor>> evaluateEmitted() const;

    GraphState& m_state;
    SourceId m_source;
    std::string m_op;
    std::vector<std::string> m_outputs;   ///< names
    std::vector<ImportedValue*> m_inputs; ///< null: absent
    mutable std::vector<bool> m_isSeen;   ///< per input: asked for
    std::vector<NodeId> m_emitted;
    std::vector<std::string> m_defined;    ///< outputs, to be taken back by rollBack()
    mutable std::vector<SourceId> m_taken; ///< sources whose values were used as static parameters
    std::vector<Diagnostic> m_notes;
    std::optional<Diagnostic> m_error;
    std::string m_neededValue;
    const NarrowType* m_resultsNarrow = nullptr;
};

} // namespace tenon::compiler
