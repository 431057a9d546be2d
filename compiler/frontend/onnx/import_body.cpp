// SPDX-License-Identifier: Apache-2.0
// Bodies of control flow as functions: what they capture becomes parameters behind their own.
#include "compiler/frontend/onnx/import_graph.h"
#include "compiler/frontend/onnx/model_facts.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {

GraphImport::GraphImport(GraphImport& parent, const tenon_onnx::GraphProto& graph,
                         const std::string& label)
    : m_model(parent.m_model)
    , m_graph(graph)
    , m_file(parent.m_file)
    , m_path(parent.m_path + "/" + label)
    , m_storage(parent.m_storage)
    , m_options(parent.m_options)
    , m_state(parent.m_state, label)
    , m_dims(parent.m_dims)
    , m_opset(parent.m_opset)
{
    noteNames();
}

void GraphImport::importBodyInputs(const Types& params)
{
    for (int i = 0; i < m_graph.input_size(); ++i) {
        const std::string& name = m_graph.input(i).name();
        ImportedValue value{.name = name, .type = params[static_cast<size_t>(i)], .isTyped = true};
        value.ref = {m_state.addParameter(name, value.type), 0};
        if (!m_state.define(std::move(value)))
            report(makeError(DiagnosticCode::BadModel,
                             "two inputs of the body are named " + quoted(name), {.detail = name}));
    }
}

GraphImport::Body GraphImport::runBody(const Types& params)
{
    importInitializers();
    importBodyInputs(params);
    m_firstSource = static_cast<uint32_t>(m_state.sources.size());
    for (int i = 0; i < m_graph.node_size(); ++i) {
        m_state.sources.push_back(sourceOf(m_graph.node(i), static_cast<size_t>(i)));
        SourceNode& source = m_state.sources.back();
        if (m_graph.node(i).name().empty()) source.name = m_state.function.name + "/" + source.name;
    }
    for (const int i : sortedNodes())
        importNode(m_graph.node(i), SourceId(m_firstSource + static_cast<uint32_t>(i)));
    Body body{.function = m_state.function.id, .captures = {}, .results = {}};
    for (const auto& info : m_graph.output()) {
        ImportedValue* value = m_state.find(info.name());
        if (value && value->elements) {
            report(unsupportedSequence("the output " + quoted(info.name()) + " of the body"));
            continue;
        }
        if (value) m_state.place(*value);
        if (!value || !value->ref.node.isValid()) {
            report(makeError(DiagnosticCode::BadModel,
                             "the output " + quoted(info.name()) +
                                 " of the body has no value that can be computed",
                             {.detail = info.name()}));
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

std::optional<GraphImport::Body> GraphImport::importBody(const tenon_onnx::GraphProto& graph,
                                                         const Types& params,
                                                         const std::string& label)
{
    GraphImport child(*this, graph, label);
    Body body = child.runBody(params);
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

std::optional<GraphImport::Body> GraphImport::importLoopBody(NodeImport& node,
                                                             const tenon_onnx::GraphProto& graph,
                                                             Types& params, size_t fixed,
                                                             size_t carried, size_t firstResult)
{
    const size_t sources = m_state.sources.size();
    const size_t diagnostics = m_diagnostics.size();
    std::set<std::pair<size_t, size_t>> open; ///< (parameter, axis) whose size changes
    while (true) {
        auto body = importBody(graph, params, m_state.sources[node.source().value].name + ".body");
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
        m_state.eraseBody(body->function);
        m_state.sources.resize(sources);
        const auto isGone = [&](const auto& entry) { return entry.first.value >= sources; };
        std::erase_if(m_state.consumers, isGone);
        std::erase_if(m_state.foldReasons, isGone);
        m_diagnostics.resize(diagnostics);
    }
}

TensorType GraphImport::typeOutside(const TensorType& type, int64_t sizes)
{
    TensorType out = type;
    for (Dim& dim : out.shape)
        if (m_state.isNewerThan(dim, sizes)) dim = Dim::symbol(m_state.newSize());
    return out;
}

std::vector<ValueRef> GraphImport::capturedOperands(const Body& body)
{
    std::vector<ValueRef> operands;
    for (const CapturedValue& captured : body.captures)
        operands.push_back(m_state.place(*m_state.find(captured.name)));
    return operands;
}

void GraphImport::unifyCaptures(Body& a, Body& b)
{
    std::vector<std::string> names;
    for (const Body* body : {&a, &b})
        for (const CapturedValue& captured : body->captures)
            if (std::find(names.begin(), names.end(), captured.name) == names.end())
                names.push_back(captured.name);
    for (Body* body : {&a, &b}) {
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

} // namespace tenon::compiler
