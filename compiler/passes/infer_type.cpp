// SPDX-License-Identifier: Apache-2.0
// InferType: gives every node its result types from its operator's rule.
// Needs nothing; every later pass reads types. The runner itself completes the types of nodes that
// patches add, so this pass only has work on what a frontend left open.
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

/// A node whose stored types a change of its operands can have made too coarse.
bool isOpen(const NodeRecord& node)
{
    return node.kind == NodeKind::Op && node.bodies.empty() &&
           std::any_of(node.types.begin(), node.types.end(),
                       [](const TensorType& type) { return !constantShape(type.shape); });
}

Patch typePatch(FunctionId function, NodeRecord typed, std::string rule)
{
    Patch patch;
    patch.rule = std::move(rule);
    patch.reason = typed.types.empty() ? "no results" : typed.types.front().text();
    patch.function = function;
    patch.from = {typed.id};
    patch.nodes = {std::move(typed)};
    return patch;
}

/// A patch for every node that `isAsked` and whose types differ from what its operands give.
Result<Patches> typePatches(const Module& module, const std::string& rule,
                            bool (*isAsked)(const NodeRecord& node))
{
    Patches patches;
    // Users must see what their operands were just given. Copied when there is something to give.
    std::optional<Module> scratch;
    for (const GraphFunction* function : openFunctions(module)) {
        for (const NodeId id : function->order) {
            const Module& current = scratch ? *scratch : module;
            const NodeRecord& node = current.node(id);
            if (!isAsked(node)) continue;
            Result<Types> types = typesOf(current, node);
            if (!types) return types.error();
            if (node.types == *types && !node.types.empty()) continue;
            NodeRecord typed = node;
            typed.types = std::move(*types);
            patches.push_back(typePatch(function->id, typed, rule));
            if (!scratch) scratch = module;
            scratch->setNode(std::move(typed));
        }
    }
    return patches;
}

} // namespace

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
    return typePatches(module, "infer-type",
                       [](const NodeRecord& node) { return node.types.empty(); });
}

Result<Patches> refineTypes(const Module& module)
{
    return typePatches(module, "refine-type", isOpen);
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
