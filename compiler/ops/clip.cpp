// SPDX-License-Identifier: Apache-2.0
// clip: values limited to a range.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

#include <cmath>

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    if (op.operands[0].dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype, "does not take bool");
    return Types{op.operands[0]};
}

/// A bound that an integer type can hold.
tir::Expr bound(DataType dtype, double value)
{
    if (dtype.isFloat()) return tir::floatImm(value, dtype);
    const tir::Expr low = tir::lowestOf(dtype), high = tir::highestOf(dtype);
    const bool isUnsigned64 = dtype == kUInt64;
    if (value <= static_cast<double>(low->integer)) return low;
    if (!isUnsigned64 && value >= static_cast<double>(high->integer)) return high;
    if (isUnsigned64 && value >= 9.2e18) return high;
    return tir::intImm(std::llround(value), dtype);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType dtype = in[0]->dtype();
    const tir::Expr low = bound(dtype, floatAttr(op, "a_min"));
    const tir::Expr high = bound(dtype, floatAttr(op, "a_max"));
    return te::Tensors{te::compute(
        "clip", in[0]->shape(),
        [&](const Exprs& i) { return minimum(maximum(te::at(in[0], i), low), high); }, "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"x", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"a_min", "float", "lower limit"},
                               {"a_max", "float", "upper limit"}};

} // namespace

extern constinit const OpDef clipOp = {
    .name = "clip",
    .doc = "y = min(max(x, a_min), a_max)",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Elementwise,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 8), float32] => clip(%x, a_max=6f, a_min=0f)",
};

} // namespace tenon::compiler
