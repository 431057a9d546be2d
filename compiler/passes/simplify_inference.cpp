// SPDX-License-Identifier: Apache-2.0
// SimplifyInference: writes batch normalization as multiply and add per channel. Needs types.
// Stands first so that folding sees plain arithmetic. What stands between a model's elements and a
// step keeps its formula: the last bit of it decides.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace tenon::compiler {
namespace {

/// y = x * s + (beta - mean * s) with s = gamma * rsqrt(variance + epsilon), s and the shift
/// reshaped to stand along `axis`.
Patch expandBatchNorm(const Module& module, FunctionId function, const NodeRecord& node)
{
    const TensorType& type = module.type(node.operands[0]);
    const TensorType& perChannel = module.type(node.operands[1]);
    const size_t rank = type.shape.size();
    const auto axis = static_cast<size_t>(normalizedAxis(node.attrs.integer("axis", 1), rank));
    const double epsilon = node.attrs.number("epsilon", 1e-5);
    PatchWriter patch(module, function, "expand-batch-norm",
                      "inference needs only x*scale + shift along axis " + std::to_string(axis) +
                          ", epsilon " + exact(epsilon),
                      {node.id});

    const ValueRef gamma = node.operands[1];
    const ValueRef beta = node.operands[2];
    const ValueRef mean = node.operands[3];
    const ValueRef variance = node.operands[4];
    const ValueRef epsilonValue =
        patch.constant(Tensor::make(perChannel.dtype, {}, [&](std::span<std::byte> bytes) {
            storeNumber(perChannel.dtype, bytes, 0, epsilon);
        }));
    const ValueRef deviation = patch.op(rsqrtOp, {patch.op(addOp, {variance, epsilonValue})});
    ValueRef scale = patch.op(multiplyOp, {gamma, deviation});
    ValueRef shift = patch.op(subtractOp, {beta, patch.op(multiplyOp, {mean, scale})});
    if (axis + 1 != rank) {
        std::vector<int64_t> shape(rank - axis, 1);
        shape[0] = perChannel.shape.at(0).value();
        scale = patch.op(reshapeOp, {scale}, {{"newshape", shape}});
        shift = patch.op(reshapeOp, {shift}, {{"newshape", shape}});
    }
    const ValueRef scaled = patch.op(multiplyOp, {node.operands[0], scale});
    patch.replaceAndErase(node.id, patch.op(addOp, {scaled, shift}));
    return patch.take();
}

/// Computes each element from elements, or chooses among them.
bool keepsElements(const NodeRecord& node)
{
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    return op && (op->pattern <= Pattern::Injective || op->accuracy == Accuracy::Exact);
}

bool isFloat(const Module& module, ValueRef value)
{
    return value.node.isValid() && module.type(value).dtype.isFloat();
}

/// A function of floats that jumps: rounding, or a result that is no float.
bool isStep(const NodeRecord& node)
{
    if (node.kind != NodeKind::Op) return false;
    return factsOf(node).isStep ||
           std::any_of(node.types.begin(), node.types.end(),
                       [](const TensorType& type) { return !type.dtype.isFloat(); });
}

/// True when no sum stands before the node.
bool isOfElements(const Module& module, const NodeRecord& node, std::set<NodeId>& seen)
{
    for (const ValueRef operand : node.operands) {
        if (!isFloat(module, operand) || !seen.insert(operand.node).second) continue;
        const NodeRecord& before = module.node(operand.node);
        if (before.kind != NodeKind::Op) continue;
        if (!keepsElements(before) || !isOfElements(module, before, seen)) return false;
    }
    return true;
}

/// True when elementwise operators lead from the node to a step.
bool leadsToStep(const Module& module, const UseIndex& uses, NodeId id, std::set<NodeId>& seen)
{
    for (const NodeId user : uses.users(id)) {
        if (!seen.insert(user).second) continue;
        const NodeRecord& node = module.node(user);
        if (isStep(node)) return true;
        if (keepsElements(node) && leadsToStep(module, uses, user, seen)) return true;
    }
    return false;
}

bool needsFormula(const Module& module, const UseIndex& uses, const NodeRecord& node)
{
    std::set<NodeId> before, behind;
    return isOfElements(module, node, before) && leadsToStep(module, uses, node.id, behind);
}

} // namespace

Result<Patches> runSimplifyInference(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (isOp(node, batchNormOp) && knownShape(module, node.operands[1]) &&
                !needsFormula(module, uses, node))
                patches.push_back(expandBatchNorm(module, function->id, node));
        }
    }
    return patches;
}

} // namespace tenon::compiler
