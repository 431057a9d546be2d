// SPDX-License-Identifier: Apache-2.0
// where: element-wise choice between two tensors.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    if (!op.operands[0].dtype.isBool())
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects a bool condition but it is " + op.operands[0].dtype.text());
    if (const Status ok = needSameDtype(op, 1, 2); !ok) return ok.error();
    auto shape = broadcastShapes(op, op.operands[1].shape, op.operands[2].shape);
    if (!shape) return shape.error();
    shape = broadcastShapes(op, op.operands[0].shape, *shape);
    if (!shape) return shape.error();
    return Types{{op.operands[1].dtype, *std::move(shape)}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs shape = extents(op.results[0].shape);
    return te::Tensors{te::compute(
        "where", shape,
        [&](const Exprs& i) {
            const auto operand = [&](size_t k) {
                return te::at(in[k], broadcastIndices(in[k]->shape(), i, shape));
            };
            return tir::select(operand(0), operand(1), operand(2));
        },
        "elemwise")};
}

constexpr OperandSpec kOperands[] = {{"condition", "bool"},
                                     {"x", "values where the condition holds"},
                                     {"y", "values elsewhere; all three broadcast"}};

} // namespace

extern constinit const OpDef whereOp = {
    .name = "where",
    .doc = "out = condition ? x : y, with numpy broadcasting",
    .family = Family::Elementwise,
    .operands = kOperands,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Broadcast,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%c: Tensor[(2, 1), bool], %x: Tensor[(2, 4), float32], %y: Tensor[(1, 4), float32] "
               "=> where(%c, %x, %y)",
};

} // namespace tenon::compiler
