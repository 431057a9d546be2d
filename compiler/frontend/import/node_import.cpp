// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a node and the emission of graph IR.
#include "compiler/frontend/import/node_import.h"

#include "compiler/frontend/import/merged_source.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

const TensorType& unknownType()
{
    static const TensorType kUnknown{kHandle, {}};
    return kUnknown;
}

/// With 0 for a first dimension that is symbolic.
std::optional<std::vector<int64_t>> constantButFirst(Shape shape)
{
    if (!shape.empty() && !shape[0].isConst()) shape[0] = Dim(0);
    return constantShape(shape);
}

} // namespace

NodeImport::NodeImport(GraphState& state, SourceId source, std::string op,
                       const std::vector<std::string>& inputs, std::vector<std::string> outputs)
    : m_state(state)
    , m_source(source)
    , m_op(std::move(op))
    , m_outputs(std::move(outputs))
{
    for (const std::string& name : inputs)
        m_inputs.push_back(name.empty() ? nullptr : state.find(name));
    while (!m_inputs.empty() && !m_inputs.back()) m_inputs.pop_back();
    m_isSeen.assign(m_inputs.size(), false);
}

bool NodeImport::has(size_t input) const
{
    if (input >= m_inputs.size()) return false;
    m_isSeen[input] = true;
    return m_inputs[input] != nullptr;
}

void NodeImport::checkInputsSeen()
{
    for (size_t i = 0; i < m_inputs.size(); ++i)
        if (m_inputs[i] && !m_isSeen[i])
            fail(DiagnosticCode::BadOperandCount, "the node has " + std::to_string(inputCount()) +
                                                      " inputs but takes only " +
                                                      std::to_string(i));
}

bool NodeImport::isTyped(size_t input) const { return has(input) && m_inputs[input]->isTyped; }

bool NodeImport::hasUntypedInput() const
{
    return std::any_of(m_inputs.begin(), m_inputs.end(),
                       [](const ImportedValue* v) { return v && !v->isTyped; });
}

ValueRef NodeImport::input(size_t input)
{
    if (hasFailed()) return {};
    if (!has(input)) {
        fail(DiagnosticCode::BadOperandCount, "input " + std::to_string(input) +
                                                  " is missing; the node has " +
                                                  std::to_string(inputCount()));
        return {};
    }
    ImportedValue& value = *m_inputs[input];
    const ValueRef ref = m_state.place(value);
    if (!ref.node.isValid())
        fail(DiagnosticCode::DynamicShape,
             "input " + quoted(value.name) +
                 " depends on a dynamic dimension; bind the model's input shapes");
    return ref;
}

const TensorType& NodeImport::type(size_t input)
{
    if (isTyped(input)) return m_inputs[input]->type;
    if (!hasFailed())
        fail(DiagnosticCode::BadOperandCount, "input " + std::to_string(input) +
                                                  " is missing; the node has " +
                                                  std::to_string(inputCount()));
    return unknownType();
}

std::vector<int64_t> NodeImport::shape(size_t input)
{
    const TensorType& inputType = type(input);
    if (hasFailed()) return {};
    const auto shape = constantShape(inputType.shape);
    if (shape) return *shape;
    fail(DiagnosticCode::DynamicShape, "input " + quoted(m_inputs[input]->name) +
                                           " has the shape " + shapeText(inputType.shape) +
                                           "; bind its dynamic dimensions");
    return {};
}

std::vector<int64_t> NodeImport::batchShape(size_t input)
{
    const auto known = constantButFirst(type(input).shape);
    return known && !hasFailed() ? *known : shape(input);
}

const Tensor* NodeImport::constant(size_t input) const
{
    if (!has(input) || !m_inputs[input]->constant) return nullptr;
    m_taken.insert(m_taken.end(), m_inputs[input]->origin.begin(), m_inputs[input]->origin.end());
    return m_inputs[input]->constant.get();
}

const std::optional<std::vector<Dim>>* NodeImport::dims(size_t input) const
{
    if (!has(input)) return nullptr;
    m_taken.insert(m_taken.end(), m_inputs[input]->origin.begin(), m_inputs[input]->origin.end());
    return &m_inputs[input]->dims;
}

