// SPDX-License-Identifier: Apache-2.0
// Operators that sample pictures at computed positions: GridSample, RoiAlign, DeformConv; and
// AffineGrid, which computes positions, and MaxRoiPool, which takes maxima of regions.
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/dynamic.h"
#include "compiler/frontend/onnx/kernel_window.h"
#include "compiler/frontend/onnx/sampling.h"
#include "core/base/text.h"

#include <limits>

namespace tenon::compiler {
namespace {

std::optional<SampleMode> sampleModeOf(const std::string& name)
{
    if (name == "nearest") return SampleMode::Nearest;
    if (name == "linear" || name == "bilinear") return SampleMode::Linear;
    if (name == "cubic" || name == "bicubic") return SampleMode::Cubic;
    return std::nullopt;
}

std::optional<Outside> outsideOf(const std::string& name)
{
    if (name == "zeros") return Outside::Zeros;
    if (name == "border") return Outside::Border;
    if (name == "reflection") return Outside::Reflection;
    return std::nullopt;
}

/// One coordinate of points [.., P, coordinates] at `index`.
ValueRef coordinate(Formula& f, ValueRef points, int64_t index)
{
    const int64_t last = f.rank(points) - 1;
    return f.squeeze(f.slice(points, last, index, index + 1), {last});
}

} // namespace

void convertGridSample(NodeImport& node)
{
    const std::vector<int64_t> shape = node.shape(0), grid = node.shape(1);
    const std::string modeName = node.string("mode", "linear");
    const std::string paddingName = node.string("padding_mode", "zeros");
    const bool isAligned = node.integer("align_corners", 0) != 0;
    if (node.hasFailed()) return;
    const auto mode = sampleModeOf(modeName);
    const auto outside = outsideOf(paddingName);
    const size_t axes = shape.size() < 3 ? 1 : shape.size() - 2;
    if (!mode || !outside) {
        node.fail(DiagnosticCode::BadAttribute,
                  "mode is " + quoted(modeName) + " and padding_mode " + quoted(paddingName),
                  mode ? "padding_mode" : "mode");
        return;
    }
    if (shape.size() < 3 || grid.size() != shape.size() || grid[0] != shape[0] ||
        grid.back() != static_cast<int64_t>(axes)) {
        node.fail(DiagnosticCode::ShapeMismatch, "a grid (" + join(grid, ", ") +
                                                     ") does not fit an input (" +
                                                     join(shape, ", ") + ")");
        return;
    }
    Formula f(node);
    const DataType dtype = node.type(0).dtype;
    const DataType inner = dtype.isFloat() ? dtype : kFloat32;
    const std::vector<int64_t> outer(grid.begin() + 1, grid.end() - 1);
    const ValueRef points = f.reshape(node.input(1), {grid[0], elementCount(outer), grid.back()});
    std::vector<ValueRef> positions;
    for (size_t i = 0; i < axes; ++i) {
        // The grid counts axes from the innermost; -1 and 1 are the two ends of each.
        const auto extent = static_cast<double>(shape[2 + i]);
        const ValueRef from0To2 =
            f.add(coordinate(f, points, static_cast<int64_t>(axes - 1 - i)), 1);
        positions.push_back(isAligned ? f.multiply(f.divide(from0To2, 2), extent - 1)
                                      : f.divide(f.subtract(f.multiply(from0To2, extent), 1), 2));
    }
    Sampling sampling(node, f.cast(node.input(0), inner));
    sampling.reflectAtCentres(isAligned);
    const ValueRef samples =
        sampling.sum(sampling.terms(f.iota(shape[0], 0, 2), positions, *mode, *outside));
    std::vector<int64_t> result{shape[0], shape[1]};
    result.insert(result.end(), outer.begin(), outer.end());
    node.output(0, f.cast(f.reshape(f.transpose(samples, {0, 2, 1}), result), dtype));
}

void convertAffineGrid(NodeImport& node)
{
    const bool isAligned = node.integer("align_corners", 0) != 0;
    if (!constantShape(node.type(0).shape) || (node.has(1) && !node.constant(1)))
        return affineGridAtRunTime(node, isAligned);
    const std::vector<int64_t> theta = node.shape(0), size = node.staticIntegers(1);
    if (node.hasFailed()) return;
    const auto axes = static_cast<int64_t>(size.size()) - 2;
    if (axes < 1 || theta != std::vector<int64_t>{size[0], axes, axes + 1}) {
        node.fail(DiagnosticCode::ShapeMismatch, "theta (" + join(theta, ", ") +
                                                     ") does not fit the size (" +
                                                     join(size, ", ") + ")");
        return;
    }
    const std::vector<int64_t> extents(size.begin() + 2, size.end());
    const int64_t points = limitedCount(extents);
    if (points < 1 || points > kMaxMadeUp) {
        node.fail(DiagnosticCode::ShapeMismatch, "the size (" + join(size, ", ") + ") is unusable");
        return;
    }
    // Homogeneous coordinates, innermost axis first.
    std::vector<double> values;
    for (int64_t row = axes; row-- > 0;)
        for (int64_t flat = 0; flat < points; ++flat) {
            int64_t below = 1;
            for (int64_t i = axes - 1; i > row; --i) below *= extents[static_cast<size_t>(i)];
            const int64_t extent = extents[static_cast<size_t>(row)];
            const auto at = static_cast<double>(flat / below % extent);
            const auto count = static_cast<double>(extent);
            values.push_back(!isAligned    ? (2 * at + 1) / count - 1
                             : extent == 1 ? 0
                                           : 2 * at / (count - 1) - 1);
        }
    values.insert(values.end(), static_cast<size_t>(points), 1);
    Formula f(node);
    const ValueRef base = f.numbers(values, {1, axes + 1, points}, node.type(0).dtype);
    const ValueRef positions = f.transpose(
        f.matmul(node.input(0), f.broadcast(base, {size[0], axes + 1, points})), {0, 2, 1});
    std::vector<int64_t> result{size[0]};
    result.insert(result.end(), extents.begin(), extents.end());
    result.push_back(axes);
    node.output(0, f.reshape(positions, result));
}

namespace {

struct Regions
{
    int64_t count = 0; ///< of regions
    int64_t height = 1;
    int64_t width = 1; ///< of each region's result
    int64_t samples = 1;
    double scale = 1;
    bool isHalfPixel = true;
};

/// Positions [regions, points] along one axis: `samples` in each of `extent` bins between two
/// columns of the regions. `isRow`: the axis is the outer one of the points.
ValueRef binPositions(NodeImport& node, const Regions& r, bool isRow)
{
    Formula f(node);
    const double shift = r.isHalfPixel ? 0.5 : 0;
    const auto edge = [&](int64_t column) {
        return f.subtract(f.multiply(f.slice(node.input(1), 1, column, column + 1), r.scale),
                          shift);
    };
    const ValueRef start = edge(isRow ? 1 : 0);
    ValueRef length = f.subtract(edge(isRow ? 3 : 2), start);
    if (!r.isHalfPixel) length = f.call("maximum", {length, f.number(1, length)});
    const int64_t extent = isRow ? r.height : r.width;
    const int64_t own = extent * r.samples;
    const int64_t other = (isRow ? r.width : r.height) * r.samples;
    std::vector<double> steps;
    for (int64_t i = 0; i < own; ++i)
        steps.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(own));
    const ValueRef along =
        f.add(start, f.multiply(length, f.numbers(steps, {1, own}, node.type(1).dtype)));
    const std::vector<int64_t> wide = isRow ? std::vector<int64_t>{r.count, own, other}
                                            : std::vector<int64_t>{r.count, other, own};
    return f.reshape(f.broadcast(f.expand(along, isRow ? 2 : 1), wide), {r.count, own * other});
}

} // namespace

