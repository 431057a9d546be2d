// SPDX-License-Identifier: Apache-2.0
// Positions and weights of a resampled axis, after ONNX's formulas for Resize.
#include "compiler/frontend/import/resize_axes.h"

#include "compiler/frontend/import/formula.h"
#include "compiler/ops/resample.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Where output element `at` falls in the input.
double sourceOf(const ResampledAxis& axis, const std::string& mode, int64_t at)
{
    const auto x = static_cast<double>(at);
    const auto input = static_cast<double>(axis.input);
    const double length = axis.scale * input; // not rounded
    const double last = input - 1;
    if (mode == "align_corners") return length == 1 ? 0 : x * last / (length - 1);
    if (mode == "asymmetric") return x / axis.scale;
    if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
    if (mode == "tf_crop_and_resize") {
        const double part = (axis.roiEnd - axis.roiBegin) * last;
        return axis.roiBegin * last + (length == 1 ? part / 2 : x * part / (length - 1));
    }
    if (mode == "pytorch_half_pixel" && length == 1) return -0.5;
    const double centre = (x + 0.5) / axis.scale - 0.5;
    if (mode != "half_pixel_symmetric") return centre;
    return input / 2 * (1 - static_cast<double>(axis.output) / length) + centre;
}

double cubic(double distance, double a)
{
    const double x = std::fabs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Weights of the taps around a position `ratio` in (0, 1] after the pixel before it; the first tap
/// is `first` pixels from that one.
struct Taps
{
    int64_t first;
    std::vector<double> weights;
};

Taps tapsAt(double ratio, double scale, const Resampling& how)
{
    const bool isLinear = how.method == "linear";
    // Downsampling without aliasing stretches the filter over all pixels it replaces.
    const double stretch = how.isAntialiased ? std::min(scale, 1.0) : 1;
    const double radius = isLinear ? 1 : 2;
    Taps out{static_cast<int64_t>(std::floor(-radius / stretch)) + 1, {}};
    double sum = 0;
    for (int64_t i = out.first; i < 2 - out.first; ++i) {
        const double distance = (static_cast<double>(i) - ratio) * stretch;
        out.weights.push_back(isLinear ? std::clamp(1 - std::fabs(distance), 0.0, 1.0)
                                       : cubic(distance, how.cubicAlpha));
        sum += out.weights.back();
    }
    for (double& weight : out.weights)
        if (how.isAntialiased) weight /= sum;
    return out;
}

} // namespace

int64_t nearestPixel(double source, const std::string& rounding)
{
    const double below = std::floor(source);
    const double ratio = source - below;
    bool goesUp = ratio > 0.5;
    if (rounding == "round_prefer_ceil") goesUp = ratio >= 0.5;
    if (rounding == "floor") goesUp = false;
    if (rounding == "ceil") goesUp = ratio > 0;
    return static_cast<int64_t>(below) + (goesUp ? 1 : 0);
}

