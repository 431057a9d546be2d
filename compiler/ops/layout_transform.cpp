// SPDX-License-Identifier: Apache-2.0
// layout_transform: values moved from one layout to another.
#include "compiler/ops/layout.h"

namespace tenon::compiler {
namespace {

struct Move
{
    Layout from;
    Layout to;
};

Result<Move> moveOf(const OpView& op)
{
    auto from = Layout::parse(stringAttr(op, "src_layout"));
    if (!from) return from.error();
    auto to = Layout::parse(stringAttr(op, "dst_layout"));
    if (!to) return to.error();
    return Move{*std::move(from), *std::move(to)};
}

Result<Types> infer(const OpView& op)
{
    const auto move = moveOf(op);
    if (!move) return move.error();
    auto shape = relaidShape(op, op.operands[0].shape, move->from, move->to);
    if (!shape) return shape.error();
    return Types{{op.operands[0].dtype, *std::move(shape)}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto move = moveOf(op);
    if (!move) return move.error();
    return te::Tensors{te::compute(
        "layout_transform", extents(op.results[0].shape),
        [&](const Exprs& i) { return te::at(in[0], relaidIndices(i, move->from, move->to)); },
        "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "of the layout src_layout"}};
constexpr AttrSpec kAttrs[] = {{"src_layout", "string", "layout of data, e.g. NCHW"},
                               {"dst_layout", "string", "layout of the result, e.g. NCHW16c"}};

} // namespace

extern constinit const OpDef layoutTransformOp = {
    .name = "layout_transform",
    .doc = "the same logical values; blocks split off a dimension, e.g. C into C/16 and 16c",
    .family = Family::Layout,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .isBatched = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 32, 4, 4), float32] "
               "=> layout_transform(%x, dst_layout=\"NCHW16c\", src_layout=\"NCHW\")",
};

} // namespace tenon::compiler
