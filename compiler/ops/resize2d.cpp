// SPDX-License-Identifier: Apache-2.0
// image.resize2d: nearest, linear or cubic interpolation over both spatial axes.
#include "compiler/ops/resample.h"
#include "compiler/ops/window.h"
#include "core/base/text.h"

#include <cmath>

namespace tenon::compiler {
namespace {

using tir::Expr;

/// The factor of an axis whose size follows the data's; nothing where pixels are not repeated so.
std::optional<int64_t> repetitionsOf(const OpView& op, size_t axis)
{
    constexpr double kMost = 1 << 24;
    const std::vector<double> scales = floatsAttr(op, "scales");
    const bool isNearest = stringAttr(op, "method") == "nearest" &&
                           repeatsPixels(stringAttr(op, "coordinate_transformation_mode"),
                                         stringAttr(op, "rounding_method"));
    if (!isNearest || scales.size() != 2 || !(scales[axis] >= 1 && scales[axis] <= kMost) ||
        scales[axis] != std::floor(scales[axis]))
        return std::nullopt;
    return static_cast<int64_t>(scales[axis]);
}

Result<Types> infer(const OpView& op)
{
    const auto layout = readDataLayout(op, "layout");
    if (!layout) return layout.error();
    if (const Status ok = needRank(op, 0, layout->rank()); !ok) return ok.error();
    TensorType type = op.operands[0];
    if (!type.dtype.isFloat() && stringAttr(op, "method") != "nearest")
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "interpolates floats only but the data is " + type.dtype.text());
    const std::vector<int64_t> size = intsAttr(op, "size");
    const std::vector<double> scales = floatsAttr(op, "scales");
    for (size_t i = 0; i < 2; ++i) {
        const auto times = size[i] == 0 ? repetitionsOf(op, i) : std::nullopt;
        if (times) {
            type.shape[2 + i] = type.shape[2 + i] * Dim(*times);
            continue;
        }
        if (size[i] < 1 || size[i] > (1 << 24))
            return opError(op, DiagnosticCode::BadAttribute,
                           "has the size [" + join(size, ", ") + "]");
        type.shape[2 + i] = Dim(size[i]);
    }
    if (!floatsAttr(op, "roi").empty())
        return opError(op, DiagnosticCode::UnsupportedFeature,
                       "does not crop; `roi` must be empty");
    if (!scales.empty() && scales.size() != 2)
        return opError(op, DiagnosticCode::BadAttribute, "needs two scales or none");
    return Types{type};
}

/// One neighbour along one axis: where to read and with which weight (null: 1).
struct Tap
{
    Expr pixel;
    Expr weight;
};

std::vector<Tap> linearTaps(const Resample& axis, const Expr& o, DataType dtype)
{
    const Expr first = axis.floorPixel(o);
    const Expr f = axis.fraction(o, dtype);
    return {{axis.clamped(first, o), tir::oneOf(dtype) - f}, {axis.clamped(first + Expr(1), o), f}};
}

std::vector<Tap> cubicTaps(const Resample& axis, const Expr& o, DataType dtype, double alpha,
                           bool excludesOutside)
{
    const auto number = [&](double value) { return tir::floatImm(value, dtype); };
    const Expr t = axis.fraction(o, dtype);
    const auto far = [&](const Expr& d) { // distance in [1, 2]
        return ((d * number(alpha) - number(5 * alpha)) * d + number(8 * alpha)) * d -
               number(4 * alpha);
    };
    const auto near = [&](const Expr& d) { // distance in [0, 1]
        return (d * number(alpha + 2) - number(alpha + 3)) * d * d + number(1);
    };
    const Expr back = number(1) - t;
    std::vector<Expr> weights{far(t + number(1)), near(t), near(back), far(back + number(1))};
    const Expr first = axis.floorPixel(o);
    std::vector<Tap> taps;
    Expr total;
    for (int k = 0; k < 4; ++k) {
        const Expr pixel = first + Expr(k - 1);
        Expr weight = weights[static_cast<size_t>(k)];
        if (excludesOutside)
            weight = tir::select(pixel >= Expr(0) && pixel < Expr(axis.input), weight, number(0));
        total = total.get() ? total + weight : weight;
        taps.push_back({axis.clamped(pixel, o), weight});
    }
    if (excludesOutside)
        for (Tap& tap : taps) tap.weight = tap.weight / total;
    return taps;
}

std::vector<Tap> tapsOf(const OpView& op, const Resample& axis, const Expr& o)
{
    const std::string method = stringAttr(op, "method");
    const DataType dtype = op.operands[0].dtype;
    // Without movement along this axis every method reads the pixel itself.
    if (axis.slope == axis.divisor && axis.offset == 0 && axis.input == axis.output)
        return {{o, {}}};
    if (method == "nearest")
        return {{axis.clamped(axis.nearestPixel(o, stringAttr(op, "rounding_method")), o), {}}};
    if (method == "linear") return linearTaps(axis, o, dtype);
    return cubicTaps(axis, o, dtype, floatAttr(op, "cubic_alpha"), flagAttr(op, "exclude_outside"));
}

/// What is computed first where an element mixes several along both axes.
enum class First
{
    Element, ///< nothing: at once
    Columns, ///< every row along its columns: where rows are read more than once, as enlarging does
    Rows     ///< the mixture of rows, whose columns lie side by side
};

First firstOf(const OpView& op, const std::array<Resample, 2>& axes)
{
    // Mixing whole rows computes columns that nobody reads, too.
    constexpr int64_t kMostColumns = 8;
    const auto several = [&](const Resample& axis) { return tapsOf(op, axis, Expr(0)).size() > 1; };
    if (!several(axes[0]) || !several(axes[1])) return First::Element;
    if (axes[0].input < axes[0].output) return First::Columns;
    const bool isPlain = op.operands[0].shape.size() == 4;
    return isPlain && axes[1].input <= kMostColumns * axes[1].output ? First::Rows : First::Element;
}

/// Sum of weight * value over the taps of one axis.
template <class Value>
Expr weighted(const std::vector<Tap>& taps, Value value)
{
    Expr sum;
    for (const Tap& tap : taps) {
        const Expr part = tap.weight.get() ? value(tap.pixel) * tap.weight : value(tap.pixel);
        sum = sum.get() ? sum + part : part;
    }
    return sum;
}

/// In one step, or by way of whole rows.
te::Tensors resized(const OpView& op, const std::array<Resample, 2>& axes,
                    const te::TensorRef& data)
{
    const auto along = [&](size_t axis, const te::TensorRef& from, const Exprs& i) {
        return weighted(tapsOf(op, axes[axis], i[2 + axis]), [&](const Expr& pixel) {
            Exprs source = i;
            source[2 + axis] = pixel;
            return te::at(from, source);
        });
    };
    const Exprs shape = extents(op.results[0].shape);
    const First first = firstOf(op, axes);
    if (first == First::Element)
        return te::Tensors{te::compute(
            "resize", shape,
            [&](const Exprs& i) {
                return weighted(tapsOf(op, axes[0], i[2]), [&](const Expr& row) {
                    return weighted(tapsOf(op, axes[1], i[3]), [&](const Expr& column) {
                        Exprs source = i;
                        source[2] = row;
                        source[3] = column;
                        return te::at(data, source);
                    });
                });
            },
            "injective")};
    const size_t axis = first == First::Columns ? 1 : 0, other = 1 - axis;
    Exprs wide = shape;
    wide[2 + other] = Expr(axes[other].input);
    Attrs attrs;
    if (first == First::Rows) attrs.set("row_of_reader", int64_t{1});
    const te::TensorRef half = te::compute(
        first == First::Columns ? "resize_columns" : "resize_rows", wide,
        [&](const Exprs& i) { return along(axis, data, i); }, "", std::move(attrs));
    return te::Tensors{te::compute(
        "resize", shape, [&](const Exprs& i) { return along(other, half, i); }, "injective")};
}

/// Of data of any size.
te::TensorRef repeated(const OpView& op, const te::TensorRef& data)
{
    return te::compute(
        "resize", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source = i;
            for (const size_t axis : {0, 1})
                source[2 + axis] = floorDiv(i[2 + axis], Expr(*repetitionsOf(op, axis)));
            return te::at(data, source);
        },
        "injective");
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const std::vector<double> scales = floatsAttr(op, "scales");
    const std::string mode = stringAttr(op, "coordinate_transformation_mode");
    std::array<Resample, 2> axes;
    const bool isKnown = constantShape({op.operands[0].shape[2], op.operands[0].shape[3],
                                        op.results[0].shape[2], op.results[0].shape[3]})
                             .has_value();
    if (!isKnown && intsAttr(op, "size") == std::vector<int64_t>{0, 0})
        return te::Tensors{repeated(op, in[0])};
    for (size_t i = 0; i < 2; ++i)
        if (!op.operands[0].shape[2 + i].isConst() || !op.results[0].shape[2 + i].isConst())
            return opError(op, DiagnosticCode::DynamicShape,
                           "cannot resize rows and columns of unknown size " +
                               op.operands[0].text() + "; bind them with --shape");
    for (size_t i = 0; i < 2; ++i)
        axes[i] = makeResample(mode, op.operands[0].shape[2 + i].value(),
                               op.results[0].shape[2 + i].value(), scales.empty() ? 0 : scales[i]);
    return resized(op, axes, in[0]);
}

