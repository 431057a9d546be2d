// SPDX-License-Identifier: Apache-2.0
// qnn.dense: a quantized matrix times the transpose of a quantized weight matrix, in 32-bit sums.
#include "compiler/ops/quantization.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kDataZero = 2, kWeightZero = 3;

/// One element, or one per row of the operand it belongs to.
Status checkZeroPoint(const OpView& op, size_t of, size_t zero)
{
    if (!op.isPresent(zero)) return kDone;
    const TensorType& type = op.operands[zero];
    const TensorType& owner = op.operands[of];
    if (type.dtype != owner.dtype)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "has zero points of " + type.dtype.text() + " for values of " +
                           owner.dtype.text());
    if (type.shape.empty() ||
        (type.shape.size() == 1 && (type.shape[0] == Dim(1) || type.shape[0] == owner.shape[0])))
        return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "has zero points of shape " + shapeText(type.shape) + " for " + owner.text() +
                       "; one, or one per row, is needed");
}

Result<Types> infer(const OpView& op)
{
    for (size_t i = 0; i < 2; ++i) {
        if (const Status ok = needRank(op, i, 2); !ok) return ok.error();
        if (!isQuantizedType(op.operands[i].dtype) || op.operands[i].dtype.bits != 8)
            return opError(op, DiagnosticCode::UnsupportedDtype,
                           "takes 8-bit integers but got " + op.operands[i].text());
    }
    if (const Status ok = checkZeroPoint(op, 0, kDataZero); !ok) return ok.error();
    if (const Status ok = checkZeroPoint(op, 1, kWeightZero); !ok) return ok.error();
    const Shape& data = op.operands[0].shape;
    const Shape& weight = op.operands[1].shape;
    if (!(data[1] == weight[1]))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects rows of " + weight[1].text() + " values but `data` has " +
                           data[1].text() + "; the weight is " + op.operands[1].text());
    return Types{{kInt32, {data[0], weight[0]}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto centred = [&](size_t of, size_t zero, const Expr& row, const Expr& k) {
        const Expr value = tir::cast(kInt32, te::at(in[of], {row, k}));
        if (!op.isPresent(zero)) return value;
        Exprs at(in[zero]->shape().size(), Expr(0));
        if (at.size() == 1 && !in[zero]->shape()[0].isConstInt(1)) at[0] = row;
        return value - tir::cast(kInt32, te::at(in[zero], at));
    };
    return te::Tensors{te::reduce(
        "dense", extents(op.results[0].shape), {in[0]->shape()[1]}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            return centred(0, kDataZero, i[0], k[0]) * centred(1, kWeightZero, i[1], k[0]);
        },
        "dense", {{"axis_names", std::vector<std::string>{"m", "n", "k"}}})};
}

Cost cost(const OpView& op)
{
    return {2 * elements(op.operands[0]) * elements({kFloat32, {op.results[0].shape[1]}}),
            bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[M, K], 8 bits"},
    {"weight", "[N, K], 8 bits"},
    {"data_zero_point", "one or [M], of data's type; absent: 0", OperandSpec::Optional},
    {"weight_zero_point", "one or [N], of weight's type; absent: 0", OperandSpec::Optional}};

} // namespace

extern constinit const OpDef qnnDenseOp = {
    .name = "qnn.dense",
    .doc = "y[m, n] = sum over k of (data[m, k] - data_zero_point) * (weight[n, k] - "
           "weight_zero_point), in int32",
    .family = Family::Dense,
    .operands = kOperands,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .isRowProduct = true,
    .takesSymbols = true,
    .method = {.kind = Method::Gemm, .isInt8 = true},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), int8], %w: Tensor[(6, 8), int8], %z: Tensor[(), int8] "
               "=> qnn.dense(%x, %w, %z)",
};

} // namespace tenon::compiler
