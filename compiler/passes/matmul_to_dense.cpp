// SPDX-License-Identifier: Apache-2.0
// Looks through what makes the matrix, and writes the rows as one matrix.
#include "compiler/passes/matmul_to_dense.h"

#include "compiler/ops/shape_attrs.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// True where the value can be computed before the model runs, in a few steps.
bool comesOfConstants(const Module& module, ValueRef value, int steps = 8)
{
    if (!value.node.isValid()) return false;
    const NodeRecord& node = module.node(value.node);
    if (node.kind == NodeKind::Constant) return true;
    if (node.kind != NodeKind::Op || node.operands.empty() || steps == 0) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueRef operand) {
        return !operand.node.isValid() || comesOfConstants(module, operand, steps - 1);
    });
}

} // namespace

std::optional<Patch> matmulToDense(const Module& module, const GraphFunction& function,
                                   const NodeRecord& node)
{
    if (!isOp(node, matmulOp) || node.attrs.integer("transpose_a", 0) != 0) return std::nullopt;
    const Shape& shape = module.type(node.operands[0]).shape;
    const auto matrix = knownShape(module, node.operands[1]);
    if (!matrix || matrix->size() != 2 || shape.size() < 2 || !canBeRows(shape) ||
        !comesOfConstants(module, node.operands[1]))
        return std::nullopt;
    PatchWriter patch(module, function.id, "matmul-to-dense", "its rows meet a constant matrix",
                      {node.id});
    ValueRef rows = node.operands[0], weight = node.operands[1];
    if (node.attrs.integer("transpose_b", 0) == 0)
        weight = patch.op(transposeOp, {weight}, {{"axes", std::vector<int64_t>{1, 0}}});
    const bool isMatrix = shape.size() == 2;
    if (!isMatrix) rows = patch.op(reshapeOp, {rows}, shapeAttrs(rowsOf(shape)));
    ValueRef product = patch.op(denseOp, {rows, weight});
    if (!isMatrix) product = patch.op(reshapeOp, {product}, shapeAttrs(node.types.at(0).shape));
    patch.replaceAndErase(node.id, product);
    return patch.take();
}

} // namespace tenon::compiler
