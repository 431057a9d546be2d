// SPDX-License-Identifier: Apache-2.0
// join_frames: images that are every s-th frame of films.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Frames of each film that an operand has.
int64_t framesPerOperand(const OpView& op)
{
    const auto operands = static_cast<int64_t>(op.operands.size());
    return (intAttr(op, "frames") + operands - 1) / operands;
}

Result<Types> infer(const OpView& op)
{
    const int64_t frames = intAttr(op, "frames");
    if (frames < 1)
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs 1 or more frames, not " + std::to_string(frames));
    TensorType out = op.operands[0];
    const Dim own(framesPerOperand(op));
    const Dim films = out.shape.empty() ? Dim(0) : floorDiv(out.shape[0], own);
    if (out.shape.empty() || !(out.shape[0] == films * own))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "takes " + own.text() + " frames of each film from each operand, not " +
                           out.text());
    for (const TensorType& operand : op.operands)
        if (!(operand == op.operands[0]))
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot join " + op.operands[0].text() + " and " + operand.text() +
                               "; they are as many images of equal size");
    out.shape[0] = films * Dim(frames);
    return Types{out};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Expr frames(intAttr(op, "frames")), step(static_cast<int64_t>(in.size()));
    const Expr own(framesPerOperand(op));
    const auto element = [&](const Exprs& i) {
        const Expr frame = floorMod(i[0], frames);
        Exprs source = i;
        source[0] = floorDiv(i[0], frames) * own + floorDiv(frame, step);
        return elementOfPart(
            in, source, [&](int64_t part) { return equal(floorMod(frame, step), Expr(part)); });
    };
    return te::Tensors{
        te::compute("join_frames", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {
    {"data", "[films * ~frames/s, C, H, W] or blocked, of s operands", OperandSpec::Variadic}};
constexpr AttrSpec kAttrs[] = {{"frames", "int", "of a film of the result"}};

} // namespace

extern constinit const OpDef joinFramesOp = {
    .name = "join_frames",
    .doc = "y[n * frames + f, c, ..] = data[f % s][n * ceil(frames / s) + f / s, c, ..]",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    // A change of layout behind it moves squares by itself, which a choice of frames would hide.
    .pattern = Pattern::OutEwiseFusable,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%a: Tensor[(2, 1, 3, 2), float32], %b: Tensor[(2, 1, 3, 2), float32] "
               "=> join_frames(%a, %b, frames=3)",
};

} // namespace tenon::compiler
