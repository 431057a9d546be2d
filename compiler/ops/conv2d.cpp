// SPDX-License-Identifier: Apache-2.0
// nn.conv2d: grouped convolution of plain NCHW data.
#include "compiler/ops/window.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Geometry
{
    Window window;
    int64_t groups;
};

Result<Geometry> geometry(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 4); !ok) return ok.error();
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const auto weight = constantShape(op.operands[1].shape);
    if (!weight)
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs a weight of constant shape but it is " + op.operands[1].text());
    const std::string out = stringAttr(op, "out_layout");
    if (stringAttr(op, "data_layout") != "NCHW" || stringAttr(op, "kernel_layout") != "OIHW" ||
        (!out.empty() && out != "NCHW"))
        return opError(op, DiagnosticCode::BadAttribute,
                       "takes the layouts NCHW and OIHW only; insert a layout_transform");
    auto window = readWindow(op, {(*weight)[2], (*weight)[3]});
    if (!window) return window.error();
    return Geometry{*std::move(window), intAttr(op, "groups")};
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Shape& data = op.operands[0].shape;
    const Shape& weight = op.operands[1].shape;
    if (g->groups < 1 || weight[0].value() % g->groups != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot divide " + weight[0].text() + " output channels into " +
                           std::to_string(g->groups) + " groups");
    const Dim channels = weight[1] * Dim(g->groups);
    if (!agreedDim(data[1], channels))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects " + channels.text() + " input channels but `data` has " +
                           data[1].text() + "; check the layout (NCHW) and groups");
    const auto out = windowOutputs(op, g->window, data[2], data[3]);
    if (!out) return out.error();
    return Types{{op.operands[0].dtype, {data[0], weight[0], (*out)[0], (*out)[1]}}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Exprs out = extents(op.results[0].shape);
    const std::vector<int64_t> weight = constants(op.operands[1].shape);
    const te::TensorRef data =
        padForWindow(in[0], 2, g->window, {out[2], out[3]}, tir::zeroOf(in[0]->dtype()));
    const int64_t outPerGroup = weight[0] / g->groups;
    Attrs attrs = windowFacts(g->window);
    attrs.set("groups", g->groups);
    attrs.set("axis_names", std::vector<std::string>{"n", "oc", "oh", "ow", "ic", "kh", "kw"});
    const auto step = [&](const Exprs& i, const Exprs& k) {
        Expr channel = k[0];
        if (g->groups > 1) {
            const Expr group = outPerGroup == 1 ? i[1] : floorDiv(i[1], Expr(outPerGroup));
            channel = group * Expr(weight[1]) + k[0];
        }
        return te::at(data, {i[0], channel, windowIndex(g->window, 0, i[2], k[1]),
                             windowIndex(g->window, 1, i[3], k[2])}) *
               te::at(in[1], {i[1], k[0], k[1], k[2]});
    };
    return te::Tensors{te::reduce("conv", out, {Expr(weight[1]), Expr(weight[2]), Expr(weight[3])},
                                  te::Combiner::Sum, step, "conv2d", std::move(attrs))};
}

Cost cost(const OpView& op)
{
    const Shape& weight = op.operands[1].shape;
    const double steps = elements({kFloat32, {weight[1], weight[2], weight[3]}});
    return {2 * elements(op.results[0]) * steps, bytesMoved(op)};
}

/// Products of matrices, as blocked ones are, where a result reads one pixel.
CallMethod variant(const OpView& op)
{
    const Shape& weight = op.operands[1].shape;
    const bool isPointwise = weight[2] == Dim(1) && weight[3] == Dim(1) &&
                             intAttr(op, "groups") == 1 &&
                             intsAttr(op, "strides") == std::vector<int64_t>{1, 1} &&
                             intsAttr(op, "padding") == std::vector<int64_t>(4, 0);
    return {.kind = isPointwise ? Method::Direct1x1 : Method::Rows};
}

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W]"},
                                     {"weight", "[O, C / groups, KH, KW]"}};
constexpr AttrSpec kAttrs[] = {
    kStridesAttr,
    kZeroPaddingAttr,
    kDilationAttr,
    {"groups", "int", "channels are split into so many independent convolutions", "1"},
    {"data_layout", "string", "layout of data", "\"NCHW\""},
    {"kernel_layout", "string", "layout of weight", "\"OIHW\""},
    {"out_layout", "string", "layout of the result; empty: as data", "\"\""}};

} // namespace

extern constinit const OpDef conv2dOp = {
    .name = "nn.conv2d",
    .doc = "y[n, o, y, x] = sum over c, kh, kw of data[n, g(o) + c, y*s - p + kh*d, ..] * "
           "weight[o, c, kh, kw]",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .takesSymbols = true,
    .variant = variant,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 2, 3, 3), float32] "
               "=> nn.conv2d(%x, %w, groups=2, padding=[1, 1, 1, 1], strides=[2, 2])",
};

} // namespace tenon::compiler