Cost cost(const OpView& op)
{
    const std::string method = stringAttr(op, "method");
    const double taps = method == "nearest" ? 0 : method == "linear" ? 8 : 32;
    return {taps * elements(op.results[0]), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"data", "[N, C, H, W] or [N, C/b, H, W, b]"}};
constexpr AttrSpec kAttrs[] = {
    {"size", "int[2]",
     "height and width of the result; 0: as many times the data's as `scales` says, where nearest "
     "pixels are repeated"},
    {"method", "nearest|linear|cubic", "interpolation", "\"linear\""},
    {"coordinate_transformation_mode",
     "half_pixel|half_pixel_symmetric|pytorch_half_pixel|align_corners|asymmetric|"
     "tf_half_pixel_for_nn",
     "where an output pixel falls in the input", "\"half_pixel\""},
    {"rounding_method", "round_prefer_floor|round_prefer_ceil|floor|ceil",
     "nearest: which pixel wins", "\"round_prefer_floor\""},
    {"cubic_alpha", "float", "cubic: slope parameter of the kernel", "-0.75"},
    {"exclude_outside", "int", "cubic: 1: pixels outside have no weight", "0"},
    {"roi", "float[]", "empty", "[]"},
    {"scales", "float[]", "height and width scale as stated by the model; empty: by size", "[]"},
    {"layout", "string", "NCHW or blocked like NCHW16c", "\"NCHW\""}};

} // namespace

extern constinit const OpDef resize2dOp = {
    .name = "image.resize2d",
    .doc = "y[n, c, i, j] = data interpolated at row r(i), column r(j); half_pixel: "
           "r(i) = (i + 0.5) / scale - 0.5",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Injective,
    .blockedForm = BlockedForm::ByLayout,
    .isBatched = true,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(1, 2, 4, 4), float32] => image.resize2d(%x, size=[8, 6])",
};

} // namespace tenon::compiler
