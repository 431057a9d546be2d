// SPDX-License-Identifier: Apache-2.0
// One division in binary32 per element, as the Resize operator of ONNX Runtime has it.
#include "compiler/frontend/onnx/converters/nearest_pixels.h"

#include "compiler/ops/resample.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Where an element of the result lies in the input.
std::optional<float> sourceOf(const std::string& transformation, const ResampledAxis& axis,
                              int64_t element)
{
    const auto at = static_cast<float>(element), scale = static_cast<float>(axis.scale);
    if (transformation == "asymmetric") return at / scale;
    if (transformation == "half_pixel") return (at + 0.5F) / scale - 0.5F;
    if (transformation == "pytorch_half_pixel")
        return axis.output > 1 ? (at + 0.5F) / scale - 0.5F : 0.0F;
    if (transformation == "tf_half_pixel_for_nn") return (at + 0.5F) / scale;
    if (transformation != "half_pixel_symmetric") return std::nullopt;
    const auto input = static_cast<float>(axis.input);
    const float share = static_cast<float>(axis.output) / (scale * input);
    const double begin = input / 2 * (1 - share);
    return static_cast<float>(begin + (static_cast<double>(at) + 0.5) / scale - 0.5);
}

/// Positions that are as close as this to the middle between two pixels lie there (observed of
/// ONNX Runtime 1.30: 9.5e-7 does, 1.9e-6 does not).
constexpr float kMiddle = 1e-6F;

int64_t pixelAt(float source, const std::string& rounding)
{
    const float middle = std::floor(source) + 0.5F;
    const bool isMiddle = rounding.starts_with("round") && std::abs(source - middle) < kMiddle;
    return nearestPixel(isMiddle ? middle : source, rounding);
}

} // namespace

std::optional<NearestPixels> nearestPixels(const ResampledAxis& axis, const Resampling& how)
{
    constexpr int64_t kMost = 1 << 16; // of more, indices would be a large constant
    const bool isByDirection = how.rounding == kByDirection;
    if (how.method != "nearest" || axis.input < 1 || (axis.output > kMost && !isByDirection))
        return std::nullopt;
    const Resample exact = makeResample(how.transformation, axis.input, axis.output, axis.scale);
    const auto inside = [&](int64_t pixel) {
        return std::clamp<int64_t>(pixel, 0, axis.input - 1);
    };
    const std::string rounding = !isByDirection ? how.rounding : axis.scale < 1 ? "ceil" : "floor";
    NearestPixels out{{}, !isByDirection};
    for (int64_t o = 0; o < axis.output; ++o) {
        const auto source = sourceOf(how.transformation, axis, o);
        if (!source) return std::nullopt;
        out.sources.push_back(inside(pixelAt(*source, rounding)));
        const int64_t other = exact.nearestPixel(tir::Expr(o), rounding)->integer;
        out.isExact = out.isExact && out.sources.back() == inside(other);
    }
    return out;
}

} // namespace tenon::compiler
