// SPDX-License-Identifier: Apache-2.0
// SimplifyInference: writes batch normalization as multiply and add per channel. Needs types.
// Stands first so that folding sees plain arithmetic. What stands between a model's elements and a
// step keeps its formula: the last bit of it decides.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/step_paths.h"
#include "core/base/text.h"

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

} // namespace

Result<Patches> runSimplifyInference(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const StepPaths paths(module, *function);
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            if (isOp(node, batchNormOp) && knownShape(module, node.operands[1]) &&
                !paths.decides(id))
                patches.push_back(expandBatchNorm(module, function->id, node));
        }
    }
    return patches;
}

} // namespace tenon::compiler
