// SPDX-License-Identifier: Apache-2.0
// qnn.conv2d: convolution of quantized NCHW data into 32-bit sums; padding stands for real zeros.
#include "compiler/ops/quantization.h"
#include "compiler/ops/window.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr size_t kWeight = 1, kDataZero = 2, kWeightZero = 3;

struct Geometry
{
    Window window;
    int64_t groups;
    std::vector<int64_t> weight;
};

Status checkZeroPoint(const OpView& op, size_t of, size_t zero, const Dim& channels)
{
    if (!op.isPresent(zero)) return kDone;
    const TensorType& type = op.operands[zero];
    if (type.dtype != op.operands[of].dtype)
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "has zero points of " + type.dtype.text() + " for values of " +
                           op.operands[of].dtype.text());
    const bool isOne = type.shape.empty() || (type.shape.size() == 1 && type.shape[0] == Dim(1));
    if (isOne || (of == kWeight && type.shape.size() == 1 && type.shape[0] == channels))
        return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "has zero points of shape " + shapeText(type.shape) +
                       "; one, or one per output channel of the weight, is needed");
}

Result<Geometry> geometry(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok.error();
    if (const Status ok = needRank(op, kWeight, 4); !ok) return ok.error();
    for (const size_t i : {size_t{0}, kWeight})
        if (!isQuantizedType(op.operands[i].dtype) || op.operands[i].dtype.bits != 8)
            return opError(op, DiagnosticCode::UnsupportedDtype,
                           "takes 8-bit integers but got " + op.operands[i].text());
    const auto weight = constantShape(op.operands[kWeight].shape);
    if (!weight)
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs a weight of constant shape but it is " + op.operands[1].text());
    if (const Status ok = checkZeroPoint(op, 0, kDataZero, {}); !ok) return ok.error();
    if (const Status ok = checkZeroPoint(op, kWeight, kWeightZero, Dim((*weight)[0])); !ok)
        return ok.error();
    auto window = readWindow(op, {(*weight)[2], (*weight)[3]});
    if (!window) return window.error();
    return Geometry{*std::move(window), intAttr(op, "groups"), *weight};
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Shape& data = op.operands[0].shape;
    if (g->groups < 1 || g->weight[0] % g->groups != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "cannot divide " + std::to_string(g->weight[0]) + " output channels into " +
                           std::to_string(g->groups) + " groups");
    const Dim channels = Dim(g->weight[1]) * Dim(g->groups);
    if (!(data[1] == channels))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects " + channels.text() + " input channels but `data` has " +
                           data[1].text() + "; check the layout (NCHW) and groups");
    const auto out = windowOutputs(op, g->window, data[2], data[3]);
    if (!out) return out.error();
    return Types{{kInt32, {data[0], Dim(g->weight[0]), (*out)[0], (*out)[1]}}};
}

Expr onlyElement(const te::TensorRef& tensor)
{
    return te::at(tensor, Exprs(tensor->shape().size(), Expr(0)));
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Exprs out = extents(op.results[0].shape);
    const bool hasDataZero = op.isPresent(kDataZero), hasWeightZero = op.isPresent(kWeightZero);
    const Expr dataZero = hasDataZero ? onlyElement(in[kDataZero]) : tir::zeroOf(in[0]->dtype());
    const te::TensorRef data = padForWindow(in[0], 2, g->window, {out[2], out[3]}, dataZero);
    const int64_t perGroup = g->weight[0] / g->groups;
    Attrs attrs = windowFacts(g->window);
    attrs.set("groups", g->groups);
    attrs.set("axis_names", std::vector<std::string>{"n", "oc", "oh", "ow", "ic", "kh", "kw"});
    const auto step = [&](const Exprs& i, const Exprs& k) {
        Expr channel = k[0];
        if (g->groups > 1) channel = floorDiv(i[1], Expr(perGroup)) * Expr(g->weight[1]) + k[0];
        Expr x =
            tir::cast(kInt32, te::at(data, {i[0], channel, windowIndex(g->window, 0, i[2], k[1]),
                                            windowIndex(g->window, 1, i[3], k[2])}));
        Expr w = tir::cast(kInt32, te::at(in[kWeight], {i[1], k[0], k[1], k[2]}));
        if (hasDataZero) x = x - tir::cast(kInt32, dataZero);
        if (hasWeightZero) {
            const bool isOne = countOf(in[kWeightZero]->shape()) == 1;
            w = w - tir::cast(kInt32, isOne ? onlyElement(in[kWeightZero])
                                            : te::at(in[kWeightZero], {i[1]}));
        }
        return x * w;
    };
    return te::Tensors{te::reduce("conv", out,
                                  {Expr(g->weight[1]), Expr(g->weight[2]), Expr(g->weight[3])},
                                  te::Combiner::Sum, step, "conv2d", std::move(attrs))};
}

Cost cost(const OpView& op)
{
    const Shape& weight = op.operands[kWeight].shape;
    const double steps = elements({kFloat32, {weight[1], weight[2], weight[3]}});
    return {2 * elements(op.results[0]) * steps, bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C, H, W], 8 bits"},
    {"weight", "[O, C / groups, KH, KW], 8 bits"},
    {"data_zero_point", "one, of data's type; absent: 0", OperandSpec::Optional},
    {"weight_zero_point", "one or [O], of weight's type; absent: 0", OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {
    kStridesAttr,
    {"padding", "int[4]", "real zeros added at top, left, bottom, right", "[0, 0, 0, 0]"},
    kDilationAttr,
    {"groups", "int", "channels are split into so many independent convolutions", "1"}};

} // namespace

extern constinit const OpDef qnnConv2dOp = {
    .name = "qnn.conv2d",
    .doc = "y[n, o, y, x] = sum over c, kh, kw of (data[n, g(o) + c, y*s - p + kh*d, ..] - "
           "data_zero_point) * (weight[o, c, kh, kw] - weight_zero_point), in int32",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .takesSymbols = true,
    .method = {.kind = Method::Rows, .isInt8 = true},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 8, 8), uint8], %w: Tensor[(6, 2, 3, 3), int8], "
               "%z: Tensor[(), uint8] "
               "=> qnn.conv2d(%x, %w, %z, groups=2, padding=[1, 1, 1, 1], strides=[2, 2])",
};

} // namespace tenon::compiler
