// SPDX-License-Identifier: Apache-2.0
// nn.contrib_conv2d_winograd_NCHWc: a convolution by Winograd's minimal filtering, on blocked data
// and a weight that is transformed beforehand or in the kernel. Of stride 2 are four convolutions
// whose results add up: of even and odd rows by even and odd columns, the phases of an image, which
// are as many channels.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/winograd_geometry.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const auto g = winogradGeometry(op);
    if (!g) return g.error();
    const Shape& data = op.operands[0].shape;
    const auto out = windowOutputs(op, g->window, data[2], data[3]);
    if (!out) return out.error();
    const Dim channels = op.operands[1].shape[0] * Dim(g->kernelBlock / g->outBlock);
    return Types{
        {op.operands[0].dtype, {data[0], channels, (*out)[0], (*out)[1], Dim(g->outBlock)}}};
}

/// Data of tile `at` of an axis as its transform reads them. Of a last tile that reaches beyond the
/// result, some data are zeros that no output depends on: others in their place make the points
/// zero that it leaves out.
LineFn dataLine(const WinogradTileAxis& axis, const Expr& at, const LineFn& line)
{
    if (!axis.isSkipped || axis.tile - axis.last < 2) return line;
    return [=](int64_t k) {
        if (k < axis.last + 2 || k == axis.tile + 1) return line(k);
        const auto number = [](double value, const Expr& like) {
            return tir::floatImm(value, like->dtype);
        };
        const Expr before = line(k - 2);
        const Expr other =
            axis.last == 2 ? before + number(2, before) * (line(k - 1) - line(k - 3)) : before;
        const Expr isLast =
            tir::select(equal(at, Expr(axis.count - 1)), number(1, other), number(0, other));
        return line(k) + isLast * other;
    };
}

/// V[n, a, b, c_outer, t, c_inner]: the transformed data; c_outer by phases of the image.
te::TensorRef transformedData(const WinogradGeometry& g, const te::TensorRef& input,
                              const WinogradTiles& tiles)
{
    const te::TensorRef image =
        padForWindow(input, 2, withWholePhases(g.window),
                     {tiles.rows.count * g.rows.tile, tiles.columns.count * g.columns.tile},
                     tir::zeroOf(input->dtype()));
    const Exprs& shape = image->shape();
    const Expr blocks = shape[1] * Expr(g.phases()), width(tiles.columns.count);
    const Expr height(g.rows.points()), side(g.columns.points());
    Attrs rowAxes{{"axis_names",
                   std::vector<std::string>{"n", "ic_outer", "tile", "a", "column", "ic_inner"}}};
    const te::TensorRef rows = te::compute(
        "data_rows", {shape[0], blocks, Expr(tiles.count()), height, side, shape[4]},
        [&](const Exprs& i) {
            const Expr row = floorDiv(i[2], width);
            const Expr x = floorMod(i[2], width) * Expr(g.columns.tile) + i[4];
            return winogradData(g.rows, i[3], dataLine(tiles.rows, row, [&](int64_t k) {
                                    const Expr y = row * Expr(g.rows.tile) + Expr(k);
                                    return phaseElement(g.window, image, {i[0], i[1], y, x, i[5]});
                                }));
        },
        {}, rowAxes);
    Attrs axes{
        {"axis_names", std::vector<std::string>{"n", "a", "b", "ic_outer", "tile", "ic_inner"}}};
    return te::compute(
        "data_tiles", {shape[0], height, side, blocks, Expr(tiles.count()), shape[4]},
        [&](const Exprs& i) {
            return winogradData(g.columns, i[2],
                                dataLine(tiles.columns, floorMod(i[4], width), [&](int64_t k) {
                                    return te::at(rows, {i[0], i[3], i[4], i[1], Expr(k), i[5]});
                                }));
        },
        {}, axes);
}

/// A point of the transformed filters; channels as blocks and places in them.
struct FilterPoint
{
    Expr outer, a, b, inOuter, inInner, inner;
};
using FilterFn = std::function<Expr(const FilterPoint& at)>;

FilterFn storedFilters(const te::TensorRef& weight)
{
    return [weight](const FilterPoint& at) {
        return te::at(weight, {at.outer, at.a, at.b, at.inOuter, at.inInner, at.inner});
    };
}

