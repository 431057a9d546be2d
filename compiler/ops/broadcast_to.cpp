// SPDX-License-Identifier: Apache-2.0
// broadcast_to: values repeated along dimensions of 1.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const Shape wanted = sizesAttr(op).value_or(makeShape(intsAttr(op, "shape")));
    const auto shape = broadcastShapes(op, wanted, data.shape);
    if (!shape) return shape.error();
    bool fits = shape->size() == wanted.size();
    for (size_t i = 0; fits && i < wanted.size(); ++i)
        fits = (*shape)[i] == wanted[i] || !wanted[i].isConst();
    if (!fits)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot make " + shapeText(data.shape) + " into " + shapeText(wanted));
    return Types{{data.dtype, wanted}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = extents(op.results[0].shape);
    return te::Tensors{te::compute(
        "broadcast_to", shape,
        [&](const Exprs& i) { return te::at(in[0], broadcastIndices(in[0]->shape(), i, shape)); },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"sizes", "string[]", "the result's shape when it has symbolic dimensions", "[]"},
    {"shape", "int[]", "the result's shape"}};

} // namespace

extern constinit const OpDef broadcastToOp = {
    .name = "broadcast_to",
    .doc = "data repeated to the shape `shape` by the numpy broadcasting rule",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(3, 1), float32] => broadcast_to(%x, shape=[2, 3, 4])",
};

} // namespace tenon::compiler