void convertRoiAlign(NodeImport& node)
{
    const std::vector<int64_t> shape = node.shape(0), rois = node.shape(1);
    Regions r{.height = node.integer("output_height", 1),
              .width = node.integer("output_width", 1),
              .samples = node.integer("sampling_ratio", 0),
              .scale = node.number("spatial_scale", 1)};
    const std::string mode = node.string("mode", "avg");
    r.isHalfPixel = node.opset() >= 16 &&
                    node.string("coordinate_transformation_mode", "half_pixel") == "half_pixel";
    if (node.hasFailed()) return;
    if (r.samples == 0) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "sampling_ratio 0 takes as many samples as each region's size in the data asks "
                  "for, which is not supported; export with a fixed sampling_ratio",
                  "sampling_ratio");
        return;
    }
    if (shape.size() != 4 || rois.size() != 2 || rois[1] != 4 || r.height < 1 || r.width < 1 ||
        r.samples < 0 || r.samples > 4096 ||
        limitedCount({rois[0], r.height, r.width, r.samples, r.samples}) > kMaxMadeUp ||
        (mode != "avg" && mode != "max")) {
        node.fail(DiagnosticCode::BadAttribute,
                  "mode " + quoted(mode) + ", regions (" + join(rois, ", ") + ") and results of " +
                      std::to_string(r.height) + " x " + std::to_string(r.width) +
                      " do not fit the input (" + join(shape, ", ") + ")",
                  "mode");
        return;
    }
    r.count = rois[0];
    Formula f(node);
    const ValueRef y = binPositions(node, r, true), x = binPositions(node, r, false);
    // Beyond one pixel outside nothing counts; up to there the border does.
    const auto isNear = [&](ValueRef position, int64_t extent) {
        return f.both(f.compare("greater_equal", position, -1),
                      f.compare("less_equal", position, static_cast<double>(extent)));
    };
    const ValueRef counts =
        f.cast(f.both(isNear(y, shape[2]), isNear(x, shape[3])), node.type(0).dtype);
    Sampling sampling(node, node.input(0));
    const ValueRef picture = f.expand(f.cast(node.input(2), kInt64), 1);
    std::vector<ValueRef> terms =
        sampling.terms(picture, {y, x}, SampleMode::Linear, Outside::Border);
    if (node.hasFailed()) return;
    ValueRef value = terms[0];
    for (size_t i = 1; i < terms.size(); ++i)
        value = f.call(mode == "avg" ? "add" : "maximum", {value, terms[i]});
    value = f.multiply(value, f.expand(counts, 2));
    value = f.reshape(value, {r.count, r.height, r.samples, r.width, r.samples, shape[1]});
    value = f.reduce(mode == "avg" ? "mean" : "max", value, {2, 4}, Formula::Keep::No);
    node.output(0, f.transpose(value, {0, 3, 1, 2}));
}

