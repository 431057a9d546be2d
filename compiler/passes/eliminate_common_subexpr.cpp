// SPDX-License-Identifier: Apache-2.0
// EliminateCommonSubexpr: keeps the first of several equal expressions. Needs types. Finds chains
// in one walk: operands are compared after their own merging.
#include "compiler/ops/op.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/ir/origin_union.h"

#include <map>
#include <unordered_map>

namespace tenon::compiler {
namespace {

/// Larger constants are not worth hashing; frontends share them already.
constexpr size_t kHashedBytes = 4096;

/// Text that is equal exactly for equal expressions; empty: never merged.
std::string expressionKey(const NodeRecord& node, const std::unordered_map<NodeId, NodeId>& merged)
{
    if (node.kind == NodeKind::Constant) {
        if (!node.constant || node.constant->bytes().size() > kHashedBytes) return {};
        return "const " + node.constant->hash().hex();
    }
    if (node.kind != NodeKind::Op || !node.bodies.empty()) return {};
    const OpDef* op = findOp(node.op);
    if (!op || op->accuracy == Accuracy::Random) return {};
    std::string key = node.op;
    for (const ValueRef& operand : node.operands) {
        const auto found = merged.find(operand.node);
        const NodeId id = found != merged.end() ? found->second : operand.node;
        key += " %" + std::to_string(id.value) + "." + std::to_string(operand.index);
    }
    for (const auto& [name, value] : node.attrs.entries())
        key += " " + name + "=" + attrText(value);
    return key;
}

Patch mergePatch(const Module& module, FunctionId function, NodeId survivor,
                 const std::vector<NodeId>& duplicates)
{
    NodeRecord kept = module.node(survivor);
    std::vector<NodeId> from{survivor};
    OriginUnion origin;
    origin.add(kept.origin);
    for (const NodeId id : duplicates) {
        from.push_back(id);
        origin.add(module.node(id).origin);
    }
    kept.origin = origin.take();
    const bool isWider = kept.origin != module.node(survivor).origin;
    PatchWriter patch(
        module, function, "merge-equal",
        std::to_string(from.size()) + " equal expressions like " + nodeLabel(module, kept), from);
    for (const NodeId id : duplicates) {
        for (uint32_t i = 0; i < kept.resultCount(); ++i) patch.replace({id, i}, {survivor, i});
        patch.erase(id);
    }
    if (isWider) patch.change(std::move(kept));
    return patch.take();
}

} // namespace

Result<Patches> runEliminateCommonSubexpr(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        std::unordered_map<std::string, NodeId> first;
        std::unordered_map<NodeId, NodeId> merged;
        std::map<NodeId, std::vector<NodeId>> duplicates;
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            const std::string key = expressionKey(node, merged);
            if (key.empty()) continue;
            const auto [found, isNew] = first.emplace(key, id);
            if (isNew) continue;
            merged[id] = found->second;
            duplicates[found->second].push_back(id);
        }
        for (const auto& [survivor, others] : duplicates)
            patches.push_back(mergePatch(module, function->id, survivor, others));
    }
    return patches;
}

} // namespace tenon::compiler
