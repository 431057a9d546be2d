// SPDX-License-Identifier: Apache-2.0
// Products of any rank with a quantized constant matrix, as exporters write the layers of
// transformers, become dense layers over rows. A bias joins them: between the layer and the reshape
// behind it, where what computes with integers looks for it.
#include "compiler/ops/ops.h"
#include "compiler/ops/shape_attrs.h"
#include "compiler/passes/quantize/quantization_rules.h"

namespace tenon::compiler {
namespace {

struct RowBias
{
    const NodeRecord* add;
    ValueRef value; ///< constant, of one number for each of the last axis
};

/// The addition behind the only reader, when it adds the same row everywhere.
std::optional<RowBias> biasBehind(const QuantizationSite& site, const NodeRecord& product,
                                  int64_t columns)
{
    if (!site.uses.hasOneUser(product.id)) return std::nullopt;
    const NodeRecord& add = site.module.node(site.uses.users(product.id).front());
    if (!isOp(add, addOp) || add.types.at(0) != product.types.at(0)) return std::nullopt;
    const ValueRef value = add.operands[add.operands[0].node == product.id ? 1 : 0];
    const auto row = constantValue(site, value);
    if (!row || row->size() != columns || row->shape().empty() || row->shape().back() != columns)
        return std::nullopt;
    return RowBias{&add, value};
}

} // namespace

std::optional<Patch> matmulAsDense(const QuantizationSite& site, const NodeRecord& node)
{
    if (!isOp(node, matmulOp) || node.attrs.integer("transpose_a", 0) != 0) return std::nullopt;
    Shape shape = site.module.type(node.operands[0]).shape;
    const auto weight = readDequantized(site, node.operands[1]);
    if (shape.size() < 2 || !canBeRows(shape) || !weight || weight->dtype.bits != 8)
        return std::nullopt;
    const auto matrix = knownShape(site.module, weight->integers);
    if (!matrix || matrix->size() != 2 || !constantValue(site, weight->integers))
        return std::nullopt;
    const bool isTransposed = node.attrs.integer("transpose_b", 0) != 0;
    const int64_t columns = matrix->at(isTransposed ? 0 : 1);
    const auto bias = biasBehind(site, node, columns);
    const NodeRecord& last = bias ? *bias->add : node;
    PatchWriter patch(site.module, site.function.id, "matmul-as-dense",
                      nodeLabel(site.module, node) + " multiplies rows by a constant matrix",
                      bias ? std::vector{node.id, last.id} : std::vector{node.id});
    const auto reshaped = [&](ValueRef value, const Shape& to) {
        return patch.op(reshapeOp, {value}, shapeAttrs(to));
    };
    const ValueRef rows = isTransposed ? node.operands[1]
                                       : patch.op(transposeOp, {node.operands[1]},
                                                  {{"axes", std::vector<int64_t>{1, 0}}});
    const bool isMatrix = shape.size() == 2;
    ValueRef left = node.operands[0];
    if (!isMatrix) left = reshaped(left, rowsOf(shape));
    ValueRef out = patch.op(denseOp, {left, rows});
    if (bias) out = patch.op(addOp, {out, reshaped(bias->value, {columns})});
    if (!isMatrix) {
        shape.back() = Dim(columns);
        out = reshaped(out, shape);
    }
    patch.replaceAndErase(last.id, out);
    if (bias) patch.erase(node.id);
    return patch.take();
}

} // namespace tenon::compiler