namespace {

/// Pixels [regions, bins, extent] that belong to each bin of each region along one axis.
ValueRef binMask(NodeImport& node, int64_t firstColumn, int64_t bins, int64_t extent)
{
    Formula f(node);
    const double scale = node.number("spatial_scale", 1);
    const auto edge = [&](int64_t column) {
        const ValueRef at = f.slice(node.input(1), 1, column, column + 1);
        return f.apply("floor", f.add(f.multiply(at, scale), 0.5));
    };
    const DataType dtype = node.type(1).dtype;
    const ValueRef start = edge(firstColumn);
    ValueRef length = f.add(f.subtract(edge(firstColumn + 2), start), 1);
    length = f.divide(f.call("maximum", {length, f.number(1, length)}), static_cast<double>(bins));
    const ValueRef bin = f.iota(bins, 1, 2, dtype);
    const ValueRef low = f.add(f.apply("floor", f.multiply(bin, length)), start);
    const ValueRef high = f.add(f.apply("ceil", f.multiply(f.add(bin, 1), length)), start);
    const ValueRef pixel = f.iota(extent, 2, 3, dtype);
    return f.both(f.call("greater_equal", {pixel, f.expand(low, 2)}),
                  f.call("less", {pixel, f.expand(high, 2)}));
}

} // namespace

void convertMaxRoiPool(NodeImport& node)
{
    const std::vector<int64_t> shape = node.shape(0), rois = node.shape(1);
    const std::vector<int64_t> pooled = node.integers("pooled_shape", {});
    if (node.hasFailed()) return;
    if (shape.size() != 4 || rois.size() != 2 || rois[1] != 5 || pooled.size() != 2 ||
        pooled[0] < 1 || pooled[1] < 1 || pooled[0] > 4096 || pooled[1] > 4096) {
        node.fail(DiagnosticCode::BadAttribute,
                  "pooled_shape [" + join(pooled, ", ") + "] and regions (" + join(rois, ", ") +
                      ") do not fit the input (" + join(shape, ", ") + ")",
                  "pooled_shape");
        return;
    }
    Formula f(node);
    const ValueRef picture = f.cast(f.squeeze(f.slice(node.input(1), 1, 0, 1), {1}), kInt64);
    const ValueRef x = f.take(node.input(0), picture, 0); // [R, C, H, W]
    const ValueRef nothing =
        node.scalar(-std::numeric_limits<double>::infinity(), node.type(0).dtype);
    const ValueRef columns = binMask(node, 1, pooled[1], shape[3]);
    const ValueRef rows = binMask(node, 2, pooled[0], shape[2]);
    ValueRef out = f.where(f.expand(columns, 1, 2), f.expand(x, 3), nothing);
    out = f.reduce("max", out, {4}, Formula::Keep::No);          // [R, C, H, PW]
    out = f.expand(f.transpose(out, {0, 1, 3, 2}), 2);           // [R, C, 1, PW, H]
    out = f.where(f.expand(f.expand(rows, 2), 1), out, nothing); // [R, C, PH, PW, H]
    out = f.reduce("max", out, {4}, Formula::Keep::No);
    const ValueRef isEmpty = f.call("equal", {out, nothing});
    node.output(0, f.where(isEmpty, f.number(0, out), out));
}

