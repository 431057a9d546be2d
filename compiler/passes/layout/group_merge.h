// SPDX-License-Identifier: Apache-2.0
// GroupMerge: how many narrow groups of a convolution are computed as one.
#pragma once

#include "compiler/passes/layout/layout_costs.h"

namespace tenon::compiler {

/// How many groups become one, and the block of channels they are then computed in.
struct GroupMerge
{
    int64_t groups = 1;
    int64_t block = 0; ///< 0: no block has whole groups
};

/// The fewest products per vector; of equals the widest block, which neighbours have, too.
GroupMerge groupMergeOf(const BlockableConvolution& conv, const LayoutMachine& machine);
/// Cycles of the convolution in blocks, with its groups merged so.
double mergedCycles(BlockableConvolution conv, const GroupMerge& merge,
                    const LayoutMachine& machine);

} // namespace tenon::compiler
