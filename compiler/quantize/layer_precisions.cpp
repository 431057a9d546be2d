// SPDX-License-Identifier: Apache-2.0
// Lists of names to a precision per layer, and back.
#include "compiler/quantize/layer_precisions.h"

#include "compiler/quantize/quantize_plan.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

PrecisionCosts layersOf(const FloatGraph& graph, const QuantizeOptions& options)
{
    QuantizeOptions free = options;
    free.floatNodes.clear();
    const QuantizePlan plan = planQuantization(graph, free);
    PrecisionCosts out;
    out.wider = options.wider;
    for (int i = 0; i < graph.nodeCount(); ++i) {
        const PlannedNode& planned = plan.nodes[static_cast<size_t>(i)];
        if (planned.role != NodeRole::Layer) continue;
        const auto& node = graph.node(i);
        const int64_t weights = graph.constant(node.input(1))->size();
        LayerCost layer{.layer = node.name(), .op = node.op_type(), .output = planned.result};
        // Beside 16 bits of data they become floats when a model is compiled.
        layer.weightBytes = {weights, 4 * weights, 4 * weights};
        if (contains(options.floatNodes, node.name())) layer.pinned = Precision::Float;
        if (contains(options.wideNodes, node.name())) layer.pinned = Precision::Int16;
        out.layers.push_back(std::move(layer));
    }
    return out;
}

QuantizeOptions optionsFor(const QuantizeOptions& options, const PrecisionCosts& costs,
                           const PrecisionChoice& choice)
{
    QuantizeOptions out = options;
    for (size_t i = 0; i < choice.size(); ++i) {
        const std::string& layer = costs.layers[i].layer;
        std::erase(out.floatNodes, layer);
        std::erase(out.wideNodes, layer);
        if (choice[i] == Precision::Float) out.floatNodes.push_back(layer);
        if (choice[i] == Precision::Int16) out.wideNodes.push_back(layer);
    }
    return out;
}

} // namespace tenon::compiler
