// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample: two spatial axes by the planar operator, everything else axis by axis.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/resize_axes.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "compiler/frontend/onnx/converters/nearest_pixels.h"
#include "compiler/ops/resample.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tenon::compiler {
namespace {

constexpr double kMaxExtent = 1 << 24;

constexpr double kMaxEntries = 1 << 23; ///< of an interpolation matrix

/// Resize's arguments, one entry per axis.
struct Extents
{
    std::vector<int64_t> input;
    std::vector<int64_t> output;
    std::vector<double> scales;
};

bool checkExtent(OnnxNode& node, double extent, size_t axis)
{
    if (extent >= 0 && extent <= kMaxExtent) return true;
    node.fail(DiagnosticCode::BadAttribute,
              "the size " + exact(extent) + " of axis " + std::to_string(axis) + " is not usable");
    return false;
}

/// The input's shape with 1 for every open dimension that stays as it is; nothing when one does
/// not.
std::optional<std::vector<int64_t>>
resizedShape(const Shape& shape, const std::vector<double>& scales, const Shape& sizes)
{
    std::vector<int64_t> out;
    for (size_t i = 0; i < shape.size(); ++i) {
        const bool isKept =
            (i < scales.size() && scales[i] == 1) || (i < sizes.size() && sizes[i] == shape[i]);
        const bool isOpen = !shape[i].isConst() || (i < sizes.size() && !sizes[i].isConst());
        if (isOpen && !isKept) return std::nullopt;
        out.push_back(isOpen ? 1 : shape[i].value());
    }
    return out;
}

/// Output extents of all axes from `scales` (floor) or as given.
Extents extentsOf(OnnxNode& node, std::vector<int64_t> input, const std::vector<double>& scales,
                  const Shape& sizes)
{
    Extents out{std::move(input), {}, scales};
    for (size_t i = 0; i < sizes.size(); ++i)
        out.output.push_back(sizes[i].isConst() ? sizes[i].value() : 1);
    if (node.hasFailed()) return out;
    const size_t rank = out.input.size();
    if ((out.output.empty() ? scales.size() : out.output.size()) != rank) {
        node.fail(DiagnosticCode::BadAttribute,
                  "scales or sizes need one entry per axis of the shape (" + join(out.input, ", ") +
                      ")");
        return out;
    }
    for (size_t i = 0; i < rank && out.output.size() < rank + (scales.empty() ? 1 : 0); ++i) {
        const auto extent = static_cast<double>(out.input[i]);
        if (scales.empty()) {
            if (!checkExtent(node, static_cast<double>(out.output[i]), i)) return out;
            out.scales.push_back(extent > 0 ? static_cast<double>(out.output[i]) / extent : 1);
            continue;
        }
        if (!(scales[i] > 0) || !checkExtent(node, std::floor(extent * scales[i]), i)) {
            node.fail(DiagnosticCode::BadAttribute, "the scale " + exact(scales[i]) + " of axis " +
                                                        std::to_string(i) + " is not usable");
            return out;
        }
        out.output.push_back(static_cast<int64_t>(std::floor(extent * scales[i])));
    }
    return out;
}

/// The planar operator covers the two last axes of a picture, or the last one of lines, without the
/// rarer options.
bool isPlanar(const Extents& e, const Resampling& how, DataType dtype)
{
    const bool isCommon =
        how.transformation == "half_pixel" || how.transformation == "align_corners" ||
        how.transformation == "asymmetric" || how.transformation == "pytorch_half_pixel";
    return isCommon && !how.isAntialiased && (e.input.size() == 4 || e.input.size() == 3) &&
           e.output[0] == e.input[0] && e.output[1] == e.input[1] &&
           (dtype.isFloat() || how.method == "nearest");
}

/// Lines are pictures of one row.
ValueRef resizedPlanes(OnnxNode& node, const Extents& e, const Resampling& how)
{
    const bool isLine = e.input.size() == 3;
    ValueRef picture = node.input(0);
    if (isLine)
        picture =
            node.emit("reshape", {picture},
                      {{"newshape", std::vector<int64_t>{e.input[0], e.input[1], 1, e.input[2]}}});
    const ResampledAxis columns{e.input.back(), e.output.back(), e.scales.back()};
    const ResampledAxis rows =
        isLine ? ResampledAxis{} : ResampledAxis{e.input[2], e.output[2], e.scales[2]};
    picture = node.emit("image.resize2d", {picture}, resizeAttrs(rows, columns, how));
    return isLine ? node.emit("reshape", {picture}, {{"newshape", e.output}}) : picture;
}

/// By the pixels that binary32 finds, where exact arithmetic would take others; else false.
bool resizeByPixels(OnnxNode& node, const Extents& e, const Resampling& how)
{
    std::vector<std::optional<NearestPixels>> all;
    for (size_t i = 0; i < e.input.size(); ++i) {
        const ResampledAxis axis{e.input[i], e.output[i], e.scales[i]};
        const bool isMoved = axis.output != axis.input || axis.scale != 1;
        all.push_back(isMoved ? nearestPixels(axis, how) : std::nullopt);
    }
    if (std::all_of(all.begin(), all.end(),
                    [](const auto& each) { return !each || each->isExact; }))
        return false;
    Formula f(node);
    ValueRef x = node.input(0);
    for (size_t i = 0; i < all.size(); ++i)
        if (all[i])
            x = f.take(x, f.integers(all[i]->sources, {e.output[i]}), static_cast<int64_t>(i));
    node.output(0, x);
    return true;
}

/// False when only the graph can do it.
bool resize(OnnxNode& node, const Extents& e, const Resampling& how, const std::vector<double>& roi)
{
    if (node.hasFailed()) return true;
    const bool isCrop = how.transformation == "tf_crop_and_resize";
    if (e.output == e.input && !isCrop) {
        node.forward(0, 0);
        return true;
    }
    if (resizeByPixels(node, e, how)) return true;
    const bool isConstant = constantShape(node.type(0).shape).has_value();
    if (isPlanar(e, how, node.type(0).dtype) && (e.input.size() == 4 || isConstant)) {
        node.output(0, resizedPlanes(node, e, how));
        return true;
    }
    if (!isConstant) return false;
    std::vector<ResampledAxis> axes;
    for (size_t i = 0; i < e.input.size(); ++i) {
        if (static_cast<double>(e.input[i]) * static_cast<double>(e.output[i]) > kMaxEntries ||
            e.input[i] < 1) {
            node.fail(DiagnosticCode::UnsupportedFeature,
                      "axis " + std::to_string(i) + " of " + std::to_string(e.input[i]) +
                          " elements cannot be resampled to " + std::to_string(e.output[i]));
            return true;
        }
        axes.push_back({e.input[i], e.output[i], e.scales[i]});
        if (!isCrop || roi.empty()) continue;
        axes.back().roiBegin = roi[i];
        axes.back().roiEnd = roi[e.input.size() + i];
    }
    node.output(0, resampledAxes(node, axes, how));
    return true;
}

/// How many times its size each axis gets, where that is a whole number for all of them.
std::vector<double> repetitionsOf(const Shape& shape, const std::vector<double>& scales,
                                  const Shape& sizes)
{
    constexpr int kMost = 16;
    std::vector<double> times;
    for (size_t i = 0; i < shape.size(); ++i)
        for (int n = 1; n <= kMost && times.size() == i; ++n)
            if (i < sizes.size() ? sizes[i] == shape[i] * Dim(n) : scales[i] == n)
                times.push_back(n);
    return times;
}

/// Planes of open size whose pixels are repeated; false where they are not.
bool repeatPixels(OnnxNode& node, const Resampling& how, const std::vector<double>& scales,
                  const Shape& sizes)
{
    constexpr size_t kRank = 4;
    const Shape& shape = node.type(0).shape;
    if (shape.size() != kRank || (sizes.empty() ? scales.size() : sizes.size()) != kRank ||
        how.method != "nearest" || !repeatsPixels(how.transformation, how.rounding))
        return false;
    const std::vector<double> times = repetitionsOf(shape, scales, sizes);
    if (times.size() != kRank || times[0] != 1 || times[1] != 1) return false;
    const ResampledAxis rows{0, 0, times[2]}, columns{0, 0, times[3]};
    node.output(0, node.emit("image.resize2d", {node.input(0)}, resizeAttrs(rows, columns, how)));
    return true;
}

std::string methodOf(OnnxNode& node)
{
    const std::string mode = node.string("mode", "nearest");
    if (mode == "nearest" || mode == "cubic") return mode;
    if (mode == "linear" || mode == "bilinear") return "linear";
    node.fail(DiagnosticCode::BadAttribute, "mode is " + quoted(mode), "mode");
    return "nearest";
}

/// Entries for `axes` put into a list over all axes.
template <class T>
std::vector<T> spread(OnnxNode& node, const std::vector<T>& values, std::vector<T> all)
{
    const std::vector<int64_t> axes = node.axesOf(node.integers("axes", {}), node.rank(0));
    if (axes.empty() || node.hasFailed()) return values;
    if (values.size() != axes.size()) {
        node.fail(DiagnosticCode::BadAttribute, "axes and scales or sizes differ in length",
                  "axes");
        return values;
    }
    for (size_t i = 0; i < axes.size(); ++i) all[static_cast<size_t>(axes[i])] = values[i];
    return all;
}

} // namespace

