// SPDX-License-Identifier: Apache-2.0
// Zeros between merged groups are multiplied, too; whole vectors make up for that.
#include "compiler/passes/layout/group_merge.h"

namespace tenon::compiler {
namespace {

/// Products for one that counts. More would be slower than plain loops.
constexpr int64_t kMostMerged = 4;
constexpr int64_t kNarrowestBlock = 4;

} // namespace

GroupMerge groupMergeOf(const BlockableConvolution& conv, const LayoutMachine& machine)
{
    GroupMerge best;
    const int64_t in = conv.inChannels / conv.groups, out = conv.outChannels / conv.groups;
    for (int64_t block = machine.lanes; block >= kNarrowestBlock; block /= 2) {
        int64_t count = 1;
        while (count <= kMostMerged && (in * count % block != 0 || out * count % block != 0))
            ++count;
        if (count > kMostMerged || conv.groups % count != 0) continue;
        if (best.block == 0 || count * best.block < best.groups * block) best = {count, block};
    }
    return best;
}

double mergedCycles(BlockableConvolution conv, const GroupMerge& merge,
                    const LayoutMachine& machine)
{
    conv.groups /= merge.groups;
    return convolutionCycles(conv, merge.block, merge.block, machine);
}

} // namespace tenon::compiler
