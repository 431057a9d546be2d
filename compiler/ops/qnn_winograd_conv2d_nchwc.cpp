// SPDX-License-Identifier: Apache-2.0
// qnn.contrib_conv2d_winograd_NCHWc: convolution of bytes by Winograd's minimal filtering in
// integers along one axis or both, for processors that multiply 16-bit numbers as fast as bytes. Of
// strides are as many convolutions as an image has phases, which are as many channels. Filters of
// two channels come in one word where a processor adds up pairs of products.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/quads.h"
#include "compiler/ops/winograd_geometry.h"
#include "compiler/ops/winograd_integers.h"

#include <functional>

namespace tenon::compiler {
namespace {

using tir::Expr;

/// Channels of filters in an element of the weight.
int64_t channelsPerWord(const OpView& op) { return op.operands[1].dtype == kInt32 ? 2 : 1; }

struct Geometry
{
    Window window;
    std::array<WinogradAxis, 2> axes;
    int64_t outBlock;
    int64_t kernelBlock; ///< output channels per block of filters, a multiple of outBlock
    int64_t perWord;     ///< channels of filters

    int64_t phases() const { return window.stride[0] * window.stride[1]; }
    /// Rows of filters that are multiplied one by one.
    int64_t ownRows() const { return axes[0].isDirect() ? axes[0].taps : 1; }
    std::array<int64_t, 2> points() const { return {axes[0].points(), axes[1].points()}; }
};

Status checkShapes(const OpView& op, const Geometry& g)
{
    const Shape& data = op.operands[0].shape;
    const auto weight = constantShape(op.operands[1].shape);
    const bool fits = weight && (*weight)[1] == g.axes[0].points() &&
                      (*weight)[2] == g.axes[1].points() &&
                      Dim((*weight)[3]) == data[1] * Dim(g.phases() * g.ownRows()) &&
                      Dim((*weight)[4] * g.perWord) == data[4] && g.outBlock > 0 &&
                      g.kernelBlock % g.outBlock == 0;
    if (fits) return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "cannot combine " + op.operands[0].text() + " and " + op.operands[1].text() +
                       "; the weight is [O/k, p, q, s * s * C/b, b, k], of words b/2, for data "
                       "[N, C/b, H, W, b] with p and q the points of a tile, s the stride and k a "
                       "multiple of the "
                       "result's block");
}

/// Of the tile at every phase of the strides.
Result<std::array<WinogradAxis, 2>> axesOf(const OpView& op, const Window& window)
{
    const std::vector<int64_t> tile = intsAttr(op, "tile");
    std::array<WinogradAxis, 2> axes;
    for (size_t i = 0; i < axes.size(); ++i)
        axes[i] = winogradAxis(window.kernel[i], window.stride[i], tile[i]);
    if (areWinogradIntegerAxes(axes[0], axes[1])) return axes;
    return opError(op, DiagnosticCode::BadAttribute,
                   "has no transforms for tiles of " + std::to_string(tile[0]) + " x " +
                       std::to_string(tile[1]) + " and filters of " + std::to_string(axes[0].taps) +
                       " x " + std::to_string(axes[1].taps) + " taps at a phase of the strides");
}

Result<Geometry> geometry(const OpView& op)
{
    if (const Status ok = needRank(op, 0, 5); !ok) return ok.error();
    if (const Status ok = needRank(op, 1, 6); !ok) return ok.error();
    const DataType filters = op.operands[1].dtype;
    if (!isByte(op.operands[0].dtype) || (filters != kInt16 && filters != kInt32))
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "takes 8-bit integers and int16 points of filters, or pairs of these in "
                       "int32, but got " +
                           op.operands[0].text() + " and " + op.operands[1].text());
    const auto out = readDataLayout(op, "out_layout");
    if (!out) return out.error();
    const std::vector<int64_t> size = intsAttr(op, "kernel_size");
    auto window = readWindow(op, {size[0], size[1]});
    if (!window) return window.error();
    const auto axes = axesOf(op, *window);
    if (!axes) return axes.error();
    const Dim& block = op.operands[1].shape[5];
    Geometry g{*std::move(window), *axes, out->block('C'), block.isConst() ? block.value() : 0,
               channelsPerWord(op)};
    if (g.window.dilation != std::array<int64_t, 2>{1, 1})
        return opError(op, DiagnosticCode::BadAttribute, "needs dilation 1");
    if (g.axes[0].isDirect() && g.phases() > 1)
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs strides 1 where rows are not transformed");
    if (Status ok = checkShapes(op, g); !ok) return ok.error();
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
    return Types{{kInt32, {data[0], channels, (*out)[0], (*out)[1], Dim(g->outBlock)}}};
}

/// Tiles of one image, row by row.
struct Tiles
{
    int64_t rows, columns;
};

Attrs named(std::vector<std::string> axes) { return Attrs{{"axis_names", std::move(axes)}}; }

