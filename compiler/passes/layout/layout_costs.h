// SPDX-License-Identifier: Apache-2.0
// Modelled cycles of convolutions and transformations under each layout; what AlterOpLayout
// weighs.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "core/ir/module.h"

#include <cstdint>
#include <optional>

namespace tenon::compiler {

using namespace core;

/// A convolution that AlterOpLayout can write in blocks.
struct BlockableConvolution
{
    int64_t batch, inChannels, outChannels, rows, columns;
    int64_t kernelSize; ///< elements of the window
    int64_t stride;     ///< along a row
    int64_t groups;
    bool isDepthwise;
    bool isSquare;    ///< and without dilation
    int64_t tile = 0; ///< m of Winograd's method where that is chosen for blocks
};
/// Nothing for convolutions of other kinds.
std::optional<BlockableConvolution> blockableConvolution(const Module& module,
                                                         const NodeRecord& node);

/// Cycles with blocks of `in` and `out` channels; 0 for plain values. A plain result is computed
/// from plain data. Infinity where there is no such form.
double convolutionCycles(const BlockableConvolution& conv, int64_t in, int64_t out,
                         const LayoutMachine& machine);
/// Cycles of a pool or of resizing in blocks of channels; 0: plain.
double windowCycles(const Module& module, const NodeRecord& node, int64_t block,
                    const TargetFacts& facts);
/// Cycles of bringing a value from one layout into another.
double transformCycles(const TensorType& type, const TargetFacts& facts);

} // namespace tenon::compiler
