// SPDX-License-Identifier: Apache-2.0
// Operators that sample pictures at computed positions: GridSample, DeformConv; and AffineGrid,
// which computes positions.
#include "compiler/frontend/import/sampling.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "compiler/frontend/onnx/converters/kernel_window.h"
#include "core/base/text.h"
#include "core/tensor/dim_bounds.h"

namespace tenon::compiler {
namespace {

/// Sizes that only the run knows are compared by it.
bool mayBeEqual(const Dim& a, const Dim& b) { return a == b || !a.isConst() || !b.isConst(); }

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

/// Positions in pixels along each axis, of a grid in which -1 and 1 are the two ends of each.
std::vector<ValueRef> gridPositions(OnnxNode& node, ValueRef points, const Shape& shape,
                                    bool isAligned)
{
    Formula f(node);
    std::vector<ValueRef> positions;
    for (size_t i = 2; i < shape.size(); ++i) {
        // The grid counts axes from the innermost.
        const auto innermost = static_cast<int64_t>(shape.size() - 1 - i);
        const ValueRef from0To2 = f.add(coordinate(f, points, innermost), 1);
        const ValueRef size = sizeLike(node, shape[i] - Dim(isAligned ? 1 : 0), points);
        positions.push_back(isAligned ? f.multiply(f.divide(from0To2, 2), size)
                                      : f.divide(f.subtract(f.multiply(from0To2, size), 1), 2));
    }
    return positions;
}

} // namespace

void convertGridSample(OnnxNode& node)
{
    const Shape shape = node.type(0).shape, grid = node.type(1).shape;
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
    if (shape.size() < 3 || grid.size() != shape.size() || !mayBeEqual(grid[0], shape[0]) ||
        grid.back() != Dim(static_cast<int64_t>(axes))) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "a grid " + shapeText(grid) + " does not fit an input " + shapeText(shape));
        return;
    }
    Formula f(node);
    const DataType dtype = node.type(0).dtype;
    const DataType inner = dtype.isFloat() ? dtype : kFloat32;
    const Shape outer(grid.begin() + 1, grid.end() - 1);
    const ValueRef points = reshapedTo(node, node.input(1), {grid[0], product(outer), grid.back()});
    const std::vector<ValueRef> positions = gridPositions(node, points, shape, isAligned);
    Sampling sampling(node, f.cast(node.input(0), inner));
    sampling.reflectAtCentres(isAligned);
    const ValueRef pictures = shape[0].isConst() ? f.iota(shape[0].value(), 0, 2)
                                                 : f.expand(countedTo(node, shape[0]), 1);
    const ValueRef samples = sampling.sum(sampling.terms(pictures, positions, *mode, *outside));
    Shape result{shape[0], shape[1]};
    result.insert(result.end(), outer.begin(), outer.end());
    node.output(0, f.cast(reshapedTo(node, f.transpose(samples, {0, 2, 1}), result), dtype));
}

namespace {

/// Coordinates from -1 to 1 of every point, a row per axis from the innermost on and a row of ones.
std::vector<double> homogeneousGrid(const std::vector<int64_t>& extents, bool isAligned)
{
    const int64_t points = elementCount(extents);
    std::vector<double> values;
    for (size_t axis = extents.size(); axis-- > 0;)
        for (int64_t flat = 0; flat < points; ++flat) {
            int64_t below = 1;
            for (size_t i = axis + 1; i < extents.size(); ++i) below *= extents[i];
            const auto at = static_cast<double>(flat / below % extents[axis]);
            const auto count = static_cast<double>(extents[axis]);
            values.push_back(!isAligned           ? (2 * at + 1) / count - 1
                             : extents[axis] == 1 ? 0
                                                  : 2 * at / (count - 1) - 1);
        }
    values.insert(values.end(), static_cast<size_t>(points), 1);
    return values;
}

} // namespace

void convertAffineGrid(OnnxNode& node)
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
    Formula f(node);
    const ValueRef base =
        f.numbers(homogeneousGrid(extents, isAligned), {1, axes + 1, points}, node.type(0).dtype);
    const ValueRef positions = f.transpose(
        f.matmul(node.input(0), f.broadcast(base, {size[0], axes + 1, points})), {0, 2, 1});
    std::vector<int64_t> result{size[0]};
    result.insert(result.end(), extents.begin(), extents.end());
    result.push_back(axes);
    node.output(0, f.reshape(positions, result));
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

Deformed deformedOf(OnnxNode& node)
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

void convertDeformConv(OnnxNode& node)
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
