// SPDX-License-Identifier: Apache-2.0
// NodeImport: what a converter sees of one ONNX node, and how it answers. The first failure sticks:
// everything after it does nothing, so converters read as straight lines.
#pragma once

#include "compiler/frontend/onnx/graph_state.h"
#include "compiler/frontend/onnx/tensor_reader.h"

#include <span>
#include <string_view>

namespace tenon::compiler {

class NodeImport
{
public:
    NodeImport(GraphState& state, const tenon_onnx::NodeProto& proto, SourceId source,
               int64_t opset, TensorStorage storage);

    const tenon_onnx::NodeProto& proto() const { return m_proto; }
    SourceId source() const { return m_source; }
    const std::string& op() const { return m_proto.op_type(); }
    int64_t opset() const { return m_opset; }

    size_t inputCount() const { return m_inputs.size(); } ///< without trailing absent ones
    bool has(size_t input) const;
    bool isTyped(size_t input) const; ///< present and of known type
    ValueRef input(size_t input);     ///< fails when absent; see optionalInput
    ValueRef optionalInput(size_t input) { return has(input) ? this->input(input) : ValueRef{}; }
    const TensorType& type(size_t input);
    int64_t rank(size_t input) { return static_cast<int64_t>(type(input).shape.size()); }
    /// Constant dimensions; fails with dynamic-shape when one is symbolic.
    std::vector<int64_t> shape(size_t input);
    const Tensor* constant(size_t input) const; ///< null when not known at import
    const std::optional<std::vector<Dim>>* dims(size_t input) const;
    /// True when the elements of an input are neither known nor known up to symbols.
    bool isRuntime(size_t input) const;
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
    /// Name of the first input that is a sequence, or "".
    std::string firstSequence() const;
    /// Elements of an input that must be known at import; fails otherwise.
    std::vector<int64_t> staticIntegers(size_t input);
    std::vector<double> staticNumbers(size_t input);

    /// The name of the value that a static parameter failed for; empty otherwise.
    const std::string& neededValue() const { return m_neededValue; }
    /// ONNX's element type when the input holds codes of a narrow type (see narrow_types.h), or 0.
    int32_t narrowType(size_t input) const;
    /// From now on results hold codes of this type.
    void markResultsNarrow(int32_t onnxType) { m_resultsNarrow = onnxType; }

    int64_t integer(std::string_view attr, int64_t fallback);
    double number(std::string_view attr, double fallback);
    std::string string(std::string_view attr, std::string_view fallback);
    std::vector<int64_t> integers(std::string_view attr, std::vector<int64_t> fallback);
    std::vector<double> numbers(std::string_view attr, std::vector<double> fallback);
    std::vector<std::string> strings(std::string_view attr, std::vector<std::string> fallback);
    bool hasAttr(std::string_view attr) const { return findAttr(attr) != nullptr; }
    /// Fails when absent. `narrow`: gets ONNX's type when the tensor holds codes of a narrow one.
    std::shared_ptr<const Tensor> tensorAttr(std::string_view attr, int32_t* narrow = nullptr);
    std::shared_ptr<const Tensor> sparseAttr(std::string_view attr); ///< fails when absent
    const tenon_onnx::GraphProto* graphAttr(std::string_view attr);  ///< fails when absent
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
    std::vector<int64_t> shapeOf(ValueRef value); ///< constant, else fails

    size_t outputCount() const { return static_cast<size_t>(m_proto.output_size()); }
    bool usesOutput(size_t output) const; ///< it has a name
    bool isRead(size_t output) const;     ///< and something reads it
    void output(size_t output, ValueRef value);
    /// With whatever else is known of the value.
    void outputValue(size_t output, ImportedValue value) { define(output, std::move(value)); }
    void outputConstant(size_t output, Tensor value);
    void outputDims(size_t output, std::vector<Dim> dims, bool isScalar);
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
    const tenon_onnx::AttributeProto* findAttr(std::string_view name) const;
    const tenon_onnx::AttributeProto* typedAttr(std::string_view name, int type);
    void define(size_t output, ImportedValue value);
    void failForValue(size_t input);
    bool areInputsSmallConstants() const;
    std::optional<std::map<ValueRef, Tensor>> evaluateEmitted() const;

    GraphState& m_state;
    const tenon_onnx::NodeProto& m_proto;
    SourceId m_source;
    int64_t m_opset;
    TensorStorage m_storage;
    std::vector<ImportedValue*> m_inputs; ///< null: absent
    mutable std::vector<bool> m_isSeen;   ///< per input: asked for
    std::vector<NodeId> m_emitted;
    std::vector<std::string> m_defined;    ///< outputs, to be taken back by rollBack()
    mutable std::vector<SourceId> m_taken; ///< sources whose values were used as static parameters
    std::vector<Diagnostic> m_notes;
    std::optional<Diagnostic> m_error;
    std::string m_neededValue;
    int32_t m_resultsNarrow = 0;
};

} // namespace tenon::compiler
