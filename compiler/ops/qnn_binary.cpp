// SPDX-License-Identifier: Apache-2.0
// qnn.add and qnn.mul: two quantized tensors of their own scales into one of a third; sums in
// binary32 or in fixed point.
#include "compiler/ops/quantization.h"

#include <cmath>

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Bits of the larger multiplier of a sum in fixed point; 0: binary32.
constexpr const char* kMultiplierBits = "multiplier_bits";
/// Products of a byte and a sum of two stay within 32 bits.
constexpr int64_t kMostMultiplierBits = 21;

int64_t multiplierBits(const OpView& op)
{
    return op.op == "qnn.add" ? intAttr(op, kMultiplierBits) : 0;
}

/// A sum of bytes in fixed point: (lhs * a + rhs * b + offset) >> shift.
struct FixedSum
{
    int64_t lhs, rhs, offset, shift;
};

FixedSum fixedSum(const OpView& op)
{
    // The ratios are binary32 as in the runtimes whose sums these are.
    const double outScale = floatAttr(op, "output_scale");
    const auto lhs = static_cast<float>(floatAttr(op, "lhs_scale") / outScale);
    const auto rhs = static_cast<float>(floatAttr(op, "rhs_scale") / outScale);
    int exponent = 0;
    std::frexp(std::max(std::fabs(lhs), std::fabs(rhs)), &exponent);
    FixedSum out{0, 0, 0, multiplierBits(op) - exponent};
    const auto scaled = [&](float ratio) {
        return std::llrint(std::ldexp(static_cast<double>(ratio), static_cast<int>(out.shift)));
    };
    out.lhs = scaled(lhs);
    out.rhs = scaled(rhs);
    out.offset = out.shift > 0 ? int64_t{1} << (out.shift - 1) : 0;
    out.offset -= out.lhs * intAttr(op, "lhs_zero_point");
    out.offset -= out.rhs * intAttr(op, "rhs_zero_point");
    return out;
}

Status checkFixedSum(const OpView& op)
{
    const int64_t bits = multiplierBits(op);
    if (bits == 0) return kDone;
    bool isFit = bits > 0 && bits <= kMostMultiplierBits;
    for (size_t i = 0; i < 2; ++i) {
        const DataType dtype = op.operands[i].dtype;
        const int64_t zero = intAttr(op, i == 0 ? "lhs_zero_point" : "rhs_zero_point");
        const int64_t lowest = dtype.isSigned() ? -128 : 0;
        isFit = isFit && dtype.bits == 8 && zero >= lowest && zero <= lowest + 255;
    }
    const int64_t shift = isFit ? fixedSum(op).shift : 0;
    if (shift > 0 && shift <= 30) return kDone;
    return opError(op, DiagnosticCode::BadAttribute,
                   std::string(kMultiplierBits) + " is " + std::to_string(bits) +
                       "; sums of bytes whose zero points are bytes, too, take 0 to 21, and " +
                       "ratios of scales that leave 1 to 30 bits to drop");
}

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
    if (Status fits = checkFixedSum(op); !fits) return fits.error();
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

/// The operand at the result's element `i`, as int32.
Expr wideOperand(const OpView& op, const te::Tensors& in, size_t k, const Exprs& i)
{
    const Exprs shape = extents(op.results[0].shape);
    return tir::cast(kInt32, te::at(in[k], broadcastIndices(in[k]->shape(), i, shape)));
}

te::Tensors lowerFixedSum(const OpView& op, const te::Tensors& in)
{
    const FixedSum sum = fixedSum(op);
    const Expr zero = tir::intImm(intAttr(op, "output_zero_point"), kInt32);
    const IntegerRange range{dtypeAttr(op, "out_dtype"), intAttr(op, "a_min"),
                             intAttr(op, "a_max")};
    const auto element = [&](const Exprs& i) {
        const Expr a = wideOperand(op, in, 0, i) * tir::intImm(sum.lhs, kInt32);
        const Expr b = wideOperand(op, in, 1, i) * tir::intImm(sum.rhs, kInt32);
        const Expr shift = tir::intImm(sum.shift, kInt32);
        const Expr moved = tir::call(tir::Intrinsic::ShiftRight, kInt32,
                                     {a + b + tir::intImm(sum.offset, kInt32), shift});
        return limited(moved + zero, range);
    };
    return {te::compute("qnn_add", extents(op.results[0].shape), element, "elemwise")};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    if (multiplierBits(op) != 0) return lowerFixedSum(op, in);
    const bool isSum = op.op == "qnn.add";
    const double lhsScale = floatAttr(op, "lhs_scale"), rhsScale = floatAttr(op, "rhs_scale");
    const double outScale = floatAttr(op, "output_scale");
    const Exprs shape = extents(op.results[0].shape);
    const auto centred = [&](size_t k, const char* zero, const Exprs& i) {
        const Expr value = wideOperand(op, in, k, i);
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
/// The last one is of sums only.
constexpr AttrSpec kAttrs[] = {
    {"lhs_scale", "float", "scale of lhs"},
    {"lhs_zero_point", "int", "zero point of lhs", "0"},
    {"rhs_scale", "float", "scale of rhs"},
    {"rhs_zero_point", "int", "zero point of rhs", "0"},
    {"output_scale", "float", "scale of the result"},
    {"output_zero_point", "int", "zero point of the result", "0"},
    {"a_min", "int", "lower limit of the result, beside that of its type", "-2147483648"},
    {"a_max", "int", "upper limit of the result, beside that of its type", "2147483647"},
    {"out_dtype", "dtype", "type of the result", "int8"},
    {"multiplier_bits", "int",
     "of sums of bytes in fixed point, halves up: bits of the larger ratio of scales, at most 21; "
     "0: binary32, halves to even",
     "0"}};

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
    .attrs = std::span(kAttrs).first(std::size(kAttrs) - 1),
    .pattern = Pattern::Broadcast,
    .infer = infer,
    .lower = lower,
    .example = "%a: Tensor[(2, 3, 4), uint8], %b: Tensor[(3, 1), uint8] => qnn.mul(%a, %b, "
               "lhs_scale=0.5f, out_dtype=T.uint8, output_scale=0.75f, rhs_scale=0.25f)",
};

} // namespace tenon::compiler
