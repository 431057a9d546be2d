// SPDX-License-Identifier: Apache-2.0
// The inputs of a graph: sizes and values that the caller binds to what the file declares.
#include "compiler/frontend/import/fold_tensor.h"
#include "compiler/frontend/import/graph_import.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

void GraphImport::addInputs(std::vector<DeclaredInput> inputs)
{
    bindDimensions(inputs);
    // First every binding, then every shape: one input's binding may fix another's dimension.
    for (DeclaredInput& input : inputs) bindShape(input.facts);
    for (DeclaredInput& input : inputs) addInput(std::move(input));
}

void GraphImport::bindDimensions(const std::vector<DeclaredInput>& inputs)
{
    std::set<std::string> names;
    std::set<std::string> symbols;
    for (const DeclaredInput& input : inputs) {
        names.insert(input.facts.name);
        for (const Dim& dim : input.facts.shape)
            for (std::string& symbol : dim.symbols()) symbols.insert(std::move(symbol));
    }
    for (const auto& [name, value] : m_options.values)
        if (!names.contains(name))
            report(makeError(DiagnosticCode::UnknownName,
                             "the model has no input " + quoted(name) + " to fix a value of"));
    const auto isDimension = [&](const std::string& name, size_t sizes) {
        if (names.contains(name)) return false;
        if (sizes == 1 && symbols.contains(name)) return true;
        std::vector<std::string> all, open;
        for (const std::string& input : names) all.push_back(quoted(input));
        for (const std::string& symbol : symbols) open.push_back(quoted(symbol));
        report(makeError(DiagnosticCode::UnknownName,
                         "the model has no input or dimension " + quoted(name) +
                             "; its inputs are " + join(all, ", ") +
                             (open.empty() ? ", all of known sizes"
                                           : ", its open dimensions " + join(open, ", "))));
        return false;
    };
    for (const auto& [name, shape] : m_options.shapes)
        if (isDimension(name, shape.size())) m_dims.emplace(name, shape[0]);
    for (const auto& [name, bounds] : m_options.bounds)
        if (isDimension(name, bounds.size())) m_state.bounds[name] = bounds[0];
}

/// Bounds of an input's dimensions, one number where it is known.
void GraphImport::boundShape(ValueFacts& facts)
{
    const auto given = m_options.bounds.find(facts.name);
    if (given == m_options.bounds.end()) return;
    const std::vector<DimBounds>& bounds = given->second;
    if (!facts.hasShape)
        for (size_t i = 0; i < bounds.size(); ++i)
            facts.shape.push_back(bounds[i].isOne()
                                      ? Dim(bounds[i].low)
                                      : Dim::symbol(facts.name + "_" + std::to_string(i)));
    facts.hasShape = true;
    const auto misfit = [&](const std::string& why) {
        std::vector<std::string> texts;
        for (const DimBounds& one : bounds) texts.push_back(boundsText(one));
        report(makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(facts.name) + " has the shape " +
                             shapeText(facts.shape) + " and cannot be bounded by (" +
                             join(texts, ", ") + ")" + why,
                         {.detail = facts.name}));
    };
    if (bounds.size() != facts.shape.size()) return misfit("");
    for (size_t i = 0; i < bounds.size(); ++i) {
        const Dim dim = facts.shape[i];
        if (dim.isConst()) {
            if (bounds[i] != DimBounds{dim.value(), dim.value()})
                return misfit("; dimension " + std::to_string(i) + " is fixed in the model");
        } else if (bounds[i].isOne()) {
            m_dims.emplace(dim.text(), bounds[i].low);
        } else {
            const auto [known, isNew] = m_state.bounds.emplace(dim.text(), bounds[i]);
            if (known->second != bounds[i])
                return misfit("; " + quoted(dim.text()) + " has the bounds " +
                              boundsText(known->second));
        }
    }
}

