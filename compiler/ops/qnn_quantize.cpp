// SPDX-License-Identifier: Apache-2.0
// qnn.quantize and qnn.dequantize: between real values and the integers that stand for them.
#include "compiler/ops/quantization.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kScale = 1, kZeroPoint = 2;

Result<Types> inferQuantize(const OpView& op)
{
    const DataType out = dtypeAttr(op, "out_dtype");
    const DataType in = op.operands[0].dtype;
    if (!isQuantizedType(out) || !(in.isFloat() || in == kInt32))
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "cannot quantize " + in.text() + " to " + out.text());
    const auto spec = readQuantization(op, kScale, kZeroPoint, out);
    if (!spec) return spec.error();
    return Types{{out, op.operands[0].shape}};
}

Result<te::Tensors> lowerQuantize(const OpView& op, const te::Tensors& in)
{
    const DataType out = dtypeAttr(op, "out_dtype");
    const auto spec = readQuantization(op, kScale, kZeroPoint, out);
    if (!spec) return spec.error();
    return te::Tensors{te::compute(
        "quantize", in[0]->shape(),
        [&](const Exprs& i) {
            const Expr scale = parameterAt(*spec, in[kScale], i);
            const Expr ratio = tir::cast(scale->dtype, te::at(in[0], i)) / scale;
            Expr whole = tir::cast(kFloat32, tir::call(tir::Intrinsic::Round, ratio));
            if (op.isPresent(kZeroPoint))
                whole = whole + tir::cast(kFloat32, parameterAt(*spec, in[kZeroPoint], i));
            return saturated(whole, out);
        },
        "elemwise")};
}

Result<Types> inferDequantize(const OpView& op)
{
    const DataType in = op.operands[0].dtype;
    const DataType out = dtypeAttr(op, "out_dtype");
    if (!isQuantizedType(in) || !out.isFloat())
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "cannot dequantize " + in.text() + " to " + out.text());
    const auto spec = readQuantization(op, kScale, kZeroPoint, in);
    if (!spec) return spec.error();
    return Types{{out, op.operands[0].shape}};
}

Result<te::Tensors> lowerDequantize(const OpView& op, const te::Tensors& in)
{
    const DataType out = dtypeAttr(op, "out_dtype");
    const auto spec = readQuantization(op, kScale, kZeroPoint, in[0]->dtype());
    if (!spec) return spec.error();
    return te::Tensors{te::compute(
        "dequantize", in[0]->shape(),
        [&](const Exprs& i) {
            Expr value = tir::cast(kInt32, te::at(in[0], i));
            if (op.isPresent(kZeroPoint))
                value = value - tir::cast(kInt32, parameterAt(*spec, in[kZeroPoint], i));
            const Expr scale = parameterAt(*spec, in[kScale], i);
            return tir::cast(out, tir::cast(scale->dtype, value) * scale);
        },
        "elemwise")};
}

constexpr OperandSpec kQuantizeOperands[] = {
    {"data", "floats of any shape, or int32"},
    {"scale", "one, [size of the axis], or one per block"},
    {"zero_point", "as scale; absent: 0", OperandSpec::Optional}};
constexpr OperandSpec kDequantizeOperands[] = {
    {"data", "integers of any shape"},
    {"scale", "one, [size of the axis], or one per block"},
    {"zero_point", "as scale; absent: 0", OperandSpec::Optional}};
constexpr AttrSpec kQuantizeAttrs[] = {
    {"axis", "int", "where scales are several: the axis they count along", "1"},
    {"block_size", "int", "elements along the axis that share a scale; 0: each has its own", "0"},
    {"out_dtype", "dtype", "type of the result, 8 to 32 bits", "int8"}};
constexpr AttrSpec kDequantizeAttrs[] = {
    {"axis", "int", "where scales are several: the axis they count along", "1"},
    {"block_size", "int", "elements along the axis that share a scale; 0: each has its own", "0"},
    {"out_dtype", "dtype", "type of the result", "float32"}};

} // namespace

extern constinit const OpDef qnnQuantizeOp = {
    .name = "qnn.quantize",
    .doc = "y = saturate(round(data / scale) + zero_point), halves to even",
    .family = Family::Elementwise,
    .operands = kQuantizeOperands,
    .attrs = kQuantizeAttrs,
    .pattern = Pattern::Elementwise,
    .takesSymbols = true,
    .infer = inferQuantize,
    .lower = lowerQuantize,
    .example = "%x: Tensor[(2, 8), float32], %s: Tensor[(8,), float32], %z: Tensor[(8,), uint8] "
               "=> qnn.quantize(%x, %s, %z, out_dtype=T.uint8)",
};

extern constinit const OpDef qnnDequantizeOp = {
    .name = "qnn.dequantize",
    .doc = "y = (data - zero_point) * scale",
    .family = Family::Elementwise,
    .operands = kDequantizeOperands,
    .attrs = kDequantizeAttrs,
    .pattern = Pattern::Elementwise,
    .takesSymbols = true,
    .infer = inferDequantize,
    .lower = lowerDequantize,
    .example = "%x: Tensor[(4, 6), int8], %s: Tensor[(2, 6), float32], %z: Tensor[(2, 6), int8] "
               "=> qnn.dequantize(%x, %s, %z, axis=0, block_size=2)",
};

} // namespace tenon::compiler
