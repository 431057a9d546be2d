// SPDX-License-Identifier: Apache-2.0
// InferType: gives every node its result types from its operator's rule.
// Needs nothing; every later pass reads types. The runner itself completes the types of nodes that
// patches add, so this pass only has work on what a frontend left open.
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_index.h"

namespace tenon::compiler {

Result<Types> typesOf(const Module& module, const NodeRecord& node)
{
    if (node.kind != NodeKind::Call) return inferTypes(module, node);
    Types types;
    for (const ValueRef& result : module.function(node.callee).results)
        types.push_back(module.type(result));
    return types;
}

Result<Patches> runInferType(const Module& module, const PassContext&)
{
    Patches patches;
    // Types of operands that are themselves inferred here must be visible to their users.
    Module scratch = module;
    for (const GraphFunction* function : openFunctions(module)) {
        for (const NodeId id : function->order) {
            const NodeRecord& node = scratch.node(id);
            if (!node.types.empty()) continue;
            const Result<Types> types = typesOf(scratch, node);
            if (!types) return types.error();
            NodeRecord typed = node;
            typed.types = *types;
            Patch patch;
            patch.rule = "infer-type";
            patch.reason = types->empty() ? "no results" : types->front().text();
            patch.function = function->id;
            patch.from = {id};
            patch.nodes = {typed};
            patches.push_back(std::move(patch));
            scratch.setNode(std::move(typed));
        }
    }
    return patches;
}

Status inferMissingTypes(Module& module)
{
    for (const auto& [functionId, function] : module.functions()) {
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (!node.types.empty() || node.kind == NodeKind::Constant) continue;
            Result<Types> types = typesOf(module, node);
            if (!types) return types.error();
            NodeRecord typed = node;
            typed.types = std::move(*types);
            module.setNode(std::move(typed));
        }
    }
    return kDone;
}

} // namespace tenon::compiler