namespace {

/// The geometry of a deformable convolution of two axes.
struct Deformed
{
    std::vector<int64_t> shape;  ///< of the input
    std::vector<int64_t> weight; ///< shape
    std::vector<int64_t> output; ///< spatial
    KernelWindow window;
    int64_t groups = 1;
    int64_t offsetGroups = 1;
    int64_t kernel() const { return elementCount(window.kernel); }
    int64_t points() const { return elementCount(output); }
};

Deformed deformedOf(NodeImport& node)
{
    Deformed d{.shape = node.shape(0), .weight = node.shape(1)};
    const std::vector<int64_t> offset = node.shape(2);
    d.groups = node.integer("group", 1);
    d.offsetGroups = node.integer("offset_group", 1);
    if (node.hasFailed()) return d;
    const bool isPlausible = d.shape.size() >= 3 && d.weight.size() == d.shape.size() &&
                             offset.size() == d.shape.size() && d.groups >= 1 &&
                             d.offsetGroups >= 1 && d.shape[1] % d.offsetGroups == 0 &&
                             d.weight[0] % d.groups == 0 && offset[0] == d.shape[0];
    if (isPlausible) {
        d.window = readKernelWindow(node, {d.weight.begin() + 2, d.weight.end()});
        d.output.assign(offset.begin() + 2, offset.end());
        const auto axes = static_cast<int64_t>(d.output.size());
        const bool isSmall =
            limitedCount(d.window.kernel) <= 4096 && limitedCount(offset) <= kMaxMadeUp;
        if (node.hasFailed() || (isSmall && d.shape[1] == d.weight[1] * d.groups &&
                                 offset[1] == d.offsetGroups * d.kernel() * axes))
            return d;
    }
    node.fail(DiagnosticCode::ShapeMismatch, "weight (" + join(d.weight, ", ") + ") and offset (" +
                                                 join(offset, ", ") + ") do not fit the input (" +
                                                 join(d.shape, ", ") + ")");
    return d;
}

/// Where the kernel's elements lie before they are displaced: [1, kernel, points] along `axis`.
ValueRef regularPositions(Formula& f, const Deformed& d, size_t axis, DataType dtype)
{
    std::vector<double> values;
    const auto along = [&](int64_t flat, const std::vector<int64_t>& extents) {
        for (size_t i = extents.size(); --i > axis;) flat /= extents[i];
        return flat % extents[axis];
    };
    for (int64_t k = 0; k < d.kernel(); ++k)
        for (int64_t o = 0; o < d.points(); ++o)
            values.push_back(static_cast<double>(
                along(o, d.output) * d.window.strides[axis] - d.window.padBegin[axis] +
                along(k, d.window.kernel) * d.window.dilations[axis]));
    return f.numbers(values, {1, d.kernel(), d.points()}, dtype);
}

} // namespace

void convertDeformConv(NodeImport& node)
{
    const Deformed d = deformedOf(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const int64_t batch = d.shape[0], rows = batch * d.offsetGroups, kernel = d.kernel();
    const auto axes = static_cast<int64_t>(d.output.size());
    const ValueRef offset = f.reshape(node.input(2), {rows, kernel, axes, d.points()});
    std::vector<ValueRef> positions;
    for (int64_t a = 0; a < axes; ++a) {
        const ValueRef moved =
            f.add(f.squeeze(f.slice(offset, 2, a, a + 1), {2}),
                  regularPositions(f, d, static_cast<size_t>(a), node.type(2).dtype));
        positions.push_back(f.reshape(moved, {rows, kernel * d.points()}));
    }
    std::vector<int64_t> pictures{rows, d.shape[1] / d.offsetGroups};
    pictures.insert(pictures.end(), d.shape.begin() + 2, d.shape.end());
    Sampling sampling(node, f.reshape(node.input(0), pictures));
    ValueRef columns = sampling.sum(
        sampling.terms(f.iota(rows, 0, 2), positions, SampleMode::Linear, Outside::Zeros));
    if (node.has(4))
        columns = f.multiply(columns, f.reshape(node.input(4), {rows, kernel * d.points(), 1}));
    // [rows, kernel * points, channels] -> [batch, groups, channels * kernel, points]
    columns =
        f.transpose(f.reshape(columns, {rows, kernel, d.points(), pictures[1]}), {0, 3, 1, 2});
    columns = f.reshape(columns, {batch, d.groups, d.weight[1] * kernel, d.points()});
    const ValueRef weight =
        f.reshape(node.input(1), {1, d.groups, d.weight[0] / d.groups, d.weight[1] * kernel});
    std::vector<int64_t> result{batch, d.weight[0]};
    result.insert(result.end(), d.output.begin(), d.output.end());
    ValueRef out = f.reshape(f.matmul(f.broadcast(weight, {batch, d.groups, d.weight[0] / d.groups,
                                                           d.weight[1] * kernel}),
                                      columns),
                             result);
    if (node.has(3)) out = node.emit("nn.bias_add", {out, node.input(3)}, {{"axis", int64_t{1}}});
    node.output(0, out);
}

} // namespace tenon::compiler
