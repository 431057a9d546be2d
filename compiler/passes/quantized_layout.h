// SPDX-License-Identifier: Apache-2.0
// Layouts of quantized layers for dot-product instructions: weights packed by four, what zero
// points take away from the sums added behind.
#pragma once

#include "compiler/passes/layout_values.h"

namespace tenon::compiler {

/// What AlterOpLayout hands over for one node.
struct QuantizedLayerSite
{
    const Module& module;
    const NodeRecord& node;
    LayoutValues& values;
    PatchWriter& patch;
    int lanes; ///< of int32
};

/// Writes qnn.conv2d of uint8 data and signed constant weights, dense or depthwise, in its blocked
/// form; false when it must stay as it is.
bool alterQuantizedConvolution(const QuantizedLayerSite& site);
/// The same for qnn.dense.
bool alterQuantizedDense(const QuantizedLayerSite& site);

} // namespace tenon::compiler
