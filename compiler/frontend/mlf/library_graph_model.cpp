// SPDX-License-Identifier: Apache-2.0
// Kernels by name, with the types that the graph states.
#include "compiler/frontend/mlf/library_graph_model.h"

#include "compiler/frontend/import/graph_state.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

class GraphBuilder
{
public:
    GraphBuilder(const LibraryGraph& graph, NamedTensors params)
        : m_graph(graph)
    {
        for (auto& [name, tensor] : params)
            m_params.emplace(std::move(name), std::make_shared<const Tensor>(std::move(tensor)));
    }

    Result<Loaded> build()
    {
        for (const LibraryNode& node : m_graph.nodes)
            if (Status added = node.function.empty() ? addSource(node) : addKernel(node); !added)
                return added.error();
        for (const LibraryValue& result : m_graph.results) {
            const TensorType& type = typeOf(result);
            const std::string& name = m_graph.nodes[result.node].name;
            m_state.function.results.push_back(valueOf(result));
            m_state.function.resultNames.push_back(name);
            m_loaded.facts.outputs.push_back({name, type.dtype.text(), type.shape});
        }
        m_loaded.module = m_state.finish();
        return std::move(m_loaded);
    }

private:
    const TensorType& typeOf(const LibraryValue& value) const
    {
        return m_graph.types[m_graph.nodes[value.node].firstEntry + value.output];
    }
    ValueRef valueOf(const LibraryValue& value) const
    {
        return {m_values[value.node].node, static_cast<uint32_t>(value.output)};
    }
    SourceId sourceOf(const LibraryNode& node, const std::string& op)
    {
        m_state.sources.push_back({.name = node.name, .op = op});
        return SourceId(static_cast<uint32_t>(m_state.sources.size() - 1));
    }

    Status addSource(const LibraryNode& node)
    {
        const TensorType& type = m_graph.types[node.firstEntry];
        const auto param = m_params.find(node.name);
        if (param == m_params.end()) {
            m_values.push_back({m_state.addParameter(node.name, type), 0});
            m_loaded.facts.inputs.push_back({node.name, type.dtype.text(), type.shape});
            return kDone;
        }
        if (param->second->dtype() != type.dtype || makeShape(param->second->shape()) != type.shape)
            return makeError(DiagnosticCode::BadModel, "the parameter " + core::quoted(node.name) +
                                                           " is not the " + type.text() +
                                                           " that the graph says");
        m_values.push_back(
            m_state.addConstant(param->second, node.name, {sourceOf(node, "constant")}));
        m_loaded.facts.parameterCount += param->second->size();
        m_loaded.facts.parameterBytes += static_cast<int64_t>(param->second->bytes().size());
        return kDone;
    }

    Status addKernel(const LibraryNode& node)
    {
        std::vector<ValueRef> operands;
        for (const LibraryValue& input : node.inputs) operands.push_back(valueOf(input));
        const auto first = m_graph.types.begin() + static_cast<std::ptrdiff_t>(node.firstEntry);
        Types types(first, first + static_cast<std::ptrdiff_t>(node.outputs));
        const SourceId source = sourceOf(node, node.function);
        m_values.push_back({m_state.addOpaque("tvm." + node.function, std::move(operands),
                                              std::move(types), source),
                            0});
        ++m_loaded.facts.nodeCount;
        ++m_loaded.facts.opCounts[node.function];
        return kDone;
    }

    const LibraryGraph& m_graph;
    std::map<std::string, std::shared_ptr<const Tensor>> m_params;
    GraphState m_state;
    std::vector<ValueRef> m_values; ///< by node
    Loaded m_loaded;
};

} // namespace

std::string countsText(const LibraryGraph& graph)
{
    size_t calls = 0, views = 0;
    for (const LibraryNode& node : graph.nodes) {
        if (node.function == core::kNopKernel)
            ++views;
        else if (!node.function.empty())
            ++calls;
    }
    const std::set<int64_t> storages(graph.storages.begin(), graph.storages.end());
    return std::to_string(calls) + " kernel calls, " + std::to_string(views) + " views, " +
           std::to_string(graph.nodes.size() - calls - views) + " inputs and constants, " +
           std::to_string(storages.size()) + " storages";
}

core::Result<Loaded> shownGraph(const LibraryGraph& graph, NamedTensors params)
{
    return GraphBuilder(graph, std::move(params)).build();
}

} // namespace tenon::compiler
