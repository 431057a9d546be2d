// SPDX-License-Identifier: Apache-2.0
// qnn.add and qnn.mul: two quantized tensors of their own scales into one of a third.
#include "compiler/ops/quantization.h"

#include <cmath>

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const DataType out = dtypeAttr(op, "out_dtype");
    for (const TensorType& type : op.operands)
        if (!isQuantizedType(type.dtype) || type.dtype.bits > 16)
            return opError(op, DiagnosticCode::UnsupportedDtype,
                           "takes integers of 8 or 16 bits but got " + type.text());
    if (!isQuantizedType(out))
        return opError(op, DiagnosticCode::UnsupportedDtype, "cannot give " + out.text());
    for (const char* scale : {"lhs_scale", "rhs_scale", "output_scale"})
        if (floatAttr(op, scale) == 0)
            return opError(op, DiagnosticCode::BadAttribute,
                           std::string(scale) + " is " + std::to_string(floatAttr(op, scale)) +
                               "; scales are not 0");
    auto shape = broadcastShapes(op, op.operands[0].shape, op.operands[1].shape);
    if (!shape) return shape.error();
    return Types{{out, *std::move(shape)}};
}

/// True when bytes of these scales cannot give numbers beyond 2^30.
bool isNear(const OpView& op)
{
    const auto most = [&](size_t operand, const char* zero) {
        const double range = std::ldexp(1.0, op.operands[operand].dtype.bits);
        return range + std::abs(static_cast<double>(intAttr(op, zero)));
    };
    const double lhs = most(0, "lhs_zero_point") * std::abs(floatAttr(op, "lhs_scale"));
    const double rhs = most(1, "rhs_zero_point") * std::abs(floatAttr(op, "rhs_scale"));
    const double sum = op.op == "qnn.add" ? lhs + rhs : lhs * rhs;
    return sum / std::abs(floatAttr(op, "output_scale")) < std::ldexp(1.0, 29);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const bool isSum = op.op == "qnn.add";
    const double lhsScale = floatAttr(op, "lhs_scale"), rhsScale = floatAttr(op, "rhs_scale");
    const double outScale = floatAttr(op, "output_scale");
    const Exprs shape = extents(op.results[0].shape);
    const auto centred = [&](size_t k, const char* zero, const Exprs& i) {
        const Expr value =
            tir::cast(kInt32, te::at(in[k], broadcastIndices(in[k]->shape(), i, shape)));
        return tir::cast(kFloat32, value - tir::intImm(intAttr(op, zero), kInt32));
    };
    return te::Tensors{te::compute(
        isSum ? "qnn_add" : "qnn_mul", shape,
        [&](const Exprs& i) {
            const Expr a = centred(0, "lhs_zero_point", i);
            const Expr b = centred(1, "rhs_zero_point", i);
            const Expr value = isSum ? a * tir::floatImm(lhsScale / outScale) +
                                           b * tir::floatImm(rhsScale / outScale)
                                     : a * b * tir::floatImm(lhsScale * rhsScale / outScale);
            return requantized(value, tir::intImm(intAttr(op, "output_zero_point"), kInt32),
                               {dtypeAttr(op, "out_dtype"), intAttr(op, "a_min"),
                                intAttr(op, "a_max"), isNear(op)});
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"lhs", "quantized, any shape"},
                                     {"rhs", "quantized, a shape that broadcasts with lhs"}};
constexpr AttrSpec kAttrs[] = {
    {"lhs_scale", "float", "scale of lhs"},
    {"lhs_zero_point", "int", "zero point of lhs", "0"},
    {"rhs_scale", "float", "scale of rhs"},
    {"rhs_zero_point", "int", "zero point of rhs", "0"},
    {"output_scale", "float", "scale of the result"},
    {"output_zero_point", "int", "zero point of the result", "0"},
    {"a_min", "int", "lower limit of the result, beside that of its type", "-2147483648"},
    {"a_max", "int", "upper limit of the result, beside that of its type", "2147483647"},
    {"out_dtype", "dtype", "type of the result", "int8"}};

} // namespace

extern constinit const OpDef qnnAddOp = {
    .name = "qnn.add",
    .doc =
        "y = quantize(dequantize(lhs) + dequantize(rhs)), each with its own scale and zero point",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Broadcast,
    .infer = infer,
    .lower = lower,
    .example = "%a: Tensor[(2, 3, 4), int8], %b: Tensor[(3, 1), int8] => qnn.add(%a, %b, "
               "lhs_scale=0.5f, lhs_zero_point=3, output_scale=0.75f, rhs_scale=0.25f)",
};

extern constinit const OpDef qnnMulOp = {
    .name = "qnn.mul",
    .doc =
        "y = quantize(dequantize(lhs) * dequantize(rhs)), each with its own scale and zero point",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Broadcast,
    .infer = infer,
    .lower = lower,
    .example = "%a: Tensor[(2, 3, 4), uint8], %b: Tensor[(3, 1), uint8] => qnn.mul(%a, %b, "
               "lhs_scale=0.5f, out_dtype=T.uint8, output_scale=0.75f, rhs_scale=0.25f)",
};

} // namespace tenon::compiler