/// U[o_outer, i, a, b, o_inner] as the kernel computes it from 3 x 3 filters.
FilterFn computedFilters(const WinogradGeometry& g, const WinogradTiles& tiles,
                         const te::TensorRef& weight)
{
    const Exprs& shape = weight->shape(); // o_outer, i_outer, 3, 3, i_inner, o_inner
    const Expr channels = shape[1] * shape[4], side(g.rows.points());
    Attrs rowAxes{{"axis_names", std::vector<std::string>{"oc_outer", "ic", "a", "x", "oc_inner"}}};
    const auto transform = tiles.unrollsRows() ? winogradFilter : winogradFilterSum;
    const te::TensorRef rows = te::compute(
        "filter_rows", {shape[0], channels, side, Expr(3), shape[5]},
        [&](const Exprs& i) {
            return transform(g.rows, i[2], [&](int64_t k) {
                return te::at(weight, {i[0], floorDiv(i[1], shape[4]), Expr(k), i[3],
                                       floorMod(i[1], shape[4]), i[4]});
            });
        },
        {}, rowAxes);
    Attrs axes{{"axis_names", std::vector<std::string>{"oc_outer", "ic", "a", "b", "oc_inner"}}};
    const te::TensorRef points = te::compute(
        "filter_points", {shape[0], channels, side, side, shape[5]},
        [&](const Exprs& i) {
            return winogradFilter(g.columns, i[3], [&](int64_t k) {
                return te::at(rows, {i[0], i[1], i[2], Expr(k), i[4]});
            });
        },
        {}, axes);
    const Expr block(g.inBlock);
    return [points, block](const FilterPoint& at) {
        const Expr channel = at.inOuter * block + at.inInner;
        return te::at(points, {at.outer, channel, at.a, at.b, at.inner});
    };
}

/// The product at a point (a, b) of a tile with a block of channels, if any pixel of the result
/// needs it and the filters of the block's phase are not zero there.
Expr whereNeeded(const WinogradGeometry& g, const WinogradTiles& tiles, const Exprs& at,
                 const Expr& phase, const Expr& product)
{
    Expr isNeeded;
    const auto require = [&](const Expr& each) {
        isNeeded = isNeeded.get() ? isNeeded && each : each;
    };
    const auto requireOfLastTile = [&](const WinogradTileAxis& axis, const Expr& point,
                                       const Expr& tile) {
        if (axis.isSkipped) require(point < Expr(axis.lastPoints()) || tile < Expr(axis.count - 1));
    };
    const Expr width(tiles.columns.count);
    requireOfLastTile(tiles.rows, at[1], floorDiv(at[4], width));
    requireOfLastTile(tiles.columns, at[2], floorMod(at[4], width));
    if (const Expr own =
            hasFilters(g.window, {g.rows.points(), g.columns.points()}, {at[1], at[2]}, phase);
        own.get())
        require(own);
    if (!isNeeded.get()) return product;
    // The sum of anything and -0 is the same, sign included.
    return tir::call(tir::Intrinsic::IfThenElse, product->dtype,
                     {isNeeded, product, tir::floatImm(-0.0, product->dtype)});
}

/// M[n, a, b, c_outer, t, c_inner]: products of the transformed data and filters.
te::TensorRef productsOf(const WinogradGeometry& g, const WinogradTiles& tiles,
                         const te::TensorRef& data, const FilterFn& filters, const Expr& outBlocks)
{
    const Exprs& d = data->shape(); // n, a, b, c_outer, t, c_inner
    const Expr ratio(g.kernelBlock / g.outBlock), out(g.outBlock);
    const Expr ownBlocks = floorDiv(d[3], Expr(g.phases() * g.groups)); // of a phase and a group
    const Expr results = floorDiv(outBlocks, Expr(g.groups));
    const auto blockOf = [&](const Expr& own, const Expr& result) {
        if (g.groups == 1) return own;
        const Expr first = floorDiv(own, ownBlocks) * Expr(g.groups) + floorDiv(result, results);
        return first * ownBlocks + floorMod(own, ownBlocks);
    };
    Attrs facts{{"tile_size", std::vector<int64_t>{g.rows.tile, g.columns.tile}},
                {"tile_columns", tiles.columns.count},
                {"groups", g.groups},
                {"phases", g.phases()},
                {"unrolls_rows", int64_t{tiles.unrollsRows()}},
                {"skips_columns", int64_t{tiles.columns.isSkipped}},
                {"axis_names", std::vector<std::string>{"n", "a", "b", "oc_outer", "tile",
                                                        "oc_inner", "ic_outer", "ic_inner"}}};
    return te::reduce(
        "products", {d[0], d[1], d[2], outBlocks, d[4], out},
        {floorDiv(d[3], Expr(g.groups)), d[5]}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            const Expr product = te::at(data, {i[0], i[1], i[2], blockOf(k[0], i[3]), i[4], k[1]}) *
                                 filters({.outer = floorDiv(i[3], ratio),
                                          .a = i[1],
                                          .b = i[2],
                                          .inOuter = k[0],
                                          .inInner = k[1],
                                          .inner = floorMod(i[3], ratio) * out + i[5]});
            return whereNeeded(g, tiles, i, floorDiv(k[0], ownBlocks), product);
        },
        "conv2d_winograd", std::move(facts));
}

