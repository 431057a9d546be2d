// SPDX-License-Identifier: Apache-2.0
// reinterpret: the same bits read as another element type of equal size.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const DataType to = dtypeAttr(op, "dtype");
    if (to.bytes() != op.operands[0].dtype.bytes())
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot read the bits of " + op.operands[0].dtype.text() + " as " +
                           to.text());
    return Types{{to, op.operands[0].shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType to = dtypeAttr(op, "dtype");
    return te::Tensors{te::compute(
        "reinterpret", in[0]->shape(),
        [&](const Exprs& i) {
            const tir::Expr x = te::at(in[0], i);
            // A bool is a whole byte in memory, 0 or 1.
            if (x->dtype.isBool()) return tir::cast(to, x);
            if (to.isBool()) return notEqual(x, tir::zeroOf(x->dtype));
            return x->dtype == to ? x : tir::call(tir::Intrinsic::Reinterpret, to, {x});
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"dtype", "dtype", "element type of the result"}};

} // namespace

extern constinit const OpDef reinterpretOp = {
    .name = "reinterpret",
    .doc = "y = the bits of data as `dtype`",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Elementwise,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 8), float32] => reinterpret(%x, dtype=T.int32)",
};

} // namespace tenon::compiler
