// SPDX-License-Identifier: Apache-2.0
// nn.contrib_conv2d_winograd_weight_transform: filters as Winograd convolutions read them; computed
// once, by FoldConstant.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/window.h"
#include "compiler/ops/winograd.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Layout> transformed() { return Layout::parse("HWOI"); }

struct Filters
{
    std::array<int64_t, 2> kernel, stride;
    WinogradAxis rows, columns;

    int64_t phases() const { return stride[0] * stride[1]; }
};

Result<Filters> filtersOf(const OpView& op)
{
    const std::vector<int64_t> tile = intsAttr(op, "tile_size"), strides = intsAttr(op, "strides");
    const auto shape = constantShape(op.operands[0].shape);
    if (!shape)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "transforms filters of known size but the weight is " +
                           op.operands[0].text());
    if (strides[0] < 1 || strides[1] < 1)
        return opError(op, DiagnosticCode::BadAttribute, "needs strides of 1 or more");
    const std::array<int64_t, 2> kernel{(*shape)[2], (*shape)[3]};
    const Filters out{kernel,
                      {strides[0], strides[1]},
                      winogradAxis(kernel[0], strides[0], tile[0]),
                      winogradAxis(kernel[1], strides[1], tile[1])};
    if (isWinogradAxis(out.rows) && isWinogradAxis(out.columns)) return out;
    return opError(
        op, DiagnosticCode::BadAttribute,
        "has tiles of " + std::to_string(tile[0]) + " x " + std::to_string(tile[1]) + " for " +
            op.operands[0].text() +
            "; along each axis they must have 3, 4, 6 or 8 points, one less than outputs "
            "and elements at one phase of the strides");
}

Result<Types> infer(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 4); !ok) return ok.error();
    const auto filters = filtersOf(op);
    if (!filters) return filters.error();
    const TensorType& weight = op.operands[0];
    const auto to = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!to) return to.error();
    auto shape = relaidShape(op,
                             {Dim(filters->rows.points()), Dim(filters->columns.points()),
                              weight.shape[0], weight.shape[1] * Dim(filters->phases())},
                             *transformed(), *to);
    if (!shape) return shape.error();
    return Types{{weight.dtype, *std::move(shape)}};
}

/// Filters of one input channel side by side: whatever follows reads neighbours, and the few planes
/// that it reads stay in the first-level cache. Every phase of a channel is one; of taps that the
/// window does not have, it is zero.
te::TensorRef planesOf(const Filters& f, const te::TensorRef& weight)
{
    const Exprs& shape = weight->shape();
    const std::array<int64_t, 2> taps{f.rows.taps, f.columns.taps};
    return te::compute("planes",
                       {shape[1] * Expr(f.phases()), Expr(taps[0]), Expr(taps[1]), shape[0]},
                       [&](const Exprs& i) {
                           if (f.phases() == 1) return te::at(weight, {i[3], i[0], i[1], i[2]});
                           const Expr phase = floorDiv(i[0], shape[1]);
                           const std::array<Expr, 2> phases{floorDiv(phase, Expr(f.stride[1])),
                                                            floorMod(phase, Expr(f.stride[1]))};
                           Exprs source{i[3], floorMod(i[0], shape[1])};
                           Expr inside;
                           for (size_t k = 0; k < 2; ++k) {
                               source.push_back(i[1 + k] * Expr(f.stride[k]) + phases[k]);
                               if (taps[k] * f.stride[k] == f.kernel[k]) continue;
                               const Expr isTap = source.back() < Expr(f.kernel[k]);
                               inside = inside.get() ? inside && isTap : isTap;
                           }
                           const Expr tap = te::at(weight, source);
                           return inside.get() ? tir::call(tir::Intrinsic::IfThenElse, tap->dtype,
                                                           {inside, tap, tir::zeroOf(tap->dtype)})
                                               : tap;
                       });
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto filters = filtersOf(op);
    if (!filters) return filters.error();
    const WinogradAxis y = filters->rows, x = filters->columns;
    const auto from = transformed();
    const auto to = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!to) return to.error();
    const te::TensorRef planes = planesOf(*filters, in[0]);
    const Exprs shape = planes->shape();
    const te::TensorRef rows =
        te::compute("rows", {shape[0], Expr(y.points()), shape[2], shape[3]}, [&](const Exprs& i) {
            return winogradFilter(y, i[1], [&](int64_t k) {
                return te::at(planes, {i[0], Expr(k), i[2], i[3]});
            });
        });
    return te::Tensors{te::compute(
        "filter", extents(op.results[0].shape),
        [&](const Exprs& axes) {
            const Exprs i = relaidIndices(axes, *from, *to);
            return winogradFilter(x, i[1], [&](int64_t k) {
                return te::at(rows, {i[3], i[0], Expr(k), i[2]});
            });
        },
        "injective")};
}

Cost cost(const OpView& op) { return {elements(op.results[0]) * 8, bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"weight", "[O, I, H, W]"}};
constexpr AttrSpec kAttrs[] = {
    {"tile_size", "int[2]", "m of F(m, r) along rows and columns"},
    kStridesAttr,
    {"kernel_layout", "string", "layout of the result; H and W are a and b", "\"HWOI\""}};

} // namespace

extern constinit const OpDef winogradWeightTransformOp = {
    .name = "nn.contrib_conv2d_winograd_weight_transform",
    .doc = "y[a, b, o, i] = (G w[o, i] transposed(G))[a, b], blocked; of strides, i goes over the "
           "phases of w first",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%w: Tensor[(4, 2, 3, 3), float32] "
               "=> nn.contrib_conv2d_winograd_weight_transform(%w, kernel_layout=\"OHWI2i4o\", "
               "tile_size=[4, 4])",
};

} // namespace tenon::compiler
