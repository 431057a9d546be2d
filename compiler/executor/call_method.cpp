// SPDX-License-Identifier: Apache-2.0
// The first member that can be done in more than one way says which it was.
#include "compiler/executor/call_method.h"

#include "compiler/ops/op.h"

namespace tenon::compiler {

using namespace core;

CallMethod methodOf(const Module& module, const std::vector<NodeId>& members)
{
    for (const NodeId id : members) {
        const NodeRecord& node = module.node(id);
        const OpDef& op = factsOf(node);
        if (op.method.kind != Method::None) return op.method;
        if (!op.variant) continue;
        Types operands;
        for (const ValueRef& operand : node.operands)
            operands.push_back(operand.node.isValid() ? module.type(operand)
                                                      : TensorType{kHandle, {}});
        return op.variant({node.op, node.attrs, operands, node.types});
    }
    return {};
}

} // namespace tenon::compiler
