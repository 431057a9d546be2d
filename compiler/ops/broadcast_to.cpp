// SPDX-License-Identifier: Apache-2.0
// broadcast_to: values repeated along dimensions of 1.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const std::vector<int64_t> wanted = intsAttr(op, "shape");
    const auto shape = broadcastShapes(op, data.shape, makeShape(wanted));
    if (!shape) return shape.error();
    if (!(*shape == makeShape(wanted)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot make " + shapeText(data.shape) + " into [" + join(wanted, ", ") +
                           "]");
    return Types{{data.dtype, *shape}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    return te::Tensors{te::compute(
        "broadcast_to", extents(op.results[0].shape),
        [&](const Exprs& i) { return te::at(in[0], broadcastIndices(in[0]->shape(), i)); },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"shape", "int[]", "the result's shape"}};

} // namespace

extern constinit const OpDef broadcastToOp = {
    .name = "broadcast_to",
    .doc = "data repeated to the shape `shape` by the numpy broadcasting rule",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Broadcast,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(3, 1), float32] => broadcast_to(%x, shape=[2, 3, 4])",
};

} // namespace tenon::compiler
