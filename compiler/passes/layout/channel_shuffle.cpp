// SPDX-License-Identifier: Apache-2.0
// Two reshapes around a transpose, told by their types.
#include "compiler/passes/layout/channel_shuffle.h"

#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The first operand's node, where it is such an operator.
const NodeRecord* before(const Module& module, const NodeRecord& node, const OpDef& op)
{
    const NodeRecord& found = module.node(node.operands[0].node);
    return isOp(found, op) ? &found : nullptr;
}

} // namespace

std::optional<ChannelShuffle> channelShuffleOf(const Module& module, const NodeRecord& reshape)
{
    constexpr size_t kImageRank = 4;
    const std::vector<int64_t> exchanged{0, 2, 1, 3, 4};
    if (!isOp(reshape, reshapeOp)) return std::nullopt;
    const NodeRecord* turn = before(module, reshape, transposeOp);
    const NodeRecord* table = turn ? before(module, *turn, reshapeOp) : nullptr;
    if (!table || turn->attrs.integers("axes", {}) != exchanged) return std::nullopt;
    const ValueRef images = table->operands[0];
    const Shape& in = module.type(images).shape;
    const Shape& out = reshape.types[0].shape;
    const Shape& split = table->types[0].shape;
    const bool isSame = in.size() == kImageRank && in == out && split[0] == in[0] &&
                        split[3] == in[2] && split[4] == in[3];
    if (!isSame || !split[1].isConst() || !split[2].isConst()) return std::nullopt;
    return ChannelShuffle{images, split[1].value(), split[2].value()};
}

} // namespace tenon::compiler