namespace {

/// Without a nearest_mode, an axis that shrinks takes the pixel behind (ONNX 1.5's
/// test_resize_downsample_nearest), one that grows the one before.
std::string roundingBefore11(const std::vector<double>& scales)
{
    const bool shrinks = std::any_of(scales.begin(), scales.end(), [](double s) { return s < 1; });
    const bool grows = std::any_of(scales.begin(), scales.end(), [](double s) { return s > 1; });
    return shrinks && grows ? kByDirection : shrinks ? "ceil" : "floor";
}

/// `input` of the node holds the scales, unless they come as an attribute.
void resizeByScales(OnnxNode& node, const std::vector<double>& scales, size_t input)
{
    Resampling how{methodOf(node), "asymmetric", "floor"};
    const Shape shape = node.type(0).shape;
    if (node.hasFailed()) return;
    if (how.method == "nearest") how.rounding = roundingBefore11(scales);
    const auto known = resizedShape(shape, scales, {});
    if (how.rounding == kByDirection && !known)
        return node.fail(DiagnosticCode::DynamicShape,
                         "axes of open size that grow beside others that shrink take pixels that "
                         "depend on the size; bind it with --shape");
    const Extents extents =
        extentsOf(node, known.value_or(std::vector<int64_t>(shape.size(), 1)), scales, {});
    if (node.hasFailed()) return;
    if (known && resize(node, extents, how, {})) return;
    if (!repeatPixels(node, how, scales, {})) resizeAtRunTime(node, how, input, scales);
}

} // namespace

