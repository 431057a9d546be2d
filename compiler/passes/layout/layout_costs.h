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
    std::array<int64_t, 2> kernel, strides; ///< along columns, then along rows
    int64_t groups;
    bool isDepthwise;
    bool isDilated;
    bool isWeightComputed; ///< by the model, and then packed in every run
    WinogradTile tile;     ///< of Winograd's method where that is chosen for blocks

    ConvolutionSize size() const
    {
        return {batch, inChannels / groups, outChannels, rows, columns, kernel, strides, groups};
    }
    /// Pixels that tiles follow one another along: those of a row, or of the image.
    int64_t positions() const
    {
        const bool isPointwise = kernel[0] * kernel[1] == 1 && strides[0] * strides[1] == 1;
        return isPointwise ? rows * columns : columns;
    }
};
/// Nothing for convolutions of other kinds.
std::optional<BlockableConvolution> blockableConvolution(const Module& module,
                                                         const NodeRecord& node);

/// Cycles with blocks of `in` and `out` channels; 0 for plain values. A plain result is computed
/// from plain data. Infinity where there is no such form.
double convolutionCycles(const BlockableConvolution& conv, int64_t in, int64_t out,
                         const LayoutMachine& machine);
/// Cycles in the widest blocks that results have, from blocks of data where there are some, by
/// Winograd's method where that is faster. Infinity where results fill no blocks.
double blockedCycles(const BlockableConvolution& conv, const LayoutMachine& machine);
/// Cycles of a pool or of resizing in blocks of channels; 0: plain.
double windowCycles(const Module& module, const NodeRecord& node, int64_t block,
                    const TargetFacts& facts);
/// Cycles of bringing a value from one layout into another.
double transformCycles(const TensorType& type, const TargetFacts& facts);

} // namespace tenon::compiler
