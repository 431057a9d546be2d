// SPDX-License-Identifier: Apache-2.0
// The loops over what a convolution adds up, in the order that a register tile walks them.
#pragma once

#include "compiler/schedule/rules/conv_tiles.h"

namespace tenon::compiler {

/// Products of bytes where lanes are operands.
bool hasByteLanes(const ConvShape& shape, const TargetFacts& facts);

/// Reduction loops from outside to inside; the last one is unrolled unless it is the only step.
struct ConvReduction
{
    std::vector<std::string> loops;
    std::string unrolled;
    std::string blocks; ///< of channels that are unrolled around it
};

ConvReduction splitReduction(Schedule& schedule, const ConvLoops& loops, const ConvShape& shape,
                             const TargetFacts& facts);

} // namespace tenon::compiler