namespace {

/// Row-major [output, input].
std::vector<double> matrixOf(const ResampledAxis& axis, const Resampling& how)
{
    std::vector<double> out(static_cast<size_t>(axis.output * axis.input), 0);
    for (int64_t o = 0; o < axis.output; ++o) {
        const double source = sourceOf(axis, how.transformation, o);
        const double before = std::ceil(source) - 1;
        Taps taps = tapsAt(source - before, axis.scale, how);
        const int64_t first = static_cast<int64_t>(before) + taps.first;
        const auto isOutside = [&](size_t i) {
            const int64_t at = first + static_cast<int64_t>(i);
            return at < 0 || at >= axis.input;
        };
        double sum = 0;
        for (size_t i = 0; i < taps.weights.size(); ++i) {
            if (how.excludesOutside && isOutside(i)) taps.weights[i] = 0;
            sum += taps.weights[i];
        }
        for (size_t i = 0; i < taps.weights.size(); ++i) {
            const int64_t at =
                std::clamp<int64_t>(first + static_cast<int64_t>(i), 0, axis.input - 1);
            out[static_cast<size_t>(o * axis.input + at)] +=
                how.excludesOutside ? taps.weights[i] / sum : taps.weights[i];
        }
    }
    return out;
}

/// The few elements that each row of a matrix weighs, side by side: [rows, count].
struct Weighed
{
    int64_t count = 0;
    std::vector<int64_t> sources;
    std::vector<double> weights;
};

Weighed weighedOf(const std::vector<double>& matrix, const ResampledAxis& axis)
{
    const auto rowAt = [&](int64_t row) { return matrix.begin() + row * axis.input; };
    const auto isUsed = [](double weight) { return weight != 0; };
    std::vector<int64_t> firsts;
    Weighed out;
    for (int64_t row = 0; row < axis.output; ++row) {
        const auto begin = rowAt(row), end = rowAt(row + 1);
        const auto first = std::find_if(begin, end, isUsed);
        const auto last = std::find_if(std::make_reverse_iterator(end),
                                       std::make_reverse_iterator(first), isUsed);
        firsts.push_back(first == end ? 0 : first - begin);
        out.count = std::max(out.count, last.base() - first);
    }
    for (int64_t row = 0; row < axis.output; ++row)
        for (int64_t i = 0; i < out.count; ++i) {
            const int64_t source = firsts[static_cast<size_t>(row)] + i;
            out.sources.push_back(std::min(source, axis.input - 1));
            out.weights.push_back(source < axis.input ? *(rowAt(row) + source) : 0);
        }
    return out;
}

/// The elements before and behind an axis.
struct Around
{
    int64_t before, behind;
};

Around around(const std::vector<int64_t>& shape, size_t at)
{
    const auto here = shape.begin() + static_cast<std::ptrdiff_t>(at);
    return {elementCount(std::vector<int64_t>(shape.begin(), here)),
            elementCount(std::vector<int64_t>(here + 1, shape.end()))};
}

/// Axis `at` of x as sums of what `weighed` says, with at least so many elements behind the axis
/// that vectors of them are added: else the axis goes in front meanwhile.
ValueRef weighedSums(NodeImport& node, ValueRef x, size_t at, const ResampledAxis& axis,
                     const Weighed& weighed)
{
    constexpr int64_t kFewestBehind = 16;
    Formula f(node);
    std::vector<int64_t> shape = f.shape(x);
    if (node.hasFailed()) return {};
    const auto [before, behind] = around(shape, at);
    const bool goesInFront = behind < kFewestBehind && before > 1;
    const std::vector<int64_t> view{before, axis.input, behind};
    x = f.reshape(x, view);
    if (goesInFront) x = f.transpose(x, {1, 0, 2});
    x = f.reshape(x, goesInFront ? Formula::Axes{1, axis.input, before * behind} : view);
    const ValueRef taken = f.take(x, f.integers(weighed.sources, {axis.output, weighed.count}), 1);
    const ValueRef weights =
        f.numbers(weighed.weights, {axis.output, weighed.count, 1}, f.dtype(x));
    x = f.reduce("sum", f.multiply(taken, weights), {2}, Formula::Keep::No);
    if (goesInFront) x = f.transpose(f.reshape(x, {axis.output, before, behind}), {1, 0, 2});
    shape[at] = axis.output;
    return f.reshape(x, shape);
}

ValueRef resampledAxis(NodeImport& node, ValueRef x, size_t at, const ResampledAxis& axis,
                       const Resampling& how)
{
    Formula f(node);
    const auto dimension = static_cast<int64_t>(at);
    if (how.method == "nearest") {
        std::vector<int64_t> sources;
        const bool isCrop = how.transformation == "tf_crop_and_resize";
        const Resample exact =
            makeResample(how.transformation, axis.input, axis.output, axis.scale);
        for (int64_t o = 0; o < axis.output; ++o)
            sources.push_back(std::clamp<int64_t>(
                isCrop ? nearestPixel(sourceOf(axis, how.transformation, o), how.rounding)
                       : exact.nearestPixel(tir::Expr(o), how.rounding)->integer,
                0, axis.input - 1));
        return f.take(x, f.integers(sources, {axis.output}), dimension);
    }
    const std::vector<double> matrix = matrixOf(axis, how);
    constexpr int64_t kFewest = 4; // elements of the matrix's row to one of those weighed
    if (const Weighed weighed = weighedOf(matrix, axis); kFewest * weighed.count <= axis.input)
        return weighedSums(node, x, at, axis, weighed);
    std::vector<int64_t> shape = f.shape(x);
    if (node.hasFailed()) return {};
    std::vector<int64_t> order = counted(0, f.rank(x));
    std::swap(order[at], order.back());
    const ValueRef rows = f.transpose(x, order);
    std::swap(shape[at], shape.back());
    const int64_t count = elementCount(shape) / std::max<int64_t>(axis.input, 1);
    const ValueRef product =
        f.call("nn.dense", {f.reshape(rows, {count, axis.input}),
                            f.numbers(matrix, {axis.output, axis.input}, f.dtype(x))});
    shape.back() = axis.output;
    return f.transpose(f.reshape(product, shape), order);
}

constexpr int64_t kMostColumns = 1 << 24; ///< of a picture

/// True where image.resize2d reads a few neighbours by what a whole matrix would hold.
bool hasNeighbours(const Resampling& how)
{
    const std::string& to = how.transformation;
    return how.method != "nearest" && !how.isAntialiased &&
           (to == "half_pixel" || to == "half_pixel_symmetric" || to == "pytorch_half_pixel" ||
            to == "align_corners" || to == "asymmetric");
}

/// A resize of rows and columns of pictures that `view` makes of x.
ValueRef resizedView(NodeImport& node, ValueRef x, const std::vector<int64_t>& view,
                     const ResampledAxis& rows, const ResampledAxis& columns, const Resampling& how)
{
    Formula f(node);
    return f.call("image.resize2d", {f.reshape(x, view)}, resizeAttrs(rows, columns, how));
}

/// Axis `at` by a few neighbours of each element: what is behind it are columns that stay, or it
/// is the columns itself.
ValueRef resampledByNeighbours(NodeImport& node, ValueRef x, size_t at, const ResampledAxis& axis,
                               const Resampling& how)
{
    Formula f(node);
    std::vector<int64_t> shape = f.shape(x);
    if (node.hasFailed()) return {};
    const auto [before, behind] = around(shape, at);
    const bool isLast = at + 1 == shape.size();
    if ((isLast ? before : behind) > kMostColumns) return resampledAxis(node, x, at, axis, how);
    const auto kept = [](int64_t extent) { return ResampledAxis{extent, extent, 1}; };
    x = isLast ? resizedView(node, x, {1, 1, before, axis.input}, kept(before), axis, how)
               : resizedView(node, x, {1, before, axis.input, behind}, axis, kept(behind), how);
    shape[at] = axis.output;
    return f.reshape(x, shape);
}

/// Both last axes at once.
ValueRef resampledPictures(NodeImport& node, ValueRef x, const ResampledAxis& rows,
                           const ResampledAxis& columns, const Resampling& how)
{
    Formula f(node);
    std::vector<int64_t> shape = f.shape(x);
    if (node.hasFailed()) return {};
    const size_t rank = shape.size();
    const int64_t pictures = elementCount(std::vector<int64_t>(shape.begin(), shape.end() - 2));
    x = resizedView(node, x, {1, pictures, rows.input, columns.input}, rows, columns, how);
    shape[rank - 2] = rows.output;
    shape[rank - 1] = columns.output;
    return f.reshape(x, shape);
}

/// With tf_crop_and_resize, what falls beyond the input along any axis has a value of its own.
ValueRef extrapolated(NodeImport& node, ValueRef x, const std::vector<ResampledAxis>& axes,
                      const Resampling& how)
{
    Formula f(node);
    for (size_t i = 0; i < axes.size(); ++i) {
        std::vector<int64_t> isOutside, shape(axes.size(), 1);
        for (int64_t o = 0; o < axes[i].output; ++o) {
            const double source = sourceOf(axes[i], how.transformation, o);
            isOutside.push_back(source < 0 || source > static_cast<double>(axes[i].input - 1));
        }
        if (std::count(isOutside.begin(), isOutside.end(), 1) == 0) continue;
        shape[i] = axes[i].output;
        x = f.where(f.integers(isOutside, shape, kBool), f.number(how.extrapolation, x), x);
    }
    return x;
}

} // namespace

