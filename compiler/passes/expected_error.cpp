// SPDX-License-Identifier: Apache-2.0
// Gains of the simplified module, errors of the forms that were chosen later.
#include "compiler/passes/expected_error.h"

#include "compiler/passes/error_budget.h"
#include "compiler/passes/error_gain.h"

#include <cmath>

namespace tenon::compiler {

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
        const int64_t tile = node ? node->attrs.integer("tile_size", 0) : 0;
        const auto size = winogradSize(*simplified, simplified->node(layer.node));
        const double own = tile != 0 && size ? storedError(winogradError(tile, size->inChannels))
                                             : sumError(layer.terms);
        out.layers[layer.node] = {own, own * layer.gain};
        square += own * layer.gain * own * layer.gain;
    }
    out.total = std::sqrt(square);
    return out;
}

} // namespace tenon::compiler
