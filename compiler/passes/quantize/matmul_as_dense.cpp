// SPDX-License-Identifier: Apache-2.0
// Products of any rank with a quantized constant matrix, as exporters write the layers of
// transformers, become dense layers over rows.
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

} // namespace tenon::compiler