/// V[n, a, b, c_outer, t, c_inner]: the transformed data; c_outer by phases of the image.
te::TensorRef transformedData(const Geometry& g, const te::TensorRef& image, const Tiles& tiles)
{
    const Exprs& shape = image->shape();
    const Expr blocks = shape[1] * Expr(g.phases());
    const auto& [along, across] = g.axes;
    const Expr height(along.points()), side(across.points());
    const Expr width(tiles.columns), count((tiles.rows + g.ownRows() - 1) * tiles.columns);
    const te::TensorRef rows = te::compute(
        "data_rows", {shape[0], blocks, count, height, side, shape[4]},
        [&, &along = along, &across = across](const Exprs& i) {
            const Expr row = floorDiv(i[2], width) * Expr(along.tile);
            const Expr column = floorMod(i[2], width) * Expr(across.tile) + i[4];
            return winogradIntegerData(along, i[3], [&](int64_t k) {
                return tir::cast(kInt16, phaseElement(g.window, image,
                                                      {i[0], i[1], row + Expr(k), column, i[5]}));
            });
        },
        {}, named({"n", "ic_outer", "tile", "a", "column", "ic_inner"}));
    return te::compute(
        "data_tiles", {shape[0], height, side, blocks, count, shape[4]},
        [&, &across = across](const Exprs& i) {
            return winogradIntegerData(across, i[2], [&](int64_t k) {
                return te::at(rows, {i[0], i[3], i[4], i[1], Expr(k), i[5]});
            });
        },
        {}, named({"n", "a", "b", "ic_outer", "tile", "ic_inner"}));
}

/// Sign and all of the lower or the higher half of a word.
Expr halfOf(const Expr& word, int64_t half)
{
    const Expr bits = tir::intImm(16, kInt32);
    const auto shifted = [&](tir::Intrinsic shift, const Expr& x) {
        return tir::call(shift, kInt32, {x, bits});
    };
    return shifted(tir::Intrinsic::ShiftRight,
                   half == 1 ? word : shifted(tir::Intrinsic::ShiftLeft, word));
}

/// The channels of one element of the weight.
Expr productOf(const Geometry& g, const Expr& filter, const std::function<Expr(const Expr&)>& data,
               const Expr& k)
{
    const auto widened = [&](const Expr& at) { return tir::cast(kInt32, data(at)); };
    if (g.perWord == 1) return widened(k) * tir::cast(kInt32, filter);
    const Expr first = k * Expr(g.perWord);
    return widened(first) * halfOf(filter, 0) + widened(first + Expr(1)) * halfOf(filter, 1);
}

/// M[n, a, b, o_outer, t, o_inner]: sums over channels of data times filters at each point.
te::TensorRef productsOf(const Geometry& g, const Tiles& tiles, const te::TensorRef& data,
                         const te::TensorRef& weight, const Expr& outBlocks)
{
    const Exprs& d = data->shape(); // n, a, b, c_outer, t, c_inner
    const Expr ratio(g.kernelBlock / g.outBlock), out(g.outBlock);
    const Expr ownBlocks = floorDiv(d[3], Expr(g.phases())), width(tiles.columns);
    const auto blockOf = [&](const Expr& k) { return g.ownRows() == 1 ? k : floorMod(k, d[3]); };
    const auto tileOf = [&](const Expr& tile, const Expr& k) {
        return g.ownRows() == 1 ? tile : tile + floorDiv(k, d[3]) * width;
    };
    Attrs facts = named({"n", "a", "b", "oc_outer", "tile", "oc_inner", "ic_outer", "ic_inner"});
    facts.set("tile_size", std::vector<int64_t>{g.axes[0].tile, g.axes[1].tile});
    facts.set("tile_columns", tiles.columns);
    facts.set("phases", g.phases());
    return te::reduce(
        "products", {d[0], d[1], d[2], outBlocks, Expr(tiles.rows * tiles.columns), out},
        {d[3] * Expr(g.ownRows()), floorDiv(d[5], Expr(g.perWord))}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            const Expr filter = te::at(weight, {floorDiv(i[3], ratio), i[1], i[2], k[0], k[1],
                                                floorMod(i[3], ratio) * out + i[5]});
            const auto element = [&](const Expr& channel) {
                return te::at(data, {i[0], i[1], i[2], blockOf(k[0]), tileOf(i[4], k[0]), channel});
            };
            const Expr product = productOf(g, filter, element, k[1]);
            const Expr isNeeded =
                hasFilters(g.window, g.points(), {i[1], i[2]}, floorDiv(k[0], ownBlocks));
            if (!isNeeded.get()) return product;
            return tir::call(tir::Intrinsic::IfThenElse, kInt32,
                             {isNeeded, product, tir::intImm(0, kInt32)});
        },
        "conv2d_winograd", std::move(facts));
}