std::vector<int64_t> NodeImport::staticIntegers(size_t input)
{
    if (hasFailed()) return {};
    if (!has(input)) {
        this->input(input);
        return {};
    }
    const Tensor* value = constant(input);
    if (!value) {
        failForValue(input);
        return {};
    }
    if (!value->dtype().isInt()) {
        fail(DiagnosticCode::DtypeMismatch, "input " + quoted(m_inputs[input]->name) + " is " +
                                                value->typeText() + " but must be of integers");
        return {};
    }
    return value->integers();
}

std::vector<double> NodeImport::staticNumbers(size_t input)
{
    if (hasFailed()) return {};
    if (const Tensor* value = constant(input)) return value->numbers();
    if (!has(input))
        this->input(input);
    else
        failForValue(input);
    return {};
}

int64_t NodeImport::axisOf(int64_t axis, int64_t rank)
{
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    fail(DiagnosticCode::BadAttribute,
         "axis " + std::to_string(axis) + " is outside [-" + std::to_string(rank) + ", " +
             std::to_string(rank) + ")",
         "axis");
    return 0;
}

std::vector<int64_t> NodeImport::axesOf(std::vector<int64_t> axes, int64_t rank)
{
    for (int64_t& axis : axes) axis = axisOf(axis, rank);
    std::vector<int64_t> sorted = axes;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        fail(DiagnosticCode::BadAttribute, "axes [" + join(axes, ", ") + "] name one axis twice",
             "axes");
    return axes;
}

ValueRef NodeImport::emit(std::string op, std::vector<ValueRef> operands, Attrs attrs)
{
    if (hasFailed()) return {};
    auto node = m_state.addOp(std::move(op), std::move(operands), std::move(attrs), m_source);
    if (!node) {
        fail(node.error().code, node.error().message, node.error().location.detail);
        return {};
    }
    m_emitted.push_back(*node);
    return {*node, 0};
}

NodeId NodeImport::emitControl(std::string op, std::vector<ValueRef> operands, Attrs attrs,
                               std::vector<FunctionId> bodies, Types types)
{
    for (TensorType& type : types) {
        if (!isTooLarge(type.shape)) continue;
        fail(DiagnosticCode::ShapeMismatch,
             "the result would be " + type.text() + ", which is too large");
        type = untypedValue();
    }
    m_emitted.push_back(m_state.addControl(std::move(op), std::move(operands), std::move(attrs),
                                           std::move(bodies), std::move(types), m_source));
    return m_emitted.back();
}

ValueRef NodeImport::scalar(double value, DataType dtype)
{
    return constantNode(Tensor::make(dtype, {}, [&](std::span<std::byte> out) {
        if (dtype.isInt())
            storeInteger(dtype, out, 0, static_cast<int64_t>(value));
        else
            storeNumber(dtype, out, 0, value);
    }));
}

ValueRef NodeImport::constantNode(Tensor value)
{
    if (hasFailed()) return {};
    return m_state.addConstant(std::make_shared<const Tensor>(std::move(value)),
                               m_state.sources[m_source.value].name, {m_source});
}

const TensorType& NodeImport::typeOf(ValueRef value) const
{
    return value.node.isValid() ? m_state.module.type(value) : unknownType();
}

std::vector<int64_t> NodeImport::shapeOf(ValueRef value)
{
    if (hasFailed()) return {};
    const auto shape = constantShape(typeOf(value).shape);
    if (shape) return *shape;
    fail(DiagnosticCode::DynamicShape, "an intermediate result has the shape " +
                                           shapeText(typeOf(value).shape) +
                                           "; bind the model's input shapes");
    return {};
}

std::vector<int64_t> NodeImport::batchShapeOf(ValueRef value)
{
    if (hasFailed()) return {};
    const auto known = constantButFirst(typeOf(value).shape);
    return known ? *known : shapeOf(value);
}

bool NodeImport::usesOutput(size_t output) const
{
    return output < outputCount() && !m_outputs[output].empty();
}

bool NodeImport::isRead(size_t output) const
{
    return usesOutput(output) && m_state.readNames.contains(m_outputs[output]);
}

void NodeImport::define(size_t output, ImportedValue value)
{
    if (hasFailed() || !usesOutput(output)) return;
    value.name = m_outputs[output];
    value.isTyped = true;
    if (m_resultsNarrow) value.narrowType = m_resultsNarrow;
    if (m_state.define(std::move(value)))
        m_defined.push_back(m_outputs[output]);
    else
        fail(DiagnosticCode::BadModel, "the name " + quoted(m_outputs[output]) +
                                           " is defined twice; names must be unique in a graph");
}

