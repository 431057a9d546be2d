// SPDX-License-Identifier: Apache-2.0
// Gains of the simplified module, errors of the forms that were chosen later.
#include "compiler/passes/error/expected_error.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/error/error_budget.h"
#include "compiler/passes/error/error_gain.h"
#include "compiler/passes/layout/strassen_choice.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Why layers have no faster form, as the pass that chose the forms has noted.
void addRefusals(const PassTrace& trace, ExpectedError& out)
{
    for (const PassRecord& record : trace.records)
        for (const Change& change : record.changes)
            if (std::string refused = refusedForm(change.reason); !refused.empty())
                for (const NodeId id : change.to)
                    if (const auto layer = out.layers.find(id); layer != out.layers.end())
                        layer->second.refused = refused;
}

/// Of the form that a layer got.
double formError(const NodeRecord& node, const Module& simplified, const LayerGain& layer)
{
    const NodeRecord& before = simplified.node(layer.node);
    const std::vector<int64_t> tile = node.attrs.integers("tile_size", {});
    if (const auto size = winogradSize(simplified, before); size && tile.size() == 2)
        return storedError(winogradError(*size, {tile[0], tile[1]}));
    if (const auto size = halvedSize(simplified, before);
        size && node.op == strassenConv2dNchwcOp.name)
        return storedError(strassenError(*size));
    return sumError(layer.terms);
}

} // namespace

ExpectedError expectedError(const PassTrace& trace)
{
    // Nodes keep their ids until layouts and groups are chosen.
    const Module* simplified = &trace.imported;
    for (const PassRecord& record : trace.records) {
        if (record.phase != "import" && record.phase != "simplify") break;
        simplified = &record.after;
    }
    ExpectedError out;
    const GraphFunction& main = simplified->main();
    const ValueSamples samples(*simplified, main);
    double square = 0;
    for (const LayerGain& layer : errorGains(*simplified, main, samples)) {
        const NodePtr& node = trace.last().findNode(layer.node);
        const double own = node ? formError(*node, *simplified, layer) : sumError(layer.terms);
        out.layers[layer.node] = {own, own * layer.gain};
        square += own * layer.gain * own * layer.gain;
    }
    out.total = std::sqrt(square);
    addRefusals(trace, out);
    return out;
}

std::optional<LayerError> errorOfCall(const ExpectedError& error, const Module& module, NodeId call)
{
    const NodePtr& node = module.findNode(call);
    if (!node || !node->callee.isValid()) return std::nullopt;
    std::optional<LayerError> out;
    for (const NodeId member : module.function(node->callee).order) {
        const auto layer = error.layers.find(member);
        if (layer == error.layers.end()) continue;
        if (!out) out = LayerError{0, 0};
        out->own = std::max(out->own, layer->second.own);
        out->share = std::hypot(out->share, layer->second.share);
        if (!layer->second.refused.empty()) out->refused = layer->second.refused;
    }
    return out;
}

} // namespace tenon::compiler
