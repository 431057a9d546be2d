// SPDX-License-Identifier: Apache-2.0
// nn.contrib_conv2d_winograd_NCHWc: 3 x 3 convolution of stride 1 by Winograd's minimal filtering,
// on blocked data and a weight that is transformed beforehand or in the kernel.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/window.h"
#include "compiler/ops/winograd.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

struct Geometry
{
    Window window;
    int64_t tile; ///< m: outputs of a tile along one axis
    int64_t inBlock;
    int64_t outBlock;
    int64_t kernelBlock; ///< output channels per kernel block, a multiple of outBlock
    int64_t kernelInBlock;
    bool isTransformed; ///< the weight holds (m + 2) x (m + 2) points per filter, else 3 x 3
};

/// Input channels of the weight.
Dim channelsOf(const Geometry& g, const TensorType& weight)
{
    return weight.shape[g.isTransformed ? 3 : 1] * Dim(g.kernelInBlock);
}

Status checkLayouts(const OpView& op, const Geometry& g, const std::string& kernel)
{
    const std::string blocks =
        std::to_string(g.kernelInBlock) + "i" + std::to_string(g.kernelBlock) + "o";
    const auto weight = constantShape(op.operands[1].shape);
    const Shape& shape = op.operands[0].shape;
    const auto sidesAre = [&](size_t first, int64_t size) {
        return (*weight)[first] == size && (*weight)[first + 1] == size;
    };
    const bool isKnown = g.isTransformed ? kernel == "OHWI" + blocks && g.kernelInBlock == g.inBlock
                                         : kernel == "OIHW" + blocks;
    const bool fits = isKnown && g.kernelBlock % g.outBlock == 0 && weight &&
                      (g.isTransformed ? sidesAre(1, g.tile + 2) : sidesAre(2, 3)) &&
                      (*weight)[4] == g.kernelInBlock && (*weight)[5] == g.kernelBlock &&
                      shape[4] == Dim(g.inBlock) &&
                      shape[1] * shape[4] == channelsOf(g, op.operands[1]);
    if (fits) return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "has tile_size " + std::to_string(g.tile) + " and the kernel layout " + kernel +
                       " but the operands are " + op.operands[0].text() + " and " +
                       op.operands[1].text() +
                       "; the kernel is OHWI<i>i<o>o with H and W tile_size + 2 and i the data's "
                       "block, or OIHW<i>i<o>o with H and W 3, and o a multiple of the result's "
                       "block");
}

Result<Geometry> geometry(const OpView& op)
{
    if (const Status ok = needSameDtype(op, 0, 1); !ok) return ok.error();
    if (const Status ok = needRank(op, 0, 5); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 6); !ok) return ok.error();
    const auto data = readDataLayout(op, "data_layout");
    if (!data) return data.error();
    const auto out = readDataLayout(op, "out_layout");
    if (!out) return out.error();
    const auto kernel = Layout::parse(stringAttr(op, "kernel_layout"));
    if (!kernel) return kernel.error();
    auto window = readWindow(op, {3, 3});
    if (!window) return window.error();
    Geometry g{*std::move(window),
               intAttr(op, "tile_size"),
               data->block('C'),
               out->block('C'),
               kernel->block('O'),
               kernel->block('I'),
               kernel->text().starts_with("OH")};
    if (!isWinogradTile(g.tile) || g.window.stride != std::array<int64_t, 2>{1, 1} ||
        g.window.dilation != std::array<int64_t, 2>{1, 1})
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs tile_size 2 or 4, strides and dilation 1");
    if (Status ok = checkLayouts(op, g, kernel->text()); !ok) return ok.error();
    return g;
}

Result<Types> infer(const OpView& op)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const Shape& data = op.operands[0].shape;
    const auto out = windowOutputs(op, g->window, data[2], data[3]);
    if (!out) return out.error();
    const Dim channels = op.operands[1].shape[0] * Dim(g->kernelBlock / g->outBlock);
    return Types{
        {op.operands[0].dtype, {data[0], channels, (*out)[0], (*out)[1], Dim(g->outBlock)}}};
}

/// Tiles of one image along one axis.
struct TileAxis
{
    int64_t count;
    int64_t last;   ///< outputs of the last tile that are part of the result
    int64_t tile;   ///< m: of the others
    bool isSkipped; ///< the last tile leaves out the points that it can do without

    /// Points of the last tile that matter.
    int64_t lastPoints() const { return isSkipped ? last + 2 : tile + 2; }
};

/// Tiles of one image, row by row.
struct Tiles
{
    TileAxis rows, columns;
    int64_t count() const { return rows.count * columns.count; }
    bool unrollsRows() const { return count() <= kTilesOfUnrolledRows; }
};

