// SPDX-License-Identifier: Apache-2.0
// Layouts of quantized layers for dot-product instructions: weights packed by four, what zero
// points take away from the sums added behind.
#pragma once

#include "compiler/passes/layout/layout_values.h"

namespace tenon::compiler {

/// What AlterOpLayout hands over for one node.
struct QuantizedLayerSite
{
    const Module& module;
    const NodeRecord& node;
    LayoutValues& values;
    PatchWriter& patch;
    int lanes;         ///< of int32
    DataType bytes;    ///< uint8 or int8: what the target multiplies with int8
    int vectorLanes;   ///< of int32 that one instruction takes; 1: no vectors
    bool hasRuns;      ///< it multiplies sixteen bytes side by side with as many for one sum
    bool mayTransform; ///< Winograd's method is allowed, which takes eight times the filters' bytes
    const TargetFacts& facts;
};

/// What lowering may know of a requantization's constant scales.
void noteScales(const Module& module, NodeRecord& node);

/// Writes qnn.conv2d (dense or depthwise) and qnn.dense of such data and signed constant weights in
/// their packed forms, and functions of bytes as tables in the blocks of these; false for what must
/// stay as it is.
bool alterQuantizedLayer(const QuantizedLayerSite& site);

/// True where values become integers of more than 8 bits: a step of theirs is less than the error
/// of Winograd convolutions in front of it.
bool hasFineSteps(const Module& module, const GraphFunction& function);

} // namespace tenon::compiler
