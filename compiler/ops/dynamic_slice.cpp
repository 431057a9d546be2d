// SPDX-License-Identifier: Apache-2.0
// dynamic_slice: a slice whose begin is data.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const auto sizes = sizesAttr(op);
    const std::vector<int64_t> axes = intsAttr(op, "axes");
    if (!sizes || sizes->size() != data.shape.size())
        return opError(op, DiagnosticCode::BadAttribute,
                       "sizes does not fit a result of rank " + std::to_string(data.shape.size()));
    const bool fits = op.operands[1].dtype == kInt64 &&
                      op.operands[1].shape == makeShape({static_cast<int64_t>(axes.size())}) &&
                      (op.isPresent(2) ? op.operands[2] == op.operands[1]
                                       : intsAttr(op, "strides").size() == axes.size());
    if (!fits)
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs begin, strides and axes of one length");
    for (const int64_t axis : axes)
        if (const auto normal = normalAxis(op, axis, data.shape.size()); !normal)
            return normal.error();
    return Types{{data.dtype, *sizes}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<int64_t> axes = intsAttr(op, "axes"), strides = intsAttr(op, "strides");
    return te::Tensors{te::compute(
        "dynamic_slice", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source = i;
            for (size_t k = 0; k < axes.size(); ++k) {
                const auto axis =
                    static_cast<size_t>(*normalAxis(op, axes[k], in[0]->shape().size()));
                const tir::Expr entry(static_cast<int64_t>(k));
                const tir::Expr stride =
                    op.isPresent(2) ? te::at(in[2], {entry}) : tir::Expr(strides[k]);
                const tir::Expr at = te::at(in[1], {entry}) + i[axis] * stride;
                // Whatever begin says, nothing outside is read.
                source[axis] =
                    maximum(minimum(at, in[0]->shape()[axis] - tir::Expr(1)), tir::Expr(0));
            }
            return te::at(in[0], source);
        },
        "injective")};
}

constexpr OperandSpec kOperands[] = {
    {"data", "any shape"},
    {"begin", "int64, one per axis"},
    {"steps", "int64, in place of strides that are known", OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {{"axes", "int[]", "the dimensions that are sliced"},
                               {"strides", "int[]", "steps along them; may be negative", "[]"},
                               {"sizes", "string[]", "the result's shape"}};

} // namespace

extern constinit const OpDef dynamicSliceOp = {
    .name = "dynamic_slice",
    .doc = "y[.., i, ..] = data[.., begin[k] + i * strides[k], ..] along axes[k]",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .readsPart = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%x: Tensor[(4, 8), float32], %b: Tensor[(1,), int64] => "
               "dynamic_slice(%x, %b, axes=[1], sizes=s[\"4\", \"3\"], strides=[2])",
};

} // namespace tenon::compiler
