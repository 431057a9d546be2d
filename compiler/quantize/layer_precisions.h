// SPDX-License-Identifier: Apache-2.0
// Layers and their precisions, as options of a quantization have them.
#pragma once

#include "compiler/quantize/float_graph.h"
#include "compiler/quantize/quantize.h"

namespace tenon::compiler {

/// Layers that may have any precision, in order, with what their weights take and what is pinned.
PrecisionCosts layersOf(const FloatGraph& graph, const QuantizeOptions& options);

/// With each layer of `costs` as it was chosen, whatever `options` ask for it.
QuantizeOptions optionsFor(const QuantizeOptions& options, const PrecisionCosts& costs,
                           const PrecisionChoice& choice);

} // namespace tenon::compiler
