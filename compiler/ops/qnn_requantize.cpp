// SPDX-License-Identifier: Apache-2.0
// qnn.requantize: integers of one scale as integers of another. The ratio of the scales is a
// binary32 number: values below 2^24 times a ratio round twice, at most 2^-22 of the result, so the
// integer differs from exact arithmetic only where that lies within 2^-14 of a half, and by one.
// What a bias has beside whole integers is added to the product, which rounds once more.
#include "compiler/ops/quantization.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kOffset = 3, kScaleBelow = 4;

Result<Types> infer(const OpView& op)
{
    const DataType out = dtypeAttr(op, "out_dtype");
    if (!isQuantizedType(op.operands[0].dtype) || !isQuantizedType(out))
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "cannot requantize " + op.operands[0].dtype.text() + " to " + out.text());
    if (op.operands[1].dtype != kFloat32)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects scales of float32 but they are " + op.operands[1].text());
    if (op.isPresent(2) && op.operands[2].dtype != out)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "has zero points of " + op.operands[2].dtype.text() + " for values of " +
                           out.text());
    if (op.isPresent(kOffset) && op.operands[kOffset].dtype != kFloat32)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects offsets of float32 but they are " + op.operands[kOffset].text());
    if (op.isPresent(kScaleBelow) && op.operands[kScaleBelow].dtype != kFloat32)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects scales of float32 below zero but they are " +
                           op.operands[kScaleBelow].text());
    Shape shape = op.operands[0].shape;
    for (size_t i = 1; i < op.operands.size(); ++i) {
        if (!op.isPresent(i)) continue;
        const auto wider = broadcastShapes(op, shape, op.operands[i].shape);
        if (!wider) return wider.error();
        if (*wider != shape)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "has " + op.operands[i].text() + " for " + op.operands[0].text() +
                               "; it must broadcast to the data");
    }
    return Types{{out, shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType out = dtypeAttr(op, "out_dtype");
    const Expr inputZero = tir::intImm(intAttr(op, "input_zero_point"), kInt32);
    const auto operand = [&](size_t k, const Exprs& i) {
        return te::at(in[k], broadcastIndices(in[k]->shape(), i, in[0]->shape()));
    };
    return te::Tensors{te::compute(
        "requantize", in[0]->shape(),
        [&](const Exprs& i) {
            const Expr centred = tir::cast(kInt32, te::at(in[0], i)) - inputZero;
            const Expr zero =
                op.isPresent(2) ? tir::cast(kInt32, operand(2, i)) : tir::intImm(0, kInt32);
            const Expr sum = tir::cast(kFloat32, centred);
            const Expr scale = op.isPresent(kScaleBelow)
                                   ? tir::select(sum < tir::floatImm(0, kFloat32),
                                                 operand(kScaleBelow, i), operand(1, i))
                                   : operand(1, i);
            const Expr value = op.isPresent(kOffset) ? tir::call(tir::Intrinsic::Fma, kFloat32,
                                                                 {sum, scale, operand(kOffset, i)})
                                                     : sum * scale;
            return requantized(value, zero,
                               {out, intAttr(op, "a_min"), intAttr(op, "a_max"),
                                intAttr(op, kSmallScaleAttr) != 0});
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {
    {"data", "integers of any shape"},
    {"scale", "scale of data / scale of the result; broadcasts to data"},
    {"zero_point", "of the result; broadcasts to data; absent: 0", OperandSpec::Optional},
    {"offset", "added before rounding, in steps of the result; broadcasts to data; absent: 0",
     OperandSpec::Optional},
    {"scale_below", "scale where data is below its zero point; broadcasts to data; absent: scale",
     OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {
    {"input_zero_point", "int", "zero point of data", "0"},
    {"a_min", "int", "lower limit of the result, beside that of its type", "-2147483648"},
    {"a_max", "int", "upper limit of the result, beside that of its type", "2147483647"},
    {kSmallScaleAttr, "int", "1: scales and offsets are at most 1/2, so no result leaves 31 bits",
     "0"},
    {"out_dtype", "dtype", "type of the result, 8 to 32 bits", "int8"}};

} // namespace

extern constinit const OpDef qnnRequantizeOp = {
    .name = "qnn.requantize",
    .doc = "y = clip(saturate(round((data - input_zero_point) * scale + offset) + zero_point), "
           "a_min, a_max), halves to even",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Broadcast,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 8), int32], %s: Tensor[(8,), float32] "
               "=> qnn.requantize(%x, %s, a_max=100, out_dtype=T.uint8)",
};

} // namespace tenon::compiler
