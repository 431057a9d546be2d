// SPDX-License-Identifier: Apache-2.0
// Bodies of control flow as functions: what they capture becomes parameters behind their own.
#include "compiler/frontend/import/graph_import.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {

GraphImport::GraphImport(GraphImport& outer, const std::string& label)
    : m_state(outer.m_state, label)
    , m_file(outer.m_file)
    , m_dims(outer.m_dims)
    , m_options(outer.m_options)
    , m_path(outer.m_path + "/" + label)
{
}

ImportedBody GraphImport::takeBody(const std::vector<std::string>& outputs)
{
    ImportedBody body{.function = m_state.function.id, .captures = {}, .results = {}};
    for (const std::string& name : outputs) {
        ImportedValue* value = m_state.find(name);
        if (value && value->elements) {
            report(unsupportedSequence("the output " + quoted(name) + " of the body"));
            continue;
        }
        if (value) m_state.place(*value);
        if (!value || !value->ref.node.isValid()) {
            report(makeError(DiagnosticCode::BadModel,
                             "the output " + quoted(name) +
                                 " of the body has no value that can be computed",
                             {.detail = name}));
            continue;
        }
        m_state.function.results.push_back(value->ref);
        body.results.push_back(*value);
    }
    // A capture may have been found while the outputs were placed.
    body.captures = m_state.captures;
    m_state.giveBack();
    return body;
}

std::optional<ImportedBody> GraphImport::adopted(GraphImport& child, ImportedBody body)
{
    const bool isGood = std::none_of(
        child.m_diagnostics.begin(), child.m_diagnostics.end(),
        [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
    for (Diagnostic& diagnostic : child.m_diagnostics)
        m_diagnostics.push_back(std::move(diagnostic));
    m_neededValues.insert(m_neededValues.end(), child.m_neededValues.begin(),
                          child.m_neededValues.end());
    if (isGood) return body;
    m_state.eraseBody(body.function);
    return std::nullopt;
}

void GraphImport::takeBack(FunctionId body, const ImportMark& mark)
{
    m_state.eraseBody(body);
    m_state.sources.resize(mark.sources);
    const auto isGone = [&](const auto& entry) { return entry.first.value >= mark.sources; };
    std::erase_if(m_state.consumers, isGone);
    std::erase_if(m_state.foldReasons, isGone);
    m_diagnostics.resize(mark.diagnostics);
}

std::optional<ImportedBody> GraphImport::importLoopBody(
    NodeImport& node, const std::function<std::optional<ImportedBody>(const Types&)>& importOnce,
    Types& params, size_t fixed, size_t carried, size_t firstResult)
{
    const ImportMark before = mark();
    std::set<std::pair<size_t, size_t>> open; ///< (parameter, axis) whose size changes
    while (true) {
        auto body = importOnce(params);
        if (!body) return body;
        bool isStable = true;
        for (size_t i = 0; i < carried; ++i) {
            TensorType& in = params[fixed + i];
            const TensorType& out = body->results[firstResult + i].type;
            if (in.dtype != out.dtype || in.shape.size() != out.shape.size()) {
                node.fail(DiagnosticCode::UnsupportedFeature,
                          "the carried value " + quoted(body->results[firstResult + i].name) +
                              " goes from " + in.text() + " to " + out.text() +
                              "; its type and rank must stay");
                return std::nullopt;
            }
            for (size_t axis = 0; axis < in.shape.size(); ++axis) {
                if (in.shape[axis] == out.shape[axis] || !open.insert({i, axis}).second) continue;
                in.shape[axis] = Dim::symbol(m_state.newSize());
                isStable = false;
            }
        }
        if (isStable) return body;
        // Once more, with the sizes open.
        takeBack(body->function, before);
    }
}

TensorType GraphImport::typeOutside(const TensorType& type, int64_t sizes)
{
    TensorType out = type;
    for (Dim& dim : out.shape)
        if (m_state.isNewerThan(dim, sizes)) dim = Dim::symbol(m_state.newSize());
    return out;
}

std::vector<ValueRef> GraphImport::capturedOperands(const ImportedBody& body)
{
    std::vector<ValueRef> operands;
    for (const CapturedValue& captured : body.captures)
        operands.push_back(m_state.place(*m_state.find(captured.name)));
    return operands;
}

void GraphImport::unifyCaptures(ImportedBody& a, ImportedBody& b)
{
    std::vector<std::string> names;
    for (const ImportedBody* body : {&a, &b})
        for (const CapturedValue& captured : body->captures)
            if (std::find(names.begin(), names.end(), captured.name) == names.end())
                names.push_back(captured.name);
    for (ImportedBody* body : {&a, &b}) {
        GraphFunction function = m_state.module.function(body->function);
        function.params.resize(function.params.size() - body->captures.size());
        std::vector<CapturedValue> captures;
        for (const std::string& name : names) {
            const auto known =
                std::find_if(body->captures.begin(), body->captures.end(),
                             [&](const CapturedValue& captured) { return captured.name == name; });
            CapturedValue captured{name, {}};
            if (known != body->captures.end()) {
                captured.param = known->param;
            } else {
                NodeRecord param;
                param.id = captured.param = m_state.module.ids().nextNode();
                param.kind = NodeKind::Parameter;
                param.types = {m_state.find(name)->type};
                param.name = name;
                m_state.module.setNode(std::move(param));
            }
            function.params.push_back(captured.param);
            captures.push_back(captured);
        }
        body->captures = std::move(captures);
        m_state.module.setFunction(std::move(function));
    }
}

void GraphImport::takeInline(NodeImport& node, const ImportedBody& body,
                             const std::vector<ValueRef>& arguments, const std::string& reason)
{
    m_state.foldReasons[node.source()] = reason;
    std::vector<ImportedValue> results = inlineBody(body, arguments);
    for (size_t i = 0; i < results.size(); ++i) node.outputValue(i, std::move(results[i]));
}

std::vector<ImportedValue> GraphImport::inlineBody(const ImportedBody& body,
                                                   const std::vector<ValueRef>& arguments)
{
    const GraphFunction function = m_state.module.function(body.function);
    std::unordered_map<NodeId, ValueRef> outer;
    for (size_t i = 0; i < arguments.size(); ++i) outer[function.params.at(i)] = arguments[i];
    const std::vector<ValueRef> captured = capturedOperands(body);
    for (size_t i = 0; i < captured.size(); ++i) outer[body.captures[i].param] = captured[i];
    const auto mapped = [&](ValueRef value) {
        const auto found = outer.find(value.node);
        return found != outer.end() ? found->second : value;
    };
    for (const NodeId id : function.order) {
        NodeRecord record = m_state.module.node(id);
        for (ValueRef& operand : record.operands) operand = mapped(operand);
        m_state.module.setNode(std::move(record));
        m_state.function.order.push_back(id);
    }
    for (const NodeId id : function.params) m_state.module.eraseNode(id);
    m_state.module.eraseFunction(body.function);
    std::vector<ImportedValue> results = body.results;
    for (ImportedValue& result : results) result.ref = mapped(result.ref);
    return results;
}

} // namespace tenon::compiler