Attrs resizeAttrs(const ResampledAxis& rows, const ResampledAxis& columns, const Resampling& how)
{
    Attrs attrs{{"size", std::vector<int64_t>{rows.output, columns.output}},
                {"method", how.method},
                {"coordinate_transformation_mode", how.transformation},
                {"scales", std::vector<double>{rows.scale, columns.scale}}};
    if (how.method == "nearest") attrs.set("rounding_method", how.rounding);
    if (how.method == "cubic") attrs.set("cubic_alpha", how.cubicAlpha);
    if (how.excludesOutside) attrs.set("exclude_outside", int64_t{1});
    return attrs;
}

ValueRef resampledAxes(NodeImport& node, const std::vector<ResampledAxis>& axes,
                       const Resampling& how)
{
    Formula f(node);
    const DataType own = node.type(0).dtype;
    const bool isMixed = how.method != "nearest" && !own.isFloat();
    ValueRef x = isMixed ? f.cast(node.input(0), kFloat32) : node.input(0);
    const bool isCrop = how.transformation == "tf_crop_and_resize";
    const auto isMoved = [&](const ResampledAxis& axis) {
        return axis.output != axis.input || axis.scale != 1 ||
               (isCrop && (axis.roiBegin != 0 || axis.roiEnd != 1));
    };
    const size_t rank = axes.size();
    const bool byNeighbours = hasNeighbours(how);
    const bool arePictures =
        byNeighbours && rank >= 2 && isMoved(axes[rank - 2]) && isMoved(axes[rank - 1]);
    if (arePictures) x = resampledPictures(node, x, axes[rank - 2], axes[rank - 1], how);
    for (size_t i = 0; i < (arePictures ? rank - 2 : rank) && !node.hasFailed(); ++i)
        if (isMoved(axes[i]))
            x = byNeighbours ? resampledByNeighbours(node, x, i, axes[i], how)
                             : resampledAxis(node, x, i, axes[i], how);
    if (isCrop) x = extrapolated(node, x, axes, how);
    return f.cast(x, own);
}

} // namespace tenon::compiler
