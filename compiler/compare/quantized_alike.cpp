// SPDX-License-Identifier: Apache-2.0
// Operator by operator, in order of execution.
#include "compiler/compare/quantized_alike.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

namespace tenon::compiler {
namespace {

std::vector<const NodeRecord*> operatorsOf(const Module& module)
{
    std::vector<const NodeRecord*> out;
    for (const NodeId id : module.main().order)
        if (const NodeRecord& node = module.node(id); node.kind == NodeKind::Op)
            out.push_back(&node);
    return out;
}

bool isSameConstant(const Module& a, ValueRef ours, const Module& b, ValueRef theirs)
{
    if (!ours.node.isValid() || !theirs.node.isValid())
        return ours.node.isValid() == theirs.node.isValid();
    const Tensor *one = constantOf(a, ours), *other = constantOf(b, theirs);
    return one && other && one->hash() == other->hash();
}

bool isQuantization(const NodeRecord& node)
{
    return isOp(node, qnnQuantizeOp) || isOp(node, qnnDequantizeOp);
}

/// Scales and zero points, which stand behind what is quantized.
bool hasSameUnits(const Module& a, const NodeRecord& ours, const Module& b,
                  const NodeRecord& theirs)
{
    for (size_t i = 1; i < ours.operands.size(); ++i)
        if (!isSameConstant(a, ours.operands[i], b, theirs.operands[i])) return false;
    return true;
}

} // namespace

bool areQuantizedAlike(const Module& a, const Module& b)
{
    const auto ours = operatorsOf(a), theirs = operatorsOf(b);
    if (ours.size() != theirs.size()) return false;
    bool isQuantized = false;
    for (size_t i = 0; i < ours.size(); ++i) {
        const NodeRecord &one = *ours[i], &other = *theirs[i];
        if (one.op != other.op || one.types != other.types ||
            one.operands.size() != other.operands.size())
            return false;
        if (!isQuantization(one)) continue;
        if (!hasSameUnits(a, one, b, other)) return false;
        isQuantized = true;
    }
    return isQuantized;
}

} // namespace tenon::compiler
