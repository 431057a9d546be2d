// SPDX-License-Identifier: Apache-2.0
// shape_of: the dimensions of a tensor as values.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const auto rank = static_cast<int64_t>(op.operands[0].shape.size());
    return Types{{dtypeAttr(op, "dtype"), makeShape({rank})}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const DataType dtype = op.results[0].dtype;
    const Exprs& shape = in[0]->shape();
    return te::Tensors{te::compute(
        "shape_of", extents(op.results[0].shape),
        [&](const Exprs& i) {
            tir::Expr out = tir::zeroOf(dtype);
            for (size_t d = shape.size(); d-- > 0;)
                out = tir::select(equal(i[0], tir::Expr(static_cast<int64_t>(d))),
                                  tir::cast(dtype, shape[d]), out);
            return out;
        },
        "injective")};
}

Cost cost(const OpView&) { return {}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape; only its shape is used"}};
constexpr AttrSpec kAttrs[] = {{"dtype", "dtype", "of the result", "int64"}};

} // namespace

extern constinit const OpDef shapeOfOp = {
    .name = "shape_of",
    .doc = "y[d] = extent of dimension d of data",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 3, 4), float32] => shape_of(%x)",
};

} // namespace tenon::compiler
