// SPDX-License-Identifier: Apache-2.0
// nn.contrib_conv2d_winograd_weight_transform: filters as Winograd convolutions read them; computed
// once, by FoldConstant.
#include "compiler/ops/layout.h"
#include "compiler/ops/winograd.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Layout> transformed() { return Layout::parse("HWOI"); }

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok.error();
    const int64_t m = intAttr(op, "tile_size");
    if (!isWinogradTile(m))
        return opError(op, DiagnosticCode::BadAttribute,
                       "has tile_size " + std::to_string(m) + "; it must be 2 or 4");
    const TensorType& weight = op.operands[0];
    if (!(weight.shape[2] == Dim(3)) || !(weight.shape[3] == Dim(3)))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "transforms filters of 3 x 3 but the weight is " + weight.text());
    const auto to = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!to) return to.error();
    auto shape = relaidShape(op, {Dim(m + 2), Dim(m + 2), weight.shape[0], weight.shape[1]},
                             *transformed(), *to);
    if (!shape) return shape.error();
    return Types{{weight.dtype, *std::move(shape)}};
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const int64_t m = intAttr(op, "tile_size");
    const auto from = transformed();
    const auto to = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!to) return to.error();
    const Exprs shape = extents(op.operands[0].shape);
    // Filters of one input channel side by side: whatever follows reads neighbours, and the few
    // planes that it reads stay in the first-level cache.
    const te::TensorRef planes =
        te::compute("planes", {shape[1], Expr(3), Expr(3), shape[0]}, [&](const Exprs& i) {
            return te::at(in[0], {i[3], i[0], i[1], i[2]});
        });
    const te::TensorRef rows =
        te::compute("rows", {shape[1], Expr(m + 2), Expr(3), shape[0]}, [&](const Exprs& i) {
            return winogradFilter(m, i[1], [&](int64_t k) {
                return te::at(planes, {i[0], Expr(k), i[2], i[3]});
            });
        });
    return te::Tensors{te::compute(
        "filter", extents(op.results[0].shape),
        [&](const Exprs& axes) {
            const Exprs i = relaidIndices(axes, *from, *to);
            return winogradFilter(m, i[1], [&](int64_t k) {
                return te::at(rows, {i[3], i[0], Expr(k), i[2]});
            });
        },
        "injective")};
}

Cost cost(const OpView& op) { return {elements(op.results[0]) * 8, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"weight", "[O, I, 3, 3]"}};
constexpr AttrSpec kAttrs[] = {
    {"tile_size", "int", "m of F(m x m, 3 x 3): 2 or 4"},
    {"kernel_layout", "string", "layout of the result; H and W are a and b", "\"HWOI\""}};

} // namespace

extern constinit const OpDef winogradWeightTransformOp = {
    .name = "nn.contrib_conv2d_winograd_weight_transform",
    .doc = "y[a, b, o, i] = (G w[o, i] transposed(G))[a, b], blocked",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%w: Tensor[(4, 2, 3, 3), float32] "
               "=> nn.contrib_conv2d_winograd_weight_transform(%w, kernel_layout=\"OHWI2i4o\", "
               "tile_size=4)",
};

} // namespace tenon::compiler
