// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample of the two spatial axes.
#include "compiler/frontend/onnx/converters.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

struct Resampling
{
    std::string method;         ///< nearest, linear, cubic
    std::string transformation; ///< ONNX's coordinate_transformation_mode
    std::string rounding = "round_prefer_floor";
    double cubicAlpha = -0.75;
    bool excludesOutside = false;
};

constexpr double kMaxExtent = 1 << 24;

/// Output extents of all axes from `scales` (floor) or as given.
void resize(NodeImport& node, const std::vector<double>& scales, std::vector<int64_t> sizes,
            const Resampling& how)
{
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    const size_t rank = shape.size();
    if ((sizes.empty() ? scales.size() : sizes.size()) != rank) {
        node.fail(DiagnosticCode::BadAttribute,
                  "scales or sizes need one entry per axis of the shape (" + join(shape, ", ") +
                      ")");
        return;
    }
    std::vector<double> factors = scales;
    if (sizes.empty()) {
        for (size_t i = 0; i < rank; ++i) {
            const double extent = std::floor(static_cast<double>(shape[i]) * scales[i]);
            if (!(scales[i] > 0) || !(extent <= kMaxExtent)) {
                node.fail(DiagnosticCode::BadAttribute, "the scale " + exact(scales[i]) +
                                                            " of axis " + std::to_string(i) +
                                                            " is not usable");
                return;
            }
            sizes.push_back(static_cast<int64_t>(extent));
        }
    } else {
        factors.clear();
        for (size_t i = 0; i < rank; ++i) {
            if (sizes[i] < 1 || static_cast<double>(sizes[i]) > kMaxExtent) {
                node.fail(DiagnosticCode::BadAttribute, "the size " + std::to_string(sizes[i]) +
                                                            " of axis " + std::to_string(i) +
                                                            " is not usable");
                return;
            }
            factors.push_back(static_cast<double>(sizes[i]) / static_cast<double>(shape[i]));
        }
    }
    if (sizes == shape) {
        node.forward(0, 0);
        return;
    }
    if (rank != 4 || sizes[0] != shape[0] || sizes[1] != shape[1]) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "only the two spatial axes of a rank-4 tensor can be resized; here (" +
                      join(shape, ", ") + ") becomes (" + join(sizes, ", ") + ")");
        return;
    }
    Attrs attrs{{"size", std::vector<int64_t>{sizes[2], sizes[3]}},
                {"method", how.method},
                {"coordinate_transformation_mode", how.transformation},
                {"scales", std::vector<double>{factors[2], factors[3]}}};
    if (how.method == "nearest") attrs.set("rounding_method", how.rounding);
    if (how.method == "cubic") attrs.set("cubic_alpha", how.cubicAlpha);
    if (how.excludesOutside) attrs.set("exclude_outside", int64_t{1});
    node.output(0, node.emit("image.resize2d", {node.input(0)}, std::move(attrs)));
}

std::string methodOf(NodeImport& node)
{
    const std::string mode = node.string("mode", "nearest");
    if (mode == "nearest" || mode == "cubic") return mode;
    if (mode == "linear" || mode == "bilinear") return "linear";
    node.fail(DiagnosticCode::BadAttribute, "mode is " + quoted(mode), "mode");
    return "nearest";
}

/// Entries for `axes` put into a list over all axes.
template <class T>
std::vector<T> spread(NodeImport& node, const std::vector<T>& values, std::vector<T> all)
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

void convertUpsampleAttr(NodeImport& node)
{
    resize(node, node.numbers("scales", {}), {}, {methodOf(node), "asymmetric", "floor"});
}

void convertUpsample(NodeImport& node)
{
    resize(node, node.staticNumbers(1), {}, {methodOf(node), "asymmetric", "floor"});
}

void convertResize10(NodeImport& node)
{
    resize(node, node.staticNumbers(1), {}, {methodOf(node), "asymmetric", "floor"});
}

void convertResize(NodeImport& node)
{
    Resampling how{.method = methodOf(node)};
    how.transformation = node.string("coordinate_transformation_mode", "half_pixel");
    how.rounding = node.string("nearest_mode", "round_prefer_floor");
    how.cubicAlpha = node.number("cubic_coeff_a", -0.75);
    how.excludesOutside = node.integer("exclude_outside", 0) != 0;
    const std::string policy = node.string("keep_aspect_ratio_policy", "stretch");
    if (how.transformation == "tf_crop_and_resize" || policy != "stretch" ||
        node.integer("antialias", 0) != 0) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "tf_crop_and_resize, antialias and keep_aspect_ratio_policy are not supported");
        return;
    }
    const std::vector<int64_t> shape = node.shape(0);
    node.has(1); // the region of interest belongs to tf_crop_and_resize
    if (node.hasFailed()) return;
    std::vector<double> scales = node.has(2) ? node.staticNumbers(2) : std::vector<double>{};
    std::vector<int64_t> sizes = node.has(3) ? node.staticIntegers(3) : std::vector<int64_t>{};
    if (scales.empty() == sizes.empty()) {
        node.fail(DiagnosticCode::BadOperandCount, "exactly one of scales and sizes must be given");
        return;
    }
    if (!scales.empty()) scales = spread(node, scales, std::vector<double>(shape.size(), 1));
    if (!sizes.empty()) sizes = spread(node, sizes, shape);
    resize(node, scales, sizes, how);
}

} // namespace tenon::compiler
