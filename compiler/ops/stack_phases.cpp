// SPDX-License-Identifier: Apache-2.0
// stack_phases: every s-th row and column of an image, as images that lie behind one another.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kRow = 2, kColumn = 3;

Result<Types> infer(const OpView& op)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    TensorType out = op.operands[0];
    if (out.shape.size() < 4 || !out.shape[kRow].isConst() || !out.shape[kColumn].isConst())
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs images of constant size, not " + op.operands[0].text());
    if (std::min(strides[0], strides[1]) < 1 || strides[0] > out.shape[kRow].value() ||
        strides[1] > out.shape[kColumn].value())
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot divide " + out.text() + " by strides [" + join(strides, ", ") + "]");
    out.shape[0] = out.shape[0] * Dim(strides[0] * strides[1]);
    for (const size_t i : {0, 1}) {
        Dim& extent = out.shape[kRow + i];
        extent = Dim((extent.value() + strides[i] - 1) / strides[i]);
    }
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const Expr down(strides[0]), right(strides[1]);
    const Shape& shape = op.operands[0].shape;
    const auto element = [&](const Exprs& i) {
        const Expr phase = floorMod(i[0], Expr(strides[0] * strides[1]));
        Exprs source = i;
        source[0] = floorDiv(i[0], Expr(strides[0] * strides[1]));
        source[kRow] = i[kRow] * down + floorDiv(phase, right);
        source[kColumn] = i[kColumn] * right + floorMod(phase, right);
        const Expr value = te::at(in[0], source);
        Expr isThere;
        for (const size_t d : {kRow, kColumn}) {
            if (shape[d].value() % strides[d - kRow] == 0) continue;
            const Expr inside = source[d] < Expr(shape[d].value());
            isThere = isThere ? isThere && inside : inside;
        }
        return isThere ? tir::call(tir::Intrinsic::IfThenElse, value->dtype,
                                   {isThere, value, tir::zeroOf(value->dtype)})
                       : value;
    };
    return te::Tensors{
        te::compute("stack_phases", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W] or blocked"}};
constexpr AttrSpec kAttrs[] = {{"strides", "int[2]", "phases of rows and of columns"}};

} // namespace

extern constinit const OpDef stackPhasesOp = {
    .name = "stack_phases",
    .doc = "y[(n * s0 + p) * s1 + q, c, h, w, ..] = data[n, c, h * s0 + p, w * s1 + q, ..]; 0 "
           "beyond its edges",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 4, 5), float32] => stack_phases(%x, strides=[2, 2])",
};

} // namespace tenon::compiler
