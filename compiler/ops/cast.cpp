// SPDX-License-Identifier: Apache-2.0
// cast: values converted to another element type.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/conversion.h"
#include "compiler/ops/shapes.h"

#include <cmath>

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const DataType to = dtypeAttr(op, "dtype");
    if (to == kHandle || to.lanes != 1)
        return opError(op, DiagnosticCode::UnsupportedDtype, "cannot cast to " + to.text());
    return Types{{to, op.operands[0].shape}};
}

/// Floats beyond the type's limits give these, a NaN gives 0, whatever the processor would.
tir::Expr saturated(DataType to, const tir::Expr& x)
{
    const tir::Expr given = x->dtype.bits < 32 ? tir::cast(kFloat32, x) : x;
    const tir::Expr isNan = tir::call(tir::Intrinsic::IsNan, kBool, {given});
    const tir::Expr wide = tir::select(isNan, tir::zeroOf(given->dtype), given);
    const tir::Expr highest = tir::highestOf(to);
    const auto limit = [&](double value) { return tir::floatImm(value, wide->dtype); };
    const int digits = wide->dtype.bits == 64 ? 53 : 24;
    const int bits = to.bits - (to.isSigned() ? 1 : 0);
    const double beyond = std::ldexp(1.0, bits); // the least number that is too large
    // The greatest number of so many digits below it.
    const double most = bits <= digits ? beyond - 1 : beyond - std::ldexp(1.0, bits - digits);
    const double least = to.isSigned() ? -beyond : 0;
    const tir::Expr whole = tir::cast(to, minimum(maximum(wide, limit(least)), limit(most)));
    return bits <= digits ? whole : tir::select(wide >= limit(beyond), highest, whole);
}

} // namespace

tir::Expr converted(DataType to, const tir::Expr& x)
{
    if (to.isBool() && !x->dtype.isBool()) return notEqual(x, tir::zeroOf(x->dtype));
    return x->dtype.isFloat() && to.isInt() ? saturated(to, x) : tir::cast(to, x);
}

namespace {

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType to = dtypeAttr(op, "dtype");
    return te::Tensors{te::compute(
        "cast", in[0]->shape(), [&](const Exprs& i) { return converted(to, te::at(in[0], i)); },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"x", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"dtype", "dtype", "the new element type"}};

} // namespace

extern constinit const OpDef castOp = {
    .name = "cast",
    .doc =
        "y = x as `dtype`; floats truncate towards zero to integers within the type, a NaN gives "
        "0, bool is x != 0",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Elementwise,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 8), float32] => cast(%x, dtype=T.int32)",
};

} // namespace tenon::compiler
