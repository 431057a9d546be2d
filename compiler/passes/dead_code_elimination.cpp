// SPDX-License-Identifier: Apache-2.0
// DeadCodeElimination: drops nodes that no result depends on; no operator but bind_dims
// has other effects. If, Loop and Scan stay.
// Stands after folding, which leaves constants behind.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"

#include <unordered_set>

namespace tenon::compiler {

Result<Patches> runDeadCodeElimination(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        std::unordered_set<NodeId> needed;
        for (const ValueRef& result : function->results) needed.insert(result.node);
        // Users come before their operands, so that any number of first patches is a valid change.
        for (auto id = function->order.rbegin(); id != function->order.rend(); ++id) {
            const NodeRecord& node = module.node(*id);
            // A name that shapes use is a use that no operand tells. Bodies are functions, which
            // patches cannot drop, and must have a user.
            if (needed.count(*id) || isOp(node, bindDimsOp) || !node.bodies.empty()) {
                for (const ValueRef& operand : node.operands) needed.insert(operand.node);
                continue;
            }
            PatchWriter patch(module, function->id, "drop-dead",
                              nodeLabel(module, node) + " has no user left", {*id});
            patch.erase(*id);
            patches.push_back(patch.take());
        }
    }
    return patches;
}

} // namespace tenon::compiler
