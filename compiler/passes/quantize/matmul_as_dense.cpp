// SPDX-License-Identifier: Apache-2.0
// Products of any rank with a quantized constant matrix, as exporters write the layers of
// transformers, become dense layers over rows; quantization moves in front of the reshape behind
// them. What computes with integers then finds the layer next to it.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {

std::optional<Patch> matmulAsDense(const QuantizationSite& site, const NodeRecord& node)
{
    if (!isOp(node, matmulOp) || node.attrs.integer("transpose_a", 0) != 0) return std::nullopt;
    const auto shape = knownShape(site.module, node.operands[0]);
    const auto weight = readDequantized(site, node.operands[1]);
    if (!shape || shape->size() < 2 || !weight || weight->dtype.bits != 8) return std::nullopt;
    const auto matrix = knownShape(site.module, weight->integers);
    if (!matrix || matrix->size() != 2 || !constantValue(site, weight->integers))
        return std::nullopt;
    PatchWriter patch(site.module, site.function.id, "matmul-as-dense",
                      nodeLabel(site.module, node) + " multiplies rows by a constant matrix",
                      {node.id});
    const bool isTransposed = node.attrs.integer("transpose_b", 0) != 0;
    const ValueRef rows = isTransposed ? node.operands[1]
                                       : patch.op(transposeOp, {node.operands[1]},
                                                  {{"axes", std::vector<int64_t>{1, 0}}});
    const auto reshaped = [&](ValueRef value, std::vector<int64_t> to) {
        return patch.op(reshapeOp, {value}, {{"newshape", std::move(to)}});
    };
    const bool isMatrix = shape->size() == 2;
    const std::vector<int64_t> outer(shape->begin(), shape->end() - 1);
    ValueRef left = node.operands[0];
    if (!isMatrix) left = reshaped(left, {elementCount(outer), shape->back()});
    ValueRef out = patch.op(denseOp, {left, rows});
    if (!isMatrix) {
        std::vector<int64_t> to = outer;
        to.push_back(matrix->at(isTransposed ? 0 : 1));
        out = reshaped(out, std::move(to));
    }
    patch.replaceAndErase(node.id, out);
    return patch.take();
}

std::optional<Patch> quantizeBeforeReshape(const QuantizationSite& site, const NodeRecord& node)
{
    const auto target = readQuantize(site, node);
    if (!target || target->consumed.size() != 1) return std::nullopt;
    const NodeRecord* reshape = operatorBehind(site.module, site.uses, node.operands[0], reshapeOp);
    if (!reshape || !operatorBehind(site.module, site.uses, reshape->operands[0], denseOp))
        return std::nullopt;
    PatchWriter patch(site.module, site.function.id, "quantize-before-reshape",
                      "a reshape moves integers as well", {node.id, reshape->id});
    std::vector<ValueRef> operands = node.operands;
    operands[0] = reshape->operands[0];
    const ValueRef integers = patch.op(qnnQuantizeOp, std::move(operands), node.attrs);
    patch.replaceAndErase(node.id, patch.op(reshapeOp, {integers}, reshape->attrs));
    patch.erase(reshape->id);
    return patch.take();
}

} // namespace tenon::compiler