void convertUpsampleAttr(OnnxNode& node) { resizeByScales(node, node.numbers("scales", {}), 1); }

void convertUpsample(OnnxNode& node)
{
    if (node.isRuntime(1)) return resizeAtRunTime(node, {methodOf(node), "asymmetric", "floor"}, 1);
    resizeByScales(node, node.staticNumbers(1), 1);
}

void convertResize10(OnnxNode& node) { convertUpsample(node); }

namespace {

Resampling resamplingOf(OnnxNode& node)
{
    Resampling how{.method = methodOf(node)};
    how.transformation = node.string("coordinate_transformation_mode", "half_pixel");
    how.rounding = node.string("nearest_mode", "round_prefer_floor");
    how.cubicAlpha = node.number("cubic_coeff_a", -0.75);
    how.excludesOutside = node.integer("exclude_outside", 0) != 0;
    how.isAntialiased = node.integer("antialias", 0) != 0 && how.method != "nearest";
    how.extrapolation = node.number("extrapolation_value", 0);
    const auto isOneOf = [](const std::string& name, std::initializer_list<const char*> known) {
        return std::any_of(known.begin(), known.end(), [&](const char* k) { return name == k; });
    };
    if (!isOneOf(how.rounding, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
        node.fail(DiagnosticCode::BadAttribute, "nearest_mode is " + quoted(how.rounding),
                  "nearest_mode");
    if (!isOneOf(how.transformation,
                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                  "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"}))
        node.fail(DiagnosticCode::BadAttribute,
                  "coordinate_transformation_mode is " + quoted(how.transformation),
                  "coordinate_transformation_mode");
    return how;
}

/// keep_aspect_ratio_policy: one scale for all of `axes`, so that no size is exceeded or fallen
/// short of.
void keepAspect(OnnxNode& node, Extents& e, std::vector<int64_t> axes)
{
    const std::string policy = node.string("keep_aspect_ratio_policy", "stretch");
    if (policy == "stretch" || node.hasFailed()) return;
    if (policy != "not_larger" && policy != "not_smaller") {
        node.fail(DiagnosticCode::BadAttribute, "keep_aspect_ratio_policy is " + quoted(policy),
                  "keep_aspect_ratio_policy");
        return;
    }
    if (axes.empty())
        for (size_t i = 0; i < e.input.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    const auto at = [&](int64_t axis) { return static_cast<size_t>(axis); };
    double scale = e.scales[at(axes[0])];
    for (const int64_t axis : axes)
        scale = policy == "not_larger" ? std::min(scale, e.scales[at(axis)])
                                       : std::max(scale, e.scales[at(axis)]);
    for (const int64_t axis : axes) {
        e.scales[at(axis)] = scale;
        e.output[at(axis)] =
            static_cast<int64_t>(std::floor(scale * static_cast<double>(e.input[at(axis)]) + 0.5));
    }
}

/// The region of interest of tf_crop_and_resize over all axes; it means nothing otherwise.
std::vector<double> regionOf(OnnxNode& node)
{
    if (!node.has(1)) return {};
    const auto rank = static_cast<size_t>(node.rank(0));
    const std::vector<double> roi = node.staticNumbers(1);
    const auto middle = roi.begin() + static_cast<long>(roi.size() / 2);
    std::vector<double> out =
        spread(node, std::vector<double>(roi.begin(), middle), std::vector<double>(rank, 0));
    const std::vector<double> ends =
        spread(node, std::vector<double>(middle, roi.end()), std::vector<double>(rank, 1));
    out.insert(out.end(), ends.begin(), ends.end());
    if (!node.hasFailed() && out.size() != 2 * rank)
        node.fail(DiagnosticCode::ShapeMismatch, "roi needs two entries per axis");
    return out;
}

} // namespace

void convertResize(OnnxNode& node)
{
    const Resampling how = resamplingOf(node);
    node.has(1); // a region means nothing to most transformations, but it may be there
    if (node.isRuntime(2) || node.isRuntime(3) ||
        (node.isRuntime(1) && how.transformation == "tf_crop_and_resize"))
        return resizeAtRunTime(node, how, 2);
    const Shape shape = node.type(0).shape;
    const std::vector<int64_t> axes =
        node.axesOf(node.integers("axes", {}), static_cast<int64_t>(shape.size()));
    const bool isCrop = how.transformation == "tf_crop_and_resize";
    const std::vector<double> roi = isCrop ? regionOf(node) : std::vector<double>{};
    if (node.hasFailed()) return;
    std::vector<double> scales = node.has(2) ? node.staticNumbers(2) : std::vector<double>{};
    Shape sizes = node.has(3) ? Shape(node.boundDims(3)) : Shape{};
    if (node.hasFailed()) return;
    if (scales.empty() == sizes.empty()) {
        node.fail(DiagnosticCode::BadOperandCount, "exactly one of scales and sizes must be given");
        return;
    }
    const bool hasSizes = !sizes.empty();
    if (!hasSizes) scales = spread(node, scales, std::vector<double>(shape.size(), 1));
    if (hasSizes) sizes = spread(node, sizes, shape);
    if (node.hasFailed()) return;
    const auto known = resizedShape(shape, scales, sizes);
    const bool isWhole = constantShape(shape) && (!hasSizes || constantShape(sizes));
    const bool isStretched = node.string("keep_aspect_ratio_policy", "stretch") == "stretch";
    // A region has entries for the axes that the attribute names, as the scales in the input have.
    const auto byGraph = [&] {
        if (isStretched && repeatPixels(node, how, scales, sizes)) return;
        resizeAtRunTime(node, how, 2, isCrop ? std::vector<double>{} : scales);
    };
    if (!isWhole && (!known || (hasSizes && !isStretched))) return byGraph();
    Extents extents = extentsOf(node, *known, scales, sizes);
    if (hasSizes && !node.hasFailed()) keepAspect(node, extents, axes);
    if (!resize(node, extents, how, roi)) byGraph();
}

} // namespace tenon::compiler