void GraphImport::bindShape(ValueFacts& facts)
{
    boundShape(facts);
    const auto given = m_options.shapes.find(facts.name);
    if (given == m_options.shapes.end()) return;
    const std::vector<int64_t>& shape = given->second;
    if (!facts.hasShape) {
        facts.shape = makeShape(shape);
        facts.hasShape = true;
        return;
    }
    const auto misfit = [&] {
        report(makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(facts.name) + " has the shape " +
                             shapeText(facts.shape) + " and cannot be bound to (" +
                             join(shape, ", ") + ")",
                         {.detail = facts.name}));
    };
    if (shape.size() != facts.shape.size()) return misfit();
    for (size_t i = 0; i < shape.size(); ++i) {
        const Dim& dim = facts.shape[i];
        if (dim.isConst() ? dim.value() != shape[i] && dim.value() != 0 : shape[i] < 0)
            return misfit();
    }
    for (size_t i = 0; i < shape.size(); ++i) {
        const Dim dim = facts.shape[i];
        if (!dim.isConst()) {
            const auto [bound, isNew] = m_dims.emplace(dim.text(), shape[i]);
            if (!isNew && bound->second != shape[i]) {
                report(makeError(DiagnosticCode::ShapeMismatch,
                                 "dimension " + quoted(dim.text()) + " is bound to " +
                                     std::to_string(bound->second) + " and to " +
                                     std::to_string(shape[i]),
                                 {.detail = facts.name}));
            }
        }
        facts.shape[i] = Dim(shape[i]);
    }
}

void GraphImport::addInput(DeclaredInput input)
{
    ValueFacts& facts = input.facts;
    for (Dim& dim : facts.shape) dim = dim.bind(m_dims);
    ImportedValue value{.name = facts.name, .type = untypedValue(), .narrowType = input.narrow};
    if (!input.dtype) {
        report(makeError(DiagnosticCode::UnsupportedDtype,
                         "input " + quoted(facts.name) + " is of type " + facts.dtype +
                             ", which cannot be computed with; prepare such data before the model",
                         {.detail = facts.name}));
    } else if (!facts.hasShape) {
        report(makeError(DiagnosticCode::DynamicShape,
                         "input " + quoted(facts.name) + " has no shape; give it with --shape " +
                             facts.name + "=1,2,3",
                         {.detail = facts.name}));
    } else if (isTooLarge(facts.shape)) {
        report(makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(facts.name) + " has the impossible shape " +
                             shapeText(facts.shape),
                         {.detail = facts.name}));
    } else {
        value.type = {*input.dtype, facts.shape};
        value.isTyped = true;
    }
    const auto fixed = m_options.values.find(facts.name);
    if (fixed != m_options.values.end() && value.isTyped) {
        fixValue(facts.name, value.type, fixed->second);
        return;
    }
    value.ref = {m_state.addParameter(facts.name, value.type), 0};
    if (!m_state.define(std::move(value)))
        report(makeError(DiagnosticCode::BadModel, "two inputs are named " + quoted(facts.name),
                         {.detail = facts.name}));
}

void GraphImport::fixValue(const std::string& name, const TensorType& declared, const Tensor& value)
{
    const auto shape = constantShape(declared.shape);
    const bool fits = shape && elementCount(*shape) == value.size();
    if (!fits)
        report(makeError(DiagnosticCode::ShapeMismatch,
                         "input " + quoted(name) + " is " + declared.text() +
                             " and cannot be fixed to " + value.typeText(),
                         {.detail = name}));
    const Tensor typed =
        value.dtype() == declared.dtype ? value : foldedCast(value, declared.dtype);
    m_state.define(constantValue(name, fits ? typed.reshaped(*shape) : typed));
}

std::vector<std::string> GraphImport::inputsBehind(const std::string& name) const
{
    std::vector<std::string> out, open{name};
    std::set<std::string> seen;
    while (!open.empty()) {
        const std::string next = open.back();
        open.pop_back();
        if (next.empty() || !seen.insert(next).second) continue;
        if (m_inputNames.contains(next)) out.push_back(next);
        const auto producer = m_producers.find(next);
        if (producer == m_producers.end()) continue;
        const NodeNames& node = m_nodes[producer->second];
        if (!node.readsShapesOnly) open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    std::sort(out.begin(), out.end());
    return out;
}

Diagnostic GraphImport::withNeededValues(Diagnostic error, const std::string& neededValue)
{
    std::vector<std::string> quotedNames;
    for (const std::string& input : inputsBehind(neededValue)) {
        if (std::find(m_neededValues.begin(), m_neededValues.end(), input) == m_neededValues.end())
            m_neededValues.push_back(input);
        quotedNames.push_back(quoted(input));
    }
    if (!quotedNames.empty())
        error.message += " from the model's input " + join(quotedNames, ", ") +
                         "; give that a value with --value";
    return error;
}

} // namespace tenon::compiler
