// SPDX-License-Identifier: Apache-2.0
// argmax and argmin: where along an axis the extreme value stands.
#include "compiler/ops/reduce_axes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<ReduceAxes> axesOf(const OpView& op)
{
    auto axes = readReduceAxes(op, false);
    if (!axes) return axes.error();
    if (axes->axes.size() != 1)
        return opError(op, DiagnosticCode::BadAttribute,
                       "works along one axis but `axis` names " +
                           std::to_string(axes->axes.size()));
    return axes;
}

Result<Types> infer(const OpView& op)
{
    const auto axes = axesOf(op);
    if (!axes) return axes.error();
    return Types{{kInt64, axes->resultShape(op.operands[0].shape)}};
}

/// First the extreme value, then the smallest (largest) position that holds it.
Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axes = axesOf(op);
    if (!axes) return axes.error();
    const size_t rank = in[0]->shape().size();
    const Exprs shape = extents(op.results[0].shape);
    const Exprs over = axes->reduced(in[0]->shape());
    const bool isMax = op.op == "argmax";
    const bool isLast = flagAttr(op, "select_last_index");
    const Attrs attrs{{"axis", axes->axes}};
    const te::TensorRef extreme = te::reduce(
        isMax ? "max" : "min", shape, over, isMax ? te::Combiner::Max : te::Combiner::Min,
        [&](const Exprs& i, const Exprs& k) { return te::at(in[0], axes->join(rank, i, k)); },
        "reduce", attrs);
    // Without any equal value (all NaN) the first or last position is as good as any.
    const Expr none = isLast ? Expr(0) : over[0] - Expr(1);
    return te::Tensors{te::reduce(
        std::string(op.op), shape, over, isLast ? te::Combiner::Max : te::Combiner::Min,
        [&](const Exprs& i, const Exprs& k) {
            const Expr value = te::at(in[0], axes->join(rank, i, k));
            return tir::select(equal(value, te::at(extreme, i)), k[0], none);
        },
        "reduce", attrs, none)};
}

Cost cost(const OpView& op) { return {2 * elements(op.operands[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape, no empty axis"}};
constexpr AttrSpec kAttrs[] = {
    {"axis", "int[]", "the one axis searched"},
    {"keepdims", "int", "1: it stays as 1", "0"},
    {"select_last_index", "int", "1: the last of several equal extremes", "0"}};

} // namespace

extern constinit const OpDef argmaxOp = {
    .name = "argmax",
    .doc = "y = first index along `axis` of the largest value, int64",
    .family = Family::Reduction,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Reduction,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 5), float32] => argmax(%x, axis=[1], keepdims=1)",
};

extern constinit const OpDef argminOp = {
    .name = "argmin",
    .doc = "y = first index along `axis` of the smallest value, int64",
    .family = Family::Reduction,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Reduction,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 5), float32] => argmin(%x, axis=[0], select_last_index=1)",
};

} // namespace tenon::compiler
