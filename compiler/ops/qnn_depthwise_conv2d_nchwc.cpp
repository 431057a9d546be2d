// SPDX-License-Identifier: Apache-2.0
// qnn.contrib_depthwise_conv2d_NCHWc: one quantized filter per channel, by plain products or for
// dot-product instructions: four rows of the kernel in one int32.
#include "compiler/ops/quads.h"
#include "compiler/ops/window.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

bool isPacked(const TensorType& weight) { return weight.dtype == kInt32; }

Result<Window> geometry(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 5); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 4); !ok) return ok.error();
    const TensorType& data = op.operands[0];
    const TensorType& weight = op.operands[1];
    if (!isByte(data.dtype) || (!isPacked(weight) && weight.dtype != kInt8))
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "takes 8-bit data and weights of int8 or packed into int32 but got " +
                           data.text() + " and " + weight.text());
    const auto shape = constantShape(weight.shape);
    const int64_t rows = intAttr(op, "kernel_rows");
    if (!shape || rows < 1 || (*shape)[1] != (isPacked(weight) ? (rows + 3) / 4 : rows) ||
        !(data.shape[1] == weight.shape[0]) || !(data.shape[4] == weight.shape[3]))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs one filter of " + std::to_string(rows) +
                           " rows per channel but the operands are " + data.text() + " and " +
                           weight.text());
    return readWindow(op, {rows, (*shape)[2]});
}

Result<Types> infer(const OpView& op)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    const Shape& data = op.operands[0].shape;
    const auto out = windowOutputs(op, *window, data[2], data[3]);
    if (!out) return out.error();
    return Types{{kInt32, {data[0], data[1], (*out)[0], (*out)[1], data[4]}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    const std::vector<int64_t> out = constants(op.results[0].shape);
    const te::TensorRef data = padForWindow(in[0], 2, *window, {out[2], out[3]},
                                            tir::intImm(intAttr(op, "pad_value"), in[0]->dtype()));
    Attrs attrs = windowFacts(*window);
    attrs.set("out_block", out[4]);
    attrs.set("axis_names",
              std::vector<std::string>{"n", "c_outer", "oh", "ow", "c_inner",
                                       isPacked(op.operands[1]) ? "kh_quad" : "kh", "kw"});
    const int64_t rows = window->kernel[0];
    if (!isPacked(op.operands[1])) {
        const auto product = [&](const Exprs& i, const Exprs& k) {
            const Expr value = te::at(data, {i[0], i[1], windowIndex(*window, 0, i[2], k[0]),
                                             windowIndex(*window, 1, i[3], k[1]), i[4]});
            const Expr weight = te::at(in[1], {i[1], k[0], k[1], i[4]});
            return tir::cast(kInt32, value) * tir::cast(kInt32, weight);
        };
        return te::Tensors{te::reduce("conv", extents(op.results[0].shape),
                                      {Expr(rows), Expr(window->kernel[1])}, te::Combiner::Sum,
                                      product, "depthwise_conv2d_nchwc", std::move(attrs))};
    }
    const int64_t quads = (rows + 3) / 4;
    const auto step = [&](const Exprs& i, const Exprs& k) {
        // Rows behind the kernel have weights of zero: any row inside the data does for them.
        const Expr quad = quadOf(std::min<int64_t>(rows, 4), [&](int64_t byte) {
            Expr row = quads == 1 ? Expr(byte) : k[0] * Expr(4) + Expr(byte);
            if (quads > 1 && (quads - 1) * 4 + byte >= rows) row = minimum(row, Expr(rows - 1));
            return te::at(data, {i[0], i[1], windowIndex(*window, 0, i[2], row),
                                 windowIndex(*window, 1, i[3], k[1]), i[4]});
        });
        return dotOfQuads(quad, te::at(in[1], {i[1], k[0], k[1], i[4]}),
                          {in[0]->dtype(), hasNarrowWeight(op)});
    };
    return te::Tensors{te::reduce("conv", extents(op.results[0].shape),
                                  {Expr(quads), Expr(window->kernel[1])}, te::Combiner::Sum, step,
                                  "depthwise_conv2d_nchwc", std::move(attrs))};
}

Cost cost(const OpView& op)
{
    const double window = static_cast<double>(intAttr(op, "kernel_rows")) *
                          elements({kFloat32, {op.operands[1].shape[2]}});
    return {2 * elements(op.results[0]) * window, bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C/b, H, W, b], 8-bit integers"},
    {"weight",
     "[C/b, KH, KW, b], int8; or [C/b, (KH + 3) / 4, KW, b]: rows 4q..4q+3 in one int32"}};
constexpr AttrSpec kAttrs[] = {
    {"kernel_rows", "int", "KH"},
    kNarrowWeightAttr,
    kStridesAttr,
    {"padding", "int[4]", "added at top, left, bottom, right", "[0, 0, 0, 0]"},
    kDilationAttr,
    {"pad_value", "int", "what padding adds: the zero point of data", "0"}};

} // namespace

extern constinit const OpDef qnnDepthwiseConv2dNchwcOp = {
    .name = "qnn.contrib_depthwise_conv2d_NCHWc",
    .doc = "y[n, c, y, x] = sum over kh, kw of data[n, c, y*s - p + kh*d, ..] * weight[c, kh, kw] "
           "in int32, c blocked; zero points are the caller's to subtract",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .method = {.kind = Method::Depthwise, .isInt8 = true},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 7, 7, 8), uint8], %w: Tensor[(2, 2, 5, 8), int32] "
               "=> qnn.contrib_depthwise_conv2d_NCHWc(%x, %w, kernel_rows=5, pad_value=3, "
               "padding=[2, 2, 2, 2])",
};

} // namespace tenon::compiler