Tiles tilesOf(const Geometry& g, int64_t height, int64_t width)
{
    const auto axis = [&](int64_t size) {
        const int64_t count = (size + g.tile - 1) / g.tile;
        return TileAxis{count, size - (count - 1) * g.tile, g.tile, false};
    };
    Tiles tiles{axis(height), axis(width)};
    // Only loops over points and tiles that are unrolled can leave some out.
    const bool skips = !g.isTransformed;
    tiles.rows.isSkipped = skips && tiles.unrollsRows() && tiles.rows.last < g.tile;
    tiles.columns.isSkipped =
        skips && tiles.columns.count <= kTilesOfUnrolledColumns && tiles.columns.last < g.tile;
    return tiles;
}

/// Data of tile `at` of an axis as its transform reads them. Of a last tile that reaches beyond the
/// result, some data are zeros that no output depends on: others in their place make the points
/// zero that it leaves out.
LineFn dataLine(const TileAxis& axis, const Expr& at, const LineFn& line)
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

/// V[n, a, b, c_outer, t, c_inner]: the transformed data.
te::TensorRef transformedData(const Geometry& g, const te::TensorRef& input, const Tiles& tiles)
{
    const int64_t m = g.tile;
    const te::TensorRef data =
        padForWindow(input, 2, g.window, {tiles.rows.count * m, tiles.columns.count * m},
                     tir::zeroOf(input->dtype()));
    const Exprs& shape = data->shape();
    const Expr side(m + 2), width(tiles.columns.count);
    Attrs rowAxes{{"axis_names",
                   std::vector<std::string>{"n", "ic_outer", "tile", "a", "column", "ic_inner"}}};
    const te::TensorRef rows = te::compute(
        "data_rows", {shape[0], shape[1], Expr(tiles.count()), side, side, shape[4]},
        [&](const Exprs& i) {
            const Expr row = floorDiv(i[2], width);
            return winogradData(m, i[3], dataLine(tiles.rows, row, [&](int64_t k) {
                                    return te::at(data,
                                                  {i[0], i[1], row * Expr(m) + Expr(k),
                                                   floorMod(i[2], width) * Expr(m) + i[4], i[5]});
                                }));
        },
        {}, rowAxes);
    Attrs axes{
        {"axis_names", std::vector<std::string>{"n", "a", "b", "ic_outer", "tile", "ic_inner"}}};
    return te::compute(
        "data_tiles", {shape[0], side, side, shape[1], Expr(tiles.count()), shape[4]},
        [&](const Exprs& i) {
            return winogradData(m, i[2],
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
FilterFn computedFilters(const Geometry& g, const Tiles& tiles, const te::TensorRef& weight)
{
    const int64_t m = g.tile;
    const Exprs& shape = weight->shape(); // o_outer, i_outer, 3, 3, i_inner, o_inner
    const Expr channels = shape[1] * shape[4], side(m + 2);
    Attrs rowAxes{{"axis_names", std::vector<std::string>{"oc_outer", "ic", "a", "x", "oc_inner"}}};
    const auto transform = tiles.unrollsRows() ? winogradFilter : winogradFilterSum;
    const te::TensorRef rows = te::compute(
        "filter_rows", {shape[0], channels, side, Expr(3), shape[5]},
        [&](const Exprs& i) {
            return transform(m, i[2], [&](int64_t k) {
                return te::at(weight, {i[0], floorDiv(i[1], shape[4]), Expr(k), i[3],
                                       floorMod(i[1], shape[4]), i[4]});
            });
        },
        {}, rowAxes);
    Attrs axes{{"axis_names", std::vector<std::string>{"oc_outer", "ic", "a", "b", "oc_inner"}}};
    const te::TensorRef points = te::compute(
        "filter_points", {shape[0], channels, side, side, shape[5]},
        [&](const Exprs& i) {
            return winogradFilter(m, i[3], [&](int64_t k) {
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

/// The product at a point (a, b) of a tile, if any pixel of the result needs it.
Expr whereNeeded(const Tiles& tiles, const Exprs& at, const Expr& product)
{
    const Expr width(tiles.columns.count);
    Expr isNeeded;
    const auto need = [&](const TileAxis& axis, const Expr& point, const Expr& tile) {
        if (!axis.isSkipped) return;
        const Expr each = point < Expr(axis.lastPoints()) || tile < Expr(axis.count - 1);
        isNeeded = isNeeded.get() ? isNeeded && each : each;
    };
    need(tiles.rows, at[1], floorDiv(at[4], width));
    need(tiles.columns, at[2], floorMod(at[4], width));
    if (!isNeeded.get()) return product;
    // The sum of anything and -0 is the same, sign included.
    return tir::call(tir::Intrinsic::IfThenElse, product->dtype,
                     {isNeeded, product, tir::floatImm(-0.0, product->dtype)});
}

/// M[n, a, b, c_outer, t, c_inner]: products of the transformed data and filters.
te::TensorRef productsOf(const Geometry& g, const Tiles& tiles, const te::TensorRef& data,
                         const FilterFn& filters, const Expr& outBlocks)
{
    const Exprs& d = data->shape(); // n, a, b, c_outer, t, c_inner
    const Expr ratio(g.kernelBlock / g.outBlock), out(g.outBlock);
    Attrs facts{{"tile_size", g.tile},
                {"tile_columns", tiles.columns.count},
                {"unrolls_rows", int64_t{tiles.unrollsRows()}},
                {"skips_columns", int64_t{tiles.columns.isSkipped}},
                {"axis_names", std::vector<std::string>{"n", "a", "b", "oc_outer", "tile",
                                                        "oc_inner", "ic_outer", "ic_inner"}}};
    return te::reduce(
        "products", {d[0], d[1], d[2], outBlocks, d[4], out}, {d[3], d[5]}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            const Expr product = te::at(data, {i[0], i[1], i[2], k[0], i[4], k[1]}) *
                                 filters({.outer = floorDiv(i[3], ratio),
                                          .a = i[1],
                                          .b = i[2],
                                          .inOuter = k[0],
                                          .inInner = k[1],
                                          .inner = floorMod(i[3], ratio) * out + i[5]});
            return whereNeeded(tiles, i, product);
        },
        "conv2d_winograd", std::move(facts));
}

/// Y[n, c_outer, t, y, x, c_inner]: the result by tiles.
te::TensorRef resultTiles(const Geometry& g, const te::TensorRef& products)
{
    const int64_t m = g.tile;
    const Exprs& p = products->shape(); // n, a, b, c_outer, t, c_inner
    Attrs columnAxes{
        {"axis_names", std::vector<std::string>{"n", "oc_outer", "tile", "y", "b", "oc_inner"}}};
    const te::TensorRef columns = te::compute(
        "result_rows", {p[0], p[3], p[4], Expr(m), p[2], p[5]},
        [&](const Exprs& i) {
            return winogradResult(m, i[3], [&](int64_t k) {
                return te::at(products, {i[0], Expr(k), i[4], i[1], i[2], i[5]});
            });
        },
        {}, columnAxes);
    Attrs axes{
        {"axis_names", std::vector<std::string>{"n", "oc_outer", "tile", "y", "x", "oc_inner"}}};
    return te::compute(
        "result_tiles", {p[0], p[3], p[4], Expr(m), Expr(m), p[5]},
        [&](const Exprs& i) {
            return winogradResult(m, i[4], [&](int64_t k) {
                return te::at(columns, {i[0], i[1], i[2], i[3], Expr(k), i[5]});
            });
        },
        {}, axes);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const std::vector<int64_t> out = constants(op.results[0].shape);
    const int64_t m = g->tile;
    const Tiles tiles = tilesOf(*g, out[2], out[3]);
    const te::TensorRef data = transformedData(*g, in[0], tiles);
    const FilterFn filters =
        g->isTransformed ? storedFilters(in[1]) : computedFilters(*g, tiles, in[1]);
    const te::TensorRef products = productsOf(*g, tiles, data, filters, Expr(out[1]));

    const te::TensorRef result = resultTiles(*g, products);
    const Expr size(m), width(tiles.columns.count);
    return te::Tensors{te::compute("conv", extents(op.results[0].shape), [&](const Exprs& i) {
        const Expr tile = floorDiv(i[2], size) * width + floorDiv(i[3], size);
        return te::at(result, {i[0], i[1], tile, floorMod(i[2], size), floorMod(i[3], size), i[4]});
    })};
}

/// What the convolution computes, not the fewer steps in which it does.
Cost cost(const OpView& op)
{
    const Shape& data = op.operands[0].shape;
    const double channels = elements({kFloat32, {data[1], data[4]}});
    return {2 * 9 * elements(op.results[0]) * channels, bytesMoved(op)};
}

CallMethod variant(const OpView& op)
{
    return {.kind = Method::Winograd, .tile = static_cast<int>(op.attrs.integer("tile_size", 0))};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C/i, H, W, i]"},
    {"weight", "[O/o, m + 2, m + 2, C/i, i, o]: nn.contrib_conv2d_winograd_weight_transform; or "
               "[O/o, C/i, 3, 3, i, o], which the kernel transforms each time"}};
constexpr AttrSpec kAttrs[] = {{"tile_size", "int", "m of F(m x m, 3 x 3): 2 or 4"},
                               {"strides", "int[2]", "1", "[1, 1]"},
                               kZeroPaddingAttr,
                               {"dilation", "int[2]", "1", "[1, 1]"},
                               {"data_layout", "string", "NCHW<i>c"},
                               {"kernel_layout", "string", "OHWI<i>i<o>o or OIHW<i>i<o>o"},
                               {"out_layout", "string", "NCHW<b>c; o is a multiple of b"}};

} // namespace

extern constinit const OpDef winogradConv2dNchwcOp = {
    .name = "nn.contrib_conv2d_winograd_NCHWc",
    .doc = "nn.conv2d of 3 x 3 filters at stride 1: per tile, transposed(A) ((G w transposed(G)) * "
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
               "tile_size=2)",
};

} // namespace tenon::compiler
