// SPDX-License-Identifier: Apache-2.0
// nn.conv: grouped convolution over any number of spatial axes; nn.conv2d is its fast form for two.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Geometry
{
    std::vector<int64_t> weight; ///< shape
    std::vector<int64_t> strides;
    std::vector<int64_t> padding; ///< before every axis, then after
    std::vector<int64_t> dilation;
    int64_t groups;
    size_t axes() const { return weight.size() - 2; }
};

Result<Geometry> geometry(const OpView& op)
{
    const size_t rank = op.operands[0].shape.size();
    if (rank < 3)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs a spatial axis but data is " + op.operands[0].text());
    if (const Status ok = needRank(op, 1, rank); !ok) return ok.error();
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    const auto weight = constantShape(op.operands[1].shape);
    if (!weight)
        return opError(op, DiagnosticCode::DynamicShape,
                       "needs a weight of constant shape but it is " + op.operands[1].text());
    Geometry out{*weight, intsAttr(op, "strides"), intsAttr(op, "padding"),
                 intsAttr(op, "dilation"), intAttr(op, "groups")};
    const auto isBelow = [](const std::vector<int64_t>& values, int64_t least) {
        return std::any_of(values.begin(), values.end(), [&](int64_t v) { return v < least; });
    };
    if (out.strides.size() != rank - 2 || out.dilation.size() != rank - 2 ||
        out.padding.size() != 2 * (rank - 2) || isBelow(out.strides, 1) ||
        isBelow(out.dilation, 1) || isBelow(out.padding, 0) || out.groups < 1 ||
        (*weight)[0] % out.groups != 0)
        return opError(op, DiagnosticCode::BadAttribute,
                       "has strides [" + join(out.strides, ", ") + "], dilation [" +
                           join(out.dilation, ", ") + "], padding [" + join(out.padding, ", ") +
                           "] and " + std::to_string(out.groups) + " groups for the weight " +
                           op.operands[1].text());
    return out;
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Shape& data = op.operands[0].shape;
    const Dim channels(g->weight[1] * g->groups);
    if (!agreedDim(data[1], channels))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects " + channels.text() + " input channels but `data` has " +
                           data[1].text() + "; check the layout (channels second) and groups");
    Shape out{data[0], Dim(g->weight[0])};
    for (size_t i = 0; i < g->axes(); ++i) {
        const int64_t reach = (g->weight[2 + i] - 1) * g->dilation[i] + 1;
        const Dim room = data[2 + i] + Dim(g->padding[i] + g->padding[g->axes() + i] - reach);
        if (room.isConst() && room.value() < 0)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "cannot fit a window of " + std::to_string(reach) + " into " +
                               op.operands[0].text());
        out.push_back(floorDiv(room, Dim(g->strides[i])) + Dim(1));
    }
    return Types{{op.operands[0].dtype, out}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Exprs shape = extents(op.results[0].shape);
    const int64_t outPerGroup = g->weight[0] / g->groups;
    Exprs steps{Expr(g->weight[1])};
    for (size_t i = 0; i < g->axes(); ++i) steps.emplace_back(g->weight[2 + i]);
    const auto step = [&](const Exprs& i, const Exprs& k) {
        const Expr group = floorDiv(i[1], Expr(outPerGroup));
        Exprs from{i[0], group * Expr(g->weight[1]) + k[0]};
        Exprs weight{i[1], k[0]};
        Expr isInside;
        const auto require = [&](const Expr& condition) {
            isInside = isInside ? isInside && condition : condition;
        };
        for (size_t a = 0; a < g->axes(); ++a) {
            const Expr at = i[2 + a] * Expr(g->strides[a]) + k[1 + a] * Expr(g->dilation[a]) -
                            Expr(g->padding[a]);
            if (g->padding[a] > 0) require(at >= Expr(0));
            if (g->padding[g->axes() + a] > 0) require(at < in[0]->shape()[2 + a]);
            from.push_back(at);
            weight.push_back(k[1 + a]);
        }
        const Expr product = te::at(in[0], from) * te::at(in[1], weight);
        return isInside ? tir::call(tir::Intrinsic::IfThenElse, product->dtype,
                                    {isInside, product, tir::zeroOf(product->dtype)})
                        : product;
    };
    return te::Tensors{te::reduce("conv", shape, steps, te::Combiner::Sum, step, "reduce")};
}

Cost cost(const OpView& op)
{
    const Shape& weight = op.operands[1].shape;
    const double steps = elements({kFloat32, {weight.begin() + 1, weight.end()}});
    return {2 * elements(op.results[0]) * steps, bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "[N, C, spatial axes..]"},
                                     {"weight", "[O, C / groups, kernel..]"}};
constexpr AttrSpec kAttrs[] = {
    {"strides", "int[]", "step of the window along each axis"},
    {"padding", "int[]", "zeros added before each axis, then after each"},
    {"dilation", "int[]", "distance of the kernel's elements"},
    {"groups", "int", "channels are split into so many independent convolutions", "1"}};

} // namespace

extern constinit const OpDef convOp = {
    .name = "nn.conv",
    .doc = "y[n, o, x..] = sum over c, k.. of data[n, g(o) + c, x*s - p + k*d..] * "
           "weight[o, c, k..]",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .takesSymbols = true,
    .method = {.kind = Method::PlainLoops},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 5, 6, 7), float32], %w: Tensor[(6, 2, 3, 3, 3), float32] "
               "=> nn.conv(%x, %w, dilation=[1, 1, 1], groups=2, padding=[1, 1, 1, 1, 1, 1], "
               "strides=[1, 2, 2])",
};

} // namespace tenon::compiler
