// SPDX-License-Identifier: Apache-2.0
// nn.contrib_conv2d_strassen_NCHWc: a 1 x 1 convolution as Strassen's product of matrices, on
// blocked data and weights that are transformed beforehand. Results, inputs and positions of an
// image are halved.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/strassen.h"
#include "compiler/ops/window.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Channels in blocks of the data, the result and the weights.
struct Blocks
{
    int64_t in, out, kernel;
};

Result<Blocks> blocksOf(const OpView& op)
{
    const auto layouts = readBlockedLayouts(op);
    if (!layouts) return layouts.error();
    const Blocks blocks{layouts->data.block('C'), layouts->out.block('C'),
                        layouts->kernel.block('O')};
    const auto weight = constantShape(op.operands[1].shape);
    const Shape& shape = op.operands[0].shape;
    const std::string layout =
        "OHWI" + std::to_string(blocks.in) + "i" + std::to_string(blocks.kernel) + "o";
    const bool isOfSeven = intAttr(op, "products") == kHalvedProducts &&
                           intsAttr(op, "kernel_size") == std::vector<int64_t>{1, 1};
    const bool fits = isOfSeven && layouts->kernel.text() == layout && blocks.out > 0 &&
                      blocks.kernel % blocks.out == 0 && weight && constantShape(shape) &&
                      (*weight)[1] == kHalvedProducts && (*weight)[2] == 1 &&
                      (*weight)[4] == blocks.in && (*weight)[5] == blocks.kernel &&
                      shape[4] == Dim(blocks.in) && shape[1] == Dim(2 * (*weight)[3]);
    if (fits) return blocks;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "has the kernel layout " + layouts->kernel.text() + " but the operands are " +
                       op.operands[0].text() + " and " + op.operands[1].text() +
                       "; the kernel is OHWI<i>i<o>o of half the channels, with H 7 and W 1, i the "
                       "data's block, and o a multiple of the result's block");
}

Result<Types> infer(const OpView& op)
{
    const auto blocks = blocksOf(op);
    if (!blocks) return blocks.error();
    const Shape& data = op.operands[0].shape;
    const Dim channels = op.operands[1].shape[0] * Dim(2 * blocks->kernel / blocks->out);
    return Types{{op.operands[0].dtype, {data[0], channels, data[2], data[3], Dim(blocks->out)}}};
}

/// V[n, product, 0, c_outer, position, c_inner] of half the channels and half the positions.
te::TensorRef transformedData(const te::TensorRef& image, int64_t height, int64_t width)
{
    const Exprs& shape = image->shape();
    const int64_t positions = height * width, half = halfOf(positions);
    const Expr blocks = floorDiv(shape[1], Expr(2)), row(width);
    Attrs axes{
        {"axis_names", std::vector<std::string>{"n", "a", "b", "ic_outer", "tile", "ic_inner"}}};
    return te::compute(
        "data_tiles", {shape[0], Expr(kHalvedProducts), Expr(1), blocks, Expr(half), shape[4]},
        [&](const Exprs& i) {
            return halvedData(i[1], [&](int64_t channels, int64_t which) {
                Expr at = i[4] + Expr(which * half);
                if (which == 1 && 2 * half > positions) at = minimum(at, Expr(positions - 1));
                return te::at(image, {i[0], i[3] + Expr(channels) * blocks, floorDiv(at, row),
                                      floorMod(at, row), i[5]});
            });
        },
        {}, axes);
}

/// M[n, product, 0, c_outer, position, c_inner].
te::TensorRef productsOf(const te::TensorRef& data, const te::TensorRef& weight,
                         const Blocks& blocks)
{
    const Exprs &d = data->shape(), &w = weight->shape();
    const Expr ratio(blocks.kernel / blocks.out), out(blocks.out);
    Attrs facts{{"axis_names", std::vector<std::string>{"n", "a", "b", "oc_outer", "tile",
                                                        "oc_inner", "ic_outer", "ic_inner"}}};
    return te::reduce(
        "products", {d[0], d[1], d[2], w[0] * ratio, d[4], out}, {d[3], d[5]}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            return te::at(data, {i[0], i[1], i[2], k[0], i[4], k[1]}) *
                   te::at(weight, {floorDiv(i[3], ratio), i[1], i[2], k[0], k[1],
                                   floorMod(i[3], ratio) * out + i[5]});
        },
        "conv2d_strassen", std::move(facts));
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto blocks = blocksOf(op);
    if (!blocks) return blocks.error();
    const std::vector<int64_t> shape = constants(op.results[0].shape);
    const te::TensorRef data = transformedData(in[0], shape[2], shape[3]);
    const te::TensorRef products = productsOf(data, in[1], *blocks);
    const Exprs& p = products->shape();
    Attrs axes{{"axis_names",
                std::vector<std::string>{"n", "oc_outer", "tile", "oc_half", "half", "oc_inner"}}};
    const te::TensorRef result = te::compute(
        "result_tiles", {p[0], p[3], p[4], Expr(2), Expr(2), p[5]},
        [&](const Exprs& i) {
            return halvedResult(i[3], i[4], [&](int64_t k) {
                return te::at(products, {i[0], Expr(k), Expr(0), i[1], i[2], i[5]});
            });
        },
        {}, axes);
    const Expr channels = p[3], half = p[4], row(shape[3]);
    return te::Tensors{te::compute("conv", extents(op.results[0].shape), [&](const Exprs& i) {
        const Expr at = i[2] * row + i[3];
        return te::at(result, {i[0], floorMod(i[1], channels), floorMod(at, half),
                               floorDiv(i[1], channels), floorDiv(at, half), i[4]});
    })};
}

/// What the convolution computes, not the fewer steps in which it does.
Cost cost(const OpView& op)
{
    const Shape& data = op.operands[0].shape;
    return {2 * elements(op.results[0]) * elements({kFloat32, {data[1], data[4]}}), bytesMoved(op)};
}

CallMethod variant(const OpView&) { return {.kind = Method::Strassen}; }

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C/i, H, W, i]"},
    {"weight", "[O/2/o, 7, 1, C/2/i, i, o]: nn.contrib_strassen_weight_transform"}};
constexpr AttrSpec kAttrs[] = {
    {"data_layout", "string", "NCHW<i>c"},
    {"kernel_layout", "string", "OHWI<i>i<o>o"},
    {"out_layout", "string", "NCHW<b>c; o is a multiple of b"},
    {"kernel_size", "int[2]", "rows and columns of a filter: one", "[1, 1]"},
    {"products", "int", "of halves that are computed for eight", "7"},
};

} // namespace

extern constinit const OpDef strassenConv2dNchwcOp = {
    .name = "nn.contrib_conv2d_strassen_NCHWc",
    .doc = "nn.conv2d of 1 x 1 filters by seven products of halves for eight; equal to it up to "
           "rounding for finite data",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .variant = variant,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 4, 3, 5, 4), float32], %w: Tensor[(2, 7, 1, 2, 4, 8), float32] "
               "=> nn.contrib_conv2d_strassen_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
               "kernel_layout=\"OHWI4i8o\", out_layout=\"NCHW8c\")",
};

} // namespace tenon::compiler