/// Y[n, o_outer, t, y, x, o_inner]: multiples of the result, by tiles.
te::TensorRef resultTiles(const Geometry& g, const te::TensorRef& products)
{
    const Exprs& p = products->shape(); // n, a, b, o_outer, t, o_inner
    const Expr height(g.axes[0].tile), side(g.axes[1].tile);
    const te::TensorRef rows = te::compute(
        "result_rows", {p[0], p[3], p[4], height, p[2], p[5]},
        [&](const Exprs& i) {
            return winogradIntegerResult(g.axes[0], i[3], [&](int64_t k) {
                return te::at(products, {i[0], Expr(k), i[4], i[1], i[2], i[5]});
            });
        },
        {}, named({"n", "oc_outer", "tile", "y", "b", "oc_inner"}));
    return te::compute(
        "result_tiles", {p[0], p[3], p[4], height, side, p[5]},
        [&](const Exprs& i) {
            return winogradIntegerResult(g.axes[1], i[4], [&](int64_t k) {
                return te::at(rows, {i[0], i[1], i[2], i[3], Expr(k), i[5]});
            });
        },
        {}, named({"n", "oc_outer", "tile", "y", "x", "oc_inner"}));
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto g = geometry(op);
    if (!g) return g.error();
    const std::vector<int64_t> out = constants(op.results[0].shape);
    const int64_t rows = g->axes[0].tile, columns = g->axes[1].tile;
    const Tiles tiles{(out[2] + rows - 1) / rows, (out[3] + columns - 1) / columns};
    const te::TensorRef data = padForWindow(in[0], 2, withWholePhases(g->window),
                                            {tiles.rows * rows, tiles.columns * columns},
                                            tir::intImm(intAttr(op, "pad_value"), in[0]->dtype()));
    const te::TensorRef result = resultTiles(
        *g, productsOf(*g, tiles, transformedData(*g, data, tiles), in[1], Expr(out[1])));
    const Expr height(rows), side(columns), width(tiles.columns);
    const int64_t factor = winogradIntegerFactor(g->axes[0]) * winogradIntegerFactor(g->axes[1]);
    return te::Tensors{te::compute("conv", extents(op.results[0].shape), [&](const Exprs& i) {
        const Expr tile = floorDiv(i[2], height) * width + floorDiv(i[3], side);
        return winogradIntegerQuotient(
            factor,
            te::at(result, {i[0], i[1], tile, floorMod(i[2], height), floorMod(i[3], side), i[4]}));
    })};
}

/// What the convolution computes, not the fewer steps in which it does.
Cost cost(const OpView& op)
{
    const Shape& data = op.operands[0].shape;
    const double channels = elements({kInt8, {data[1], data[4]}});
    const std::vector<int64_t> size = intsAttr(op, "kernel_size");
    const auto taps = static_cast<double>(size[0] * size[1]);
    return {2 * taps * elements(op.results[0]) * channels, bytesMoved(op)};
}

CallMethod variant(const OpView& op)
{
    const auto pair = [&](const char* name) {
        const std::vector<int64_t> sides = intsAttr(op, name);
        return std::array<int, 2>{static_cast<int>(sides[0]), static_cast<int>(sides[1])};
    };
    return {.kind = Method::Winograd,
            .isInt8 = true,
            .tile = pair("tile"),
            .window = pair("kernel_size")};
}

constexpr OperandSpec kOperands[] = {
    {"data", "[N, C/b, H, W, b], 8-bit integers"},
    {"weight",
     "[O/k, p, q, s * s * C/b, b, k] with s the stride, int16: points of filters of int8 "
     "of each phase, or of each row where p is 1, multiples of those of Winograd's "
     "method that leave no fraction (24 "
     "times along an axis of F(4, 3)); or int32, [.., b/2, k]: those of two channels, the "
     "first in the lower half"}};
constexpr AttrSpec kAttrs[] = {
    {"tile", "int[2]", "results of a tile; p and q are as many and the taps of a phase less one",
     "[4, 4]"},
    {"kernel_size", "int[2]", "height and width", "[3, 3]"},
    kStridesAttr,
    {"padding", "int[4]", "added at top, left, bottom, right", "[0, 0, 0, 0]"},
    {"dilation", "int[2]", "1", "[1, 1]"},
    {"pad_value", "int", "what padding adds: the zero point of data", "0"},
    {"out_layout", "string", "NCHW<o>c; k is a multiple of o"}};

} // namespace

extern constinit const OpDef qnnWinogradConv2dNchwcOp = {
    .name = "qnn.contrib_conv2d_winograd_NCHWc",
    .doc =
        "qnn.contrib_conv2d_NCHWc by Winograd's minimal filtering along one axis, of 3, 4, 6 or 8 "
        "points, or along both with at most three taps, in integers modulo 2^32: a multiple of the "
        "sums, divided exactly; the same where these are less than 2^25 in magnitude",
    .family = Family::Convolution,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::OutEwiseFusable,
    .isBatched = true,
    .variant = variant,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 6, 7, 4), int8], %w: Tensor[(1, 6, 6, 2, 4, 16), int16] "
               "=> qnn.contrib_conv2d_winograd_NCHWc(%x, %w, out_layout=\"NCHW4c\", pad_value=3, "
               "padding=[1, 1, 1, 1])",
};

} // namespace tenon::compiler
