// SPDX-License-Identifier: Apache-2.0
// nn.contrib_depthwise_conv2d_NCHWc: one filter per channel, channels in blocks of vector length.
#include "compiler/ops/window.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Window> geometry(const OpView& op)
{
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const auto data = readDataLayout(op, "data_layout");
    if (!data) return data.error();
    const auto out = readDataLayout(op, "out_layout");
    if (!out) return out.error();
    if (const Status ok = needRank(op, 0, 5); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 6); !ok) return ok.error();
    const std::string block = std::to_string(data->block('C'));
    if (out->text() != data->text() || data->rank() != 5 ||
        stringAttr(op, "kernel_layout") != "OIHW1i" + block + "o")
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot combine the layouts " + data->text() + ", " +
                           stringAttr(op, "kernel_layout") + " and " + out->text() +
                           "; data and result agree and the kernel is OIHW1i" + block + "o");
    const auto weight = constantShape(op.operands[1].shape);
    const Shape& shape = op.operands[0].shape;
    const Dim blockDim(data->block('C'));
    if (!weight || (*weight)[1] != 1 || (*weight)[4] != 1 || !(Dim((*weight)[5]) == blockDim) ||
        !(shape[4] == blockDim) || !(shape[1] == Dim((*weight)[0])))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs one filter per channel but the operands are " +
                           op.operands[0].text() + " and " + op.operands[1].text());
    const Dim channels = shape[1] * blockDim;
    if (!(channels == Dim(intAttr(op, "groups"))))
        return opError(op, DiagnosticCode::BadAttribute,
                       "has " + channels.text() + " channels but groups is " +
                           std::to_string(intAttr(op, "groups")));
    return readWindow(op, {(*weight)[2], (*weight)[3]});
}

Result<Types> infer(const OpView& op)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    const Shape& data = op.operands[0].shape;
    const auto out = windowOutputs(op, *window, data[2], data[3]);
    if (!out) return out.error();
    return Types{{op.operands[0].dtype, {data[0], data[1], (*out)[0], (*out)[1], data[4]}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto window = geometry(op);
    if (!window) return window.error();
    // Images of known size, of which there may be any number.
    const Shape image(op.results[0].shape.begin() + 1, op.results[0].shape.end());
    const auto out = constantShape(image);
    if (!out)
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs images of known size, not " + op.results[0].text());
    const te::TensorRef data =
        padForWindow(in[0], 2, *window, {(*out)[1], (*out)[2]}, tir::zeroOf(in[0]->dtype()));
    Attrs attrs = windowFacts(*window);
    attrs.set("out_block", (*out)[3]);
    attrs.set("axis_names",
              std::vector<std::string>{"n", "c_outer", "oh", "ow", "c_inner", "kh", "kw"});
    const auto step = [&](const Exprs& i, const Exprs& k) {
        return te::at(data, {i[0], i[1], windowIndex(*window, 0, i[2], k[0]),
                             windowIndex(*window, 1, i[3], k[1]), i[4]}) *
               te::at(in[1], {i[1], Expr(0), k[0], k[1], Expr(0), i[4]});
    };
    return te::Tensors{te::reduce(
        "conv", extents(op.results[0].shape), {Expr(window->kernel[0]), Expr(window->kernel[1])},
        te::Combiner::Sum, step, "depthwise_conv2d_nchwc", std::move(attrs))};
}

Cost cost(const OpView& op)
{
    const Shape& w = op.operands[1].shape;
    return {2 * elements(op.results[0]) * elements({kFloat32, {w[2], w[3]}}), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "[N, C/b, H, W, b]"},
                                     {"weight", "[C/b, 1, KH, KW, 1, b]"}};
constexpr AttrSpec kAttrs[] = {kStridesAttr,
                               kZeroPaddingAttr,
                               kDilationAttr,
                               {"groups", "int", "the number of channels"},
                               {"data_layout", "string", "NCHW<b>c"},
                               {"kernel_layout", "string", "OIHW1i<b>o"},
                               {"out_layout", "string", "as data_layout"}};

} // namespace

extern constinit const OpDef depthwiseConv2dNchwcOp = {
    .name = "nn.contrib_depthwise_conv2d_NCHWc",
    .doc = "y[n, c, y, x] = sum over kh, kw of data[n, c, y*s - p + kh*d, ..] * weight[c, kh, kw], "
           "c blocked",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .takesSymbols = true,
    .method = {.kind = Method::Depthwise},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 6, 6, 4), float32], %w: Tensor[(2, 1, 3, 3, 1, 4), float32] "
               "=> nn.contrib_depthwise_conv2d_NCHWc(%x, %w, data_layout=\"NCHW4c\", groups=8, "
               "kernel_layout=\"OIHW1i4o\", out_layout=\"NCHW4c\", padding=[1, 1, 1, 1])",
};

} // namespace tenon::compiler
