// SPDX-License-Identifier: Apache-2.0
// qnn.pack_channels and qnn.pack_columns: four 8-bit values in each int32, for convolutions of few
// channels.
#include "compiler/ops/quads.h"
#include "compiler/ops/window.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

Status checkData(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok;
    const Shape& shape = op.operands[0].shape;
    // The batch may be of any size.
    if (isByte(op.operands[0].dtype) && constantShape({shape.begin() + 1, shape.end()}))
        return kDone;
    return opError(op, DiagnosticCode::UnsupportedDtype,
                   "takes 8-bit integers of constant shape but got " + op.operands[0].text());
}

Result<Types> inferChannels(const OpView& op)
{
    if (const Status ok = checkData(op); !ok) return ok.error();
    Shape shape = op.operands[0].shape;
    shape[1] = Dim((shape[1].value() + 3) / 4);
    return Types{{kInt32, shape}};
}

Result<te::Tensors> lowerChannels(const OpView& op, const te::Tensors& in)
{
    const int64_t channels = op.operands[0].shape[1].value();
    const int64_t quads = (channels + 3) / 4;
    return te::Tensors{te::compute(
        "pack_channels", extents(op.results[0].shape),
        [&](const Exprs& i) {
            return quadOf(std::min<int64_t>(channels, 4), [&](int64_t byte) -> Expr {
                const Expr channel = i[1] * Expr(4) + Expr(byte);
                if ((quads - 1) * 4 + byte < channels)
                    return te::at(in[0], {i[0], channel, i[2], i[3]});
                // The last quad may be short: its bytes repeat the last channel.
                return te::at(in[0], {i[0], minimum(channel, Expr(channels - 1)), i[2], i[3]});
            });
        },
        "injective")};
}

struct Columns
{
    int64_t count, stride, before, after, dilation;
};

Columns columnsOf(const OpView& op)
{
    return {intAttr(op, "columns"), intAttr(op, "stride"), intAttr(op, "pad_before"),
            intAttr(op, "pad_after"), intAttr(op, "dilation")};
}

Result<Types> inferColumns(const OpView& op)
{
    if (const Status ok = checkData(op); !ok) return ok.error();
    const Columns c = columnsOf(op);
    Shape shape = op.operands[0].shape;
    const int64_t room = shape[3].value() + c.before + c.after - (c.count - 1) * c.dilation - 1;
    if (c.count < 1 || c.stride < 1 || c.dilation < 1 || c.before < 0 || c.after < 0 || room < 0 ||
        shape[1].value() != 1)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot take " + std::to_string(c.count) + " columns of " +
                           op.operands[0].text() + "; one channel and a fitting window are needed");
    shape[1] = Dim((c.count + 3) / 4);
    shape[3] = Dim(room / c.stride + 1);
    return Types{{kInt32, shape}};
}

Result<te::Tensors> lowerColumns(const OpView& op, const te::Tensors& in)
{
    const Columns c = columnsOf(op);
    const Window window{.kernel = {1, c.count},
                        .stride = {1, c.stride},
                        .dilation = {1, c.dilation},
                        .padBegin = {0, c.before},
                        .padEnd = {0, c.after}};
    const Exprs shape = extents(op.results[0].shape);
    const te::TensorRef data = padForWindow(in[0], 2, window, {shape[2], shape[3]},
                                            tir::intImm(intAttr(op, "pad_value"), in[0]->dtype()));
    return te::Tensors{te::compute(
        "pack_columns", shape,
        [&](const Exprs& i) {
            return quadOf(std::min<int64_t>(c.count, 4), [&](int64_t byte) -> Expr {
                const Expr column = minimum(i[1] * Expr(4) + Expr(byte), Expr(c.count - 1));
                return te::at(data, {i[0], Expr(0), i[2], windowIndex(window, 1, i[3], column)});
            });
        },
        "injective")};
}

constexpr OperandSpec kChannelOperands[] = {{"data", "[N, C, H, W], 8-bit integers"}};
constexpr OperandSpec kColumnOperands[] = {{"data", "[N, 1, H, W], 8-bit integers"}};
constexpr AttrSpec kColumnAttrs[] = {{"columns", "int", "columns of the window"},
                                     {"stride", "int", "step of the window", "1"},
                                     {"dilation", "int", "distance of the window's columns", "1"},
                                     {"pad_before", "int", "columns added at the left", "0"},
                                     {"pad_after", "int", "columns added at the right", "0"},
                                     {"pad_value", "int", "what they hold", "0"}};

} // namespace

extern constinit const OpDef qnnPackChannelsOp = {
    .name = "qnn.pack_channels",
    .doc = "y[n, q, y, x] = channels 4q..4q+3 of data[n, .., y, x], the first in the lowest byte; "
           "what lies behind the last channel is any channel",
    .family = Family::Layout,
    .operands = kChannelOperands,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .isBatched = true,
    .infer = inferChannels,
    .lower = lowerChannels,
    .example = "%x: Tensor[(1, 6, 4, 5), uint8] => qnn.pack_channels(%x)",
};

extern constinit const OpDef qnnPackColumnsOp = {
    .name = "qnn.pack_columns",
    .doc = "y[n, q, y, x] = columns x*stride - pad_before + dilation*(4q..4q+3) of data[n, 0, y], "
           "the first in the lowest byte; what lies behind the last column is any column",
    .family = Family::Layout,
    .operands = kColumnOperands,
    .attrs = kColumnAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .isBatched = true,
    .infer = inferColumns,
    .lower = lowerColumns,
    .example = "%x: Tensor[(1, 1, 4, 9), uint8] => qnn.pack_columns(%x, columns=5, pad_after=2, "
               "pad_before=1, pad_value=3, stride=2)",
};

} // namespace tenon::compiler