void NodeImport::outputValue(size_t output, ImportedValue value)
{
    const bool isTyped = value.isTyped;
    define(output, std::move(value));
    if (!hasFailed() && usesOutput(output)) m_state.find(m_outputs[output])->isTyped = isTyped;
}

void NodeImport::output(size_t output, ValueRef value)
{
    if (hasFailed()) return;
    define(output, {.ref = value, .type = typeOf(value)});
}

void NodeImport::outputConstant(size_t output, Tensor value)
{
    if (hasFailed()) return;
    std::vector<SourceId> origin{m_source};
    for (const ImportedValue* in : m_inputs)
        if (in && in->constant) origin = mergedSource(origin, in->origin, m_source);
    ImportedValue out = constantValue({}, std::move(value));
    out.origin = std::move(origin);
    define(output, std::move(out));
}

void NodeImport::outputDims(size_t output, std::vector<Dim> dims, bool isScalar, DataType dtype)
{
    const Shape shape = isScalar ? Shape{} : Shape{Dim(static_cast<int64_t>(dims.size()))};
    if (const auto numbers = constantShape(dims)) {
        outputConstant(output, Tensor::make(dtype, *constantShape(shape), [&](auto bytes) {
                           for (size_t i = 0; i < numbers->size(); ++i)
                               storeInteger(dtype, bytes, static_cast<int64_t>(i), (*numbers)[i]);
                       }));
        return;
    }
    ImportedValue out{.type = {dtype, shape}, .origin = {m_source}};
    out.dims = std::move(dims);
    define(output, std::move(out));
}

void NodeImport::forward(size_t output, size_t input)
{
    if (hasFailed()) return;
    if (!has(input)) {
        this->input(input);
        return;
    }
    forward(output, *m_inputs[input], op() + " passes its input on");
}

void NodeImport::forward(size_t output, ImportedValue& value, std::string reason)
{
    if (hasFailed()) return;
    m_state.foldReasons[m_source] = std::move(reason);
    // A constant is placed under one node only, whichever of its names is read first.
    if (value.constant && !value.ref.node.isValid()) m_state.place(value);
    define(output, value);
}

const std::vector<std::string>* NodeImport::elements(size_t input) const
{
    return has(input) && m_inputs[input]->elements ? &*m_inputs[input]->elements : nullptr;
}

bool NodeImport::isStacked(size_t input) const { return has(input) && m_inputs[input]->isStacked; }

std::string NodeImport::firstSequence() const
{
    for (const ImportedValue* value : m_inputs)
        if (value && value->elements) return value->name;
    return {};
}

void NodeImport::failForValue(size_t input)
{
    if (hasFailed()) return;
    m_neededValue = m_inputs[input]->name;
    fail(DiagnosticCode::UnsupportedFeature,
         "input " + quoted(m_neededValue) + " must be known at import; it is computed at run time",
         m_neededValue);
}

const NarrowType* NodeImport::narrowType(size_t input) const
{
    return input < m_inputs.size() && m_inputs[input] ? m_inputs[input]->narrowType : nullptr;
}

void NodeImport::fail(DiagnosticCode code, std::string message, std::string detail)
{
    if (hasFailed()) return;
    m_error = makeError(code, std::move(message), {.detail = std::move(detail)});
}

void NodeImport::finish()
{
    for (const SourceId taken : m_taken) {
        std::vector<NodeId>& users = m_state.consumers[taken];
        for (const NodeId id : m_emitted)
            if (std::find(users.begin(), users.end(), id) == users.end()) users.push_back(id);
    }
}

void NodeImport::rollBack()
{
    // They stand at the end: a walk over the whole order would take the square of its length.
    std::vector<NodeId>& order = m_state.function.order;
    for (auto id = m_emitted.rbegin(); id != m_emitted.rend(); ++id) {
        const auto found = std::find(order.rbegin(), order.rend(), *id);
        if (found != order.rend()) order.erase(std::next(found).base());
        m_state.module.eraseNode(*id);
    }
    m_emitted.clear();
    for (const std::string& name : m_defined) m_state.undefine(name);
    m_defined.clear();
}

} // namespace tenon::compiler
