// SPDX-License-Identifier: Apache-2.0
// Broadcasts pair dimensions by position from the end; squeezed dimensions are 1.
#include "compiler/ops/size_checks.h"

#include "compiler/ops/op.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using Pairs = std::vector<std::pair<Dim, Dim>>;

/// Leaves out the last `skipped` dimensions, which do not broadcast.
void addBroadcast(Pairs& pairs, const Shape& operand, const Shape& result, size_t skipped)
{
    for (size_t i = skipped; i < std::min(operand.size(), result.size()); ++i) {
        const Dim& a = operand[operand.size() - 1 - i];
        const Dim& b = result[result.size() - 1 - i];
        const bool isKnown = a.isConst() && b.isConst();
        if (!isKnown && !(a == b) && !(a == Dim(1))) pairs.emplace_back(a, b);
    }
}

void addSqueezed(Pairs& pairs, const NodeRecord& node, const Shape& operand)
{
    for (int64_t axis : node.attrs.integers("axis", {})) {
        if (axis < 0) axis += static_cast<int64_t>(operand.size());
        const Dim& dim = operand.at(static_cast<size_t>(axis));
        if (!dim.isConst()) pairs.emplace_back(dim, Dim(1));
    }
}

} // namespace

Pairs sizeChecks(const Module& module, const NodeRecord& node)
{
    Pairs pairs;
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    if (!op) return pairs;
    const bool isMatmul = node.op == "nn.matmul";
    // With an axis, operands do not stand right-aligned; their typing asks for equality.
    const bool hasAxis = std::any_of(op->attrs.begin(), op->attrs.end(),
                                     [](const AttrSpec& attr) { return attr.name == "axis"; });
    const bool broadcasts =
        (op->pattern <= Pattern::Broadcast && !hasAxis) || node.op == "broadcast_to";
    for (const ValueRef& operand : node.operands) {
        if (!operand.node.isValid()) continue;
        const Shape& shape = module.type(operand).shape;
        if (broadcasts || isMatmul)
            addBroadcast(pairs, shape, node.types.at(0).shape, isMatmul ? 2 : 0);
        if (node.op == "squeeze") addSqueezed(pairs, node, shape);
    }
    return pairs;
}

} // namespace tenon::compiler
