// SPDX-License-Identifier: Apache-2.0
// StepPaths: one walk with the values, one against them. What enters the body of a control operator
// may meet a step there.
#include "compiler/passes/step_paths.h"

#include "compiler/ops/op.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Computes each element from elements, or chooses among them.
bool keepsElements(const NodeRecord& node)
{
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    return op && (op->pattern <= Pattern::Injective || op->accuracy == Accuracy::Exact);
}

/// A function of floats that jumps: rounding, or a result that is no float.
bool isStep(const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || !findOp(node.op)) return true;
    return factsOf(node).isStep ||
           std::any_of(node.types.begin(), node.types.end(),
                       [](const TensorType& type) { return !type.dtype.isFloat(); });
}

} // namespace

StepPaths::StepPaths(const Module& module, const GraphFunction& function)
{
    const auto isElement = [&](ValueRef value) {
        return !value.node.isValid() || !module.type(value).dtype.isFloat() ||
               module.node(value.node).kind != NodeKind::Op || m_ofElements.count(value.node) > 0;
    };
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (keepsElements(node) &&
            std::all_of(node.operands.begin(), node.operands.end(), isElement))
            m_ofElements.insert(id);
    }
    for (auto at = function.order.rbegin(); at != function.order.rend(); ++at) {
        const NodeRecord& node = module.node(*at);
        const bool isOnPath = keepsElements(node) && m_toSteps.count(*at) > 0;
        if (node.kind == NodeKind::Parameter || node.kind == NodeKind::Constant) continue;
        if (!isOnPath && !isStep(node)) continue;
        for (const ValueRef operand : node.operands)
            if (operand.node.isValid()) m_toSteps.insert(operand.node);
    }
}

} // namespace tenon::compiler
