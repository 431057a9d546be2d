// SPDX-License-Identifier: Apache-2.0
// By the pool's padding and the operator before it.
#include "compiler/passes/layout/zero_padding.h"

#include "compiler/ops/ops.h"

namespace tenon::compiler {
namespace {

/// Zeros are no more than what they stand beside.
bool isNotNegative(const Module& module, ValueRef value)
{
    const NodeRecord& node = module.node(value.node);
    return node.kind == NodeKind::Op &&
           (isOp(node, reluOp) || isOp(node, sigmoidOp) ||
            (isOp(node, clipOp) && node.attrs.number("a_min", -1) >= 0));
}

} // namespace

bool mayReadZeros(const Module& module, const NodeRecord& pool)
{
    const std::vector<int64_t> none(4, 0);
    const bool isInside =
        pool.attrs.integers("padding", none) == none && pool.attrs.integer("ceil_mode", 0) == 0;
    if (isInside) return true;
    if (isOp(pool, maxPool2dOp)) return isNotNegative(module, pool.operands[0]);
    return pool.attrs.integer("ceil_mode", 0) == 0 &&
           pool.attrs.integer("count_include_pad", 0) != 0;
}

} // namespace tenon::compiler
