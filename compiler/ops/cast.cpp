// SPDX-License-Identifier: Apache-2.0
// cast: values converted to another element type.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const DataType to = dtypeAttr(op, "dtype");
    if (to == kHandle || to.lanes != 1)
        return opError(op, DiagnosticCode::UnsupportedDtype, "cannot cast to " + to.text());
    return Types{{to, op.operands[0].shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType to = dtypeAttr(op, "dtype");
    return te::Tensors{te::compute(
        "cast", in[0]->shape(),
        [&](const Exprs& i) {
            const tir::Expr x = te::at(in[0], i);
            return to.isBool() && !x->dtype.isBool() ? notEqual(x, tir::zeroOf(x->dtype))
                                                     : tir::cast(to, x);
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"x", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"dtype", "dtype", "the new element type"}};

} // namespace

extern constinit const OpDef castOp = {
    .name = "cast",
    .doc = "y = x as `dtype`; floats truncate towards zero to integers, bool is x != 0",
    .family = Family::Elementwise,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Elementwise,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(2, 8), float32] => cast(%x, dtype=T.int32)",
};

} // namespace tenon::compiler
