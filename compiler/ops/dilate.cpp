// SPDX-License-Identifier: Apache-2.0
// nn.dilate: zeros between the elements of a tensor.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    TensorType type = op.operands[0];
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    if (strides.size() != type.shape.size())
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs a stride per dimension of " + type.text());
    for (size_t i = 0; i < strides.size(); ++i) {
        if (strides[i] < 1)
            return opError(op, DiagnosticCode::BadAttribute,
                           "has the stride " + std::to_string(strides[i]));
        if (!(type.shape[i] == Dim(0)))
            type.shape[i] = (type.shape[i] - Dim(1)) * Dim(strides[i]) + Dim(1);
    }
    return Types{type};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> strides = intsAttr(op, "strides");
    const Expr zero = tir::zeroOf(in[0]->dtype());
    return te::Tensors{te::compute(
        "dilate", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source = i;
            Expr isThere;
            for (size_t d = 0; d < i.size(); ++d) {
                if (strides[d] == 1) continue;
                source[d] = floorDiv(i[d], Expr(strides[d]));
                const Expr here = equal(floorMod(i[d], Expr(strides[d])), Expr(0));
                isThere = isThere ? isThere && here : here;
            }
            const Expr read = te::at(in[0], source);
            return isThere
                       ? tir::call(tir::Intrinsic::IfThenElse, read->dtype, {isThere, read, zero})
                       : read;
        },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"strides", "int[]", "distance of neighbours in the result"}};

} // namespace

extern constinit const OpDef dilateOp = {
    .name = "nn.dilate",
    .doc = "y[i * stride] = data[i], zero elsewhere",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3), float32] => nn.dilate(%x, strides=[1, 2])",
};

} // namespace tenon::compiler
