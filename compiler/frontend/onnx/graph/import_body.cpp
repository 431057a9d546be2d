// SPDX-License-Identifier: Apache-2.0
// Bodies of control flow: graphs of the file inside of nodes.
#include "compiler/frontend/onnx/file/model_facts.h"
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "core/base/text.h"

namespace tenon::compiler {

OnnxGraph::OnnxGraph(OnnxGraph& parent, const tenon_onnx::GraphProto& graph,
                     const std::string& label)
    : GraphImport(parent, label)
    , m_model(parent.m_model)
    , m_graph(graph)
    , m_storage(parent.m_storage)
    , m_opset(parent.m_opset)
{
    noteNames();
}

void OnnxGraph::importBodyInputs(const Types& params)
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

void OnnxGraph::importBodyNodes()
{
    m_firstSource = static_cast<uint32_t>(m_state.sources.size());
    for (int i = 0; i < m_graph.node_size(); ++i) {
        m_state.sources.push_back(sourceOf(m_graph.node(i), static_cast<size_t>(i)));
        SourceNode& source = m_state.sources.back();
        if (m_graph.node(i).name().empty()) source.name = m_state.function.name + "/" + source.name;
    }
    for (const int i : sortedNodes())
        importNode(m_graph.node(i), SourceId(m_firstSource + static_cast<uint32_t>(i)));
}

OnnxGraph::Body OnnxGraph::runBody(const Types& params)
{
    importInitializers();
    importBodyInputs(params);
    importBodyNodes();
    return takeBody(outputNames());
}

std::optional<OnnxGraph::Body> OnnxGraph::importBody(const tenon_onnx::GraphProto& graph,
                                                     const Types& params, const std::string& label)
{
    OnnxGraph child(*this, graph, label);
    Body body = child.runBody(params);
    return adopted(child, std::move(body));
}

std::optional<OnnxGraph::Body> OnnxGraph::importLoopBody(OnnxNode& node,
                                                         const tenon_onnx::GraphProto& graph,
                                                         Types& params, size_t fixed,
                                                         size_t carried, size_t firstResult)
{
    const std::string label = m_state.sources[node.source().value].name + ".body";
    return GraphImport::importLoopBody(
        node, [&](const Types& types) { return importBody(graph, types, label); }, params, fixed,
        carried, firstResult);
}

} // namespace tenon::compiler
