// SPDX-License-Identifier: Apache-2.0
// Operators over regions of a picture: RoiAlign samples in them, MaxRoiPool takes maxima.
#include "compiler/frontend/import/sampling.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

#include <limits>

namespace tenon::compiler {
namespace {

struct Regions
{
    Dim count; ///< of regions
    int64_t height = 1;
    int64_t width = 1; ///< of each region's result
    int64_t samples = 1;
    double scale = 1;
    bool isHalfPixel = true;
};

/// Positions [regions, points] along one axis: `samples` in each of `extent` bins between two
/// columns of the regions. `isRow`: the axis is the outer one of the points.
ValueRef binPositions(OnnxNode& node, const Regions& r, bool isRow)
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
    const Shape wide{r.count, isRow ? own : other, isRow ? other : own};
    const ValueRef spread = emitSized(node, "broadcast_to", {f.expand(along, isRow ? 2 : 1)}, wide,
                                      {{"shape", std::vector<int64_t>{}}});
    return reshapedTo(node, spread, {r.count, own * other});
}

/// What the attributes and shapes of a RoiAlign say, checked.
Regions regionsOf(OnnxNode& node, const std::string& mode)
{
    const Shape shape = node.type(0).shape, rois = node.type(1).shape;
    Regions r{.height = node.integer("output_height", 1),
              .width = node.integer("output_width", 1),
              .samples = node.integer("sampling_ratio", 0),
              .scale = node.number("spatial_scale", 1)};
    r.isHalfPixel = node.opset() >= 16 &&
                    node.string("coordinate_transformation_mode", "half_pixel") == "half_pixel";
    if (node.hasFailed()) return r;
    if (r.samples == 0) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "sampling_ratio 0 takes as many samples as each region's size in the data asks "
                  "for, which is not supported; export with a fixed sampling_ratio",
                  "sampling_ratio");
        return r;
    }
    if (shape.size() != 4 || !shape[1].isConst() || rois.size() != 2 || rois[1] != Dim(4) ||
        r.height < 1 || r.width < 1 || r.samples < 0 || r.samples > 4096 ||
        limitedCount({rois[0].constant().value_or(1), r.height, r.width, r.samples, r.samples}) >
            kMaxMadeUp ||
        (mode != "avg" && mode != "max")) {
        node.fail(DiagnosticCode::BadAttribute,
                  "mode " + quoted(mode) + ", regions " + shapeText(rois) + " and results of " +
                      std::to_string(r.height) + " x " + std::to_string(r.width) +
                      " do not fit the input " + shapeText(shape),
                  "mode");
        return r;
    }
    r.count = rois[0];
    return r;
}

} // namespace

void convertRoiAlign(OnnxNode& node)
{
    const std::string mode = node.string("mode", "avg");
    const Regions r = regionsOf(node, mode);
    if (node.hasFailed()) return;
    const Shape shape = node.type(0).shape;
    Formula f(node);
    const ValueRef y = binPositions(node, r, true), x = binPositions(node, r, false);
    // Beyond one pixel outside nothing counts; up to there the border does.
    const auto isNear = [&](ValueRef position, const Dim& extent) {
        return f.both(f.compare("greater_equal", position, -1),
                      f.call("less_equal", {position, sizeLike(node, extent, position)}));
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
    value = reshapedTo(node, value, {r.count, r.height, r.samples, r.width, r.samples, shape[1]});
    value = f.reduce(mode == "avg" ? "mean" : "max", value, {2, 4}, Formula::Keep::No);
    node.output(0, f.transpose(value, {0, 3, 1, 2}));
}

namespace {

/// Pixels [regions, bins, extent] that belong to each bin of each region along one axis.
ValueRef binMask(OnnxNode& node, int64_t firstColumn, int64_t bins, int64_t extent)
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

void convertMaxRoiPool(OnnxNode& node)
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

} // namespace tenon::compiler
