// SPDX-License-Identifier: Apache-2.0
// Operands of elementwise operators beside a value in blocks of channels, [N, C/b, H, W, b].
#pragma once

#include "compiler/passes/layout/layout_values.h"

namespace tenon::compiler {

inline bool isOne(const Dim& dim) { return dim.isConst() && dim.value() == 1; }

/// What an operand stands beside.
struct BlockedChannels
{
    const Dim& channels;
    int64_t block;
};

/// True for operands that are blocked, or that one of the forms of broadcastOperand() fits.
bool canStandBeside(const Module& module, const LayoutValues& values, ValueRef operand,
                    const Dim& channels);
/// The operand so that it broadcasts against a value in blocks.
ValueRef broadcastOperand(const Module& module, LayoutValues& values, ValueRef operand,
                          const BlockedChannels& beside);

/// True for qnn.quantize and qnn.dequantize by one scale and one zero point.
bool hasOneScale(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
