// SPDX-License-Identifier: Apache-2.0
// WidenHalf: operators on binary16 and bfloat16 compute in binary32, because sums of halves lose
// what they add. Values between operators keep their bits, at every opt level alike: rounding them
// one by one adds up to more than the last digits of a deep model's result. Only inputs, outputs,
// what is no arithmetic, what moves these, and what decides a step are halves: floor and
// comparisons see the numbers that the model's own type has. Needs types; stands before folding,
// which then widens weights once.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/step_paths.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

bool isHalf(DataType dtype) { return dtype.isFloat() && dtype.bits == 16; }

bool readsHalf(const Module& module, const NodeRecord& node)
{
    return std::any_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
        return operand.node.isValid() && isHalf(module.type(operand).dtype);
    });
}

/// What moves and chooses values as well, so that nothing between operators is rounded.
bool canWiden(const NodeRecord& node)
{
    return findOp(node.op) && !isOp(node, castOp) && !node.op.starts_with("qnn.") &&
           node.types.size() == 1;
}

bool moves(const NodeRecord& node)
{
    const OpDef& op = factsOf(node);
    return (op.choosesValues && op.family == Family::Movement) || isOp(node, concatenateOp);
}

ValueRef cast(PatchWriter& patch, ValueRef value, DataType to)
{
    return patch.op(castOp, {value}, {{"dtype", to}});
}

Patch widened(const Module& module, const GraphFunction& function, const NodeRecord& node)
{
    PatchWriter patch(module, function.id, "widen-half",
                      nodeLabel(module, node) + " computes in float32", {node.id});
    std::vector<ValueRef> operands = node.operands;
    for (ValueRef& operand : operands)
        if (operand.node.isValid() && isHalf(module.type(operand).dtype))
            operand = cast(patch, operand, kFloat32);
    const DataType stored = node.types[0].dtype;
    NodeRecord record = node;
    if (!isHalf(stored)) { // a comparison
        record.operands = std::move(operands);
        patch.change(std::move(record));
        return patch.take();
    }
    record.operands = {patch.op(factsOf(node), std::move(operands), node.attrs)};
    record.op = castOp.name;
    record.attrs = {{"dtype", stored}};
    patch.change(std::move(record));
    return patch.take();
}

/// True for a conversion that the model's file itself asks for: that one rounds.
bool isStated(const Module& module, const NodeRecord& cast)
{
    return !cast.origin.empty() &&
           std::all_of(cast.origin.begin(), cast.origin.end(), [&](SourceId source) {
               return module.sources().at(source.value).op.starts_with("Cast");
           });
}

/// Values that are halves and were nothing wider: what only moves them has no bits to keep, and
/// moves half as many bytes.
class Halves
{
public:
    Halves(const Module& module, const GraphFunction& function)
        : m_module(module)
    {
        for (const NodeId id : function.order)
            if (isWide(module.node(id))) m_wide.insert(id);
    }

    bool onlyMoves(const NodeRecord& node) const { return moves(node) && !m_wide.count(node.id); }

private:
    bool isWide(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || node.types.empty() || !isHalf(node.types[0].dtype))
            return false;
        if (isOp(node, castOp)) return !isStated(m_module, node);
        if (!canWiden(node) || !moves(node)) return canWiden(node);
        return std::any_of(node.operands.begin(), node.operands.end(),
                           [&](ValueRef operand) { return m_wide.count(operand.node) > 0; });
    }

    const Module& m_module;
    std::unordered_set<NodeId> m_wide; ///< rounded only because the model's own type is
};

/// float32 -> half -> float32 without the rounding.
std::optional<Patch> keepBits(const Module& module, const GraphFunction& function,
                              const UseIndex& uses, const StepPaths& paths, const NodeRecord& node)
{
    if (!isOp(node, castOp) || node.types.at(0).dtype != kFloat32 || uses.isResult(node.id))
        return std::nullopt;
    const NodeRecord& narrow = module.node(node.operands[0].node);
    if (!isOp(narrow, castOp) || !isHalf(narrow.types.at(0).dtype) ||
        module.type(narrow.operands[0]).dtype != kFloat32 || isStated(module, narrow) ||
        paths.decides(narrow.id))
        return std::nullopt;
    PatchWriter patch(module, function.id, "keep-bits",
                      "the rounding of " + nodeLabel(module, narrow) + " only loses bits",
                      {node.id});
    patch.replaceAndErase(node.id, narrow.operands[0]);
    return patch.take();
}

} // namespace

Result<Patches> runWidenHalf(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        const StepPaths paths(module, *function);
        const Halves halves(module, *function);
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (node.kind != NodeKind::Op) continue;
            if (readsHalf(module, node) && canWiden(node) && !halves.onlyMoves(node)) {
                patches.push_back(widened(module, *function, node));
                continue;
            }
            if (auto patch = keepBits(module, *function, uses, paths, node))
                patches.push_back(std::move(*patch));
        }
    }
    return patches;
}

} // namespace tenon::compiler
