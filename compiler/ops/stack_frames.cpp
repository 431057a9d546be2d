// SPDX-License-Identifier: Apache-2.0
// stack_frames: frames of a film that lie behind one another as images, several side by side as
// channels of one.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Reach
{
    int64_t frames, kernel, stride, dilation, before, after;

    int64_t results() const
    {
        return (frames + before + after - (kernel - 1) * dilation - 1) / stride + 1;
    }
};

Dim filmsOf(const OpView& op, int64_t frames)
{
    return floorDiv(op.operands[0].shape[0], Dim(frames));
}

Result<Reach> reachOf(const OpView& op)
{
    const std::vector<int64_t> padding = intsAttr(op, "padding");
    const Reach r{intAttr(op, "frames"),
                  intAttr(op, "kernel"),
                  intAttr(op, "stride"),
                  intAttr(op, "dilation"),
                  padding[0],
                  padding[1]};
    const Shape& shape = op.operands[0].shape;
    if (shape.size() < 2 || !shape[1].isConst())
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs a known number of channels, not " + op.operands[0].text());
    if (r.frames < 1 || !(filmsOf(op, r.frames) * Dim(r.frames) == shape[0]))
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot divide " + shape[0].text() + " images into films of " +
                           std::to_string(r.frames) + " frames");
    if (r.kernel < 1 || r.stride < 1 || r.dilation < 1 || r.before <= -r.frames ||
        r.after <= -r.frames || r.frames + r.before + r.after < (r.kernel - 1) * r.dilation + 1)
        return opError(op, DiagnosticCode::BadAttribute,
                       "has kernel " + std::to_string(r.kernel) + ", stride " +
                           std::to_string(r.stride) + ", dilation " + std::to_string(r.dilation) +
                           " and padding [" + join(padding, ", ") + "] for " +
                           std::to_string(r.frames) + " frames");
    return r;
}

Result<Types> infer(const OpView& op)
{
    const auto r = reachOf(op);
    if (!r) return r.error();
    TensorType out = op.operands[0];
    out.shape[0] = filmsOf(op, r->frames) * Dim(r->results());
    out.shape[1] = Dim(out.shape[1].value() * r->kernel);
    return Types{out};
}

Expr emptyFrame(const OpView& op, DataType dtype)
{
    return dtype.isFloat() ? tir::zeroOf(dtype) : tir::intImm(intAttr(op, "pad_value"), dtype);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto r = reachOf(op);
    if (!r) return r.error();
    const int64_t channels = op.operands[0].shape[1].value();
    const bool isOneFilm = filmsOf(op, r->frames) == Dim(1);
    const auto element = [&](const Exprs& i) {
        const Expr result = isOneFilm ? i[0] : floorMod(i[0], Expr(r->results()));
        const Expr tap = r->kernel == 1 ? Expr(0) : floorDiv(i[1], Expr(channels));
        const Expr frame = result * Expr(r->stride) + tap * Expr(r->dilation) - Expr(r->before);
        Exprs source = i;
        source[0] =
            isOneFilm ? frame : floorDiv(i[0], Expr(r->results())) * Expr(r->frames) + frame;
        if (r->kernel > 1) source[1] = floorMod(i[1], Expr(channels));
        const Expr value = te::at(in[0], source);
        Expr isThere;
        const auto require = [&](const Expr& condition) {
            isThere = isThere ? isThere && condition : condition;
        };
        if (r->before > 0) require(frame >= Expr(0));
        if (r->after > 0) require(frame < Expr(r->frames));
        return isThere ? tir::call(tir::Intrinsic::IfThenElse, value->dtype,
                                   {isThere, value, emptyFrame(op, value->dtype)})
                       : value;
    };
    return te::Tensors{
        te::compute("stack_frames", extents(op.results[0].shape), element, "injective")};
}

Cost cost(const OpView& op) { return {0, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "[N * frames, C, H, W] or blocked"}};
constexpr AttrSpec kAttrs[] = {
    {"frames", "int", "images that are one film"},
    {"kernel", "int", "frames that become channels of one image"},
    {"stride", "int", "frames from one result to the next", "1"},
    {"dilation", "int", "distance of the frames that are put together", "1"},
    {"padding", "int[2]", "empty frames before a film and behind it; negative: frames left out",
     "[0, 0]"},
    {"pad_value", "int", "what empty frames of integers hold: the zero point", "0"}};

} // namespace

extern constinit const OpDef stackFramesOp = {
    .name = "stack_frames",
    .doc =
        "y[n * D' + d, k * C + c, ..] = data[n * D + d * stride + k * dilation - padding, c, ..]; "
        "pad_value where there is no such frame",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(6, 2, 3, 2), float32] "
               "=> stack_frames(%x, frames=3, kernel=2, padding=[1, 0], stride=2)",
};

} // namespace tenon::compiler