/// Y[n, c_outer, t, y, x, c_inner]: the result by tiles.
te::TensorRef resultTiles(const WinogradGeometry& g, const te::TensorRef& products)
{
    const Expr height(g.rows.tile), side(g.columns.tile);
    const Exprs& p = products->shape(); // n, a, b, c_outer, t, c_inner
    Attrs columnAxes{
        {"axis_names", std::vector<std::string>{"n", "oc_outer", "tile", "y", "b", "oc_inner"}}};
    const te::TensorRef columns = te::compute(
        "result_rows", {p[0], p[3], p[4], height, p[2], p[5]},
        [&](const Exprs& i) {
            return winogradResult(g.rows, i[3], [&](int64_t k) {
                return te::at(products, {i[0], Expr(k), i[4], i[1], i[2], i[5]});
            });
        },
        {}, columnAxes);
    Attrs axes{
        {"axis_names", std::vector<std::string>{"n", "oc_outer", "tile", "y", "x", "oc_inner"}}};
    return te::compute(
        "result_tiles", {p[0], p[3], p[4], height, side, p[5]},
        [&](const Exprs& i) {
            return winogradResult(g.columns, i[4], [&](int64_t k) {
                return te::at(columns, {i[0], i[1], i[2], i[3], Expr(k), i[5]});
            });
        },
        {}, axes);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = winogradGeometry(op);
    if (!g) return g.error();
    const std::vector<int64_t> out = constants(op.results[0].shape);
    const WinogradTiles tiles = winogradTilesOf(*g, out[2], out[3]);
    const te::TensorRef data = transformedData(*g, in[0], tiles);
    const FilterFn filters =
        g->isTransformed ? storedFilters(in[1]) : computedFilters(*g, tiles, in[1]);
    const te::TensorRef products = productsOf(*g, tiles, data, filters, Expr(out[1]));

    const te::TensorRef result = resultTiles(*g, products);
    const Expr height(g->rows.tile), side(g->columns.tile), width(tiles.columns.count);
    return te::Tensors{te::compute("conv", extents(op.results[0].shape), [&](const Exprs& i) {
        const Expr tile = floorDiv(i[2], height) * width + floorDiv(i[3], side);
        return te::at(result,
                      {i[0], i[1], tile, floorMod(i[2], height), floorMod(i[3], side), i[4]});
    })};
}

/// What the convolution computes, not the fewer steps in which it does.
Cost cost(const OpView& op)
{
    const Shape& data = op.operands[0].shape;
    const double channels = elements({kFloat32, {data[1], data[4]}});
    const std::vector<int64_t> size = intsAttr(op, "kernel_size");
    const auto window = static_cast<double>(size[0] * size[1]);
    const auto perGroup = channels / static_cast<double>(intAttr(op, "groups"));
    return {2 * window * elements(op.results[0]) * perGroup, bytesMoved(op)};
}

CallMethod variant(const OpView& op)
{
    const auto pair = [&](const char* name) {
        const std::vector<int64_t> sides = intsAttr(op, name);
        return std::array<int, 2>{static_cast<int>(sides[0]), static_cast<int>(sides[1])};
    };
    return {.kind = Method::Winograd, .tile = pair("tile_size"), .window = pair("kernel_size")};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C/i, H, W, i]"},
    {"weight", "[O/o, m + r - 1, m + r - 1, s * s * C/groups/i, i, o] with s the stride: "
               "nn.contrib_conv2d_winograd_weight_transform; or [O/o, C/i, 3, 3, i, o], which the "
               "kernel transforms each time"}};
constexpr AttrSpec kAttrs[] = {
    {"tile_size", "int[2]", "m of F(m, r) along rows and columns"},
    {"kernel_size", "int[2]", "height and width", "[3, 3]"},
    kStridesAttr,
    {"groups", "int", "independent convolutions; a kernel block is of one", "1"},
    kZeroPaddingAttr,
    {"dilation", "int[2]", "1", "[1, 1]"},
    {"data_layout", "string", "NCHW<i>c"},
    {"kernel_layout", "string", "OHWI<i>i<o>o or OIHW<i>i<o>o"},
    {"out_layout", "string", "NCHW<b>c; o is a multiple of b"}};

} // namespace

extern constinit const OpDef winogradConv2dNchwcOp = {
    .name = "nn.contrib_conv2d_winograd_NCHWc",
    .doc = "nn.conv2d: per tile, transposed(A) ((G w transposed(G)) * "
           "(transposed(B) x B)) A, summed over channels; equal to it up to rounding for finite "
           "data",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .variant = variant,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 1, 6, 7, 4), float32], %w: Tensor[(1, 4, 4, 1, 4, 16), float32] "
               "=> nn.contrib_conv2d_winograd_NCHWc(%x, %w, data_layout=\"NCHW4c\", "
               "kernel_layout=\"OHWI4i16o\", out_layout=\"NCHW8c\", padding=[1, 1, 1, 1], "
               "tile_size=[2, 2])",
};

} // namespace tenon::compiler
