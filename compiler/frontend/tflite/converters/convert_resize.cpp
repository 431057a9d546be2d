// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Fails for sizes that no picture has.
bool areUsable(TfliteNode& node, const std::vector<int64_t>& size)
{
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return false;
    for (size_t i = 0; i < 2; ++i)
        if (shape.size() != 4 || size[i] < 1 || size[i] > (1 << 20) || shape[1 + i] < 1)
            node.fail(DiagnosticCode::BadAttribute, "the size [" + join(size, ", ") +
                                                        "] is not usable for " +
                                                        node.type(0).text());
    return !node.hasFailed();
}

/// Options of a resize: the two operators have them at other places.
struct ResizeKind
{
    bool alignsCorners, isHalfPixel;
};

std::vector<int64_t> wantedSize(TfliteNode& node)
{
    const std::vector<int64_t> size = node.staticIntegers(1);
    if (!node.hasFailed() && size.size() != 2)
        node.fail(DiagnosticCode::BadAttribute,
                  "the size [" + join(size, ", ") + "] needs a height and a width");
    return size;
}

/// Between which two pixels of an axis each of the result lies, and how near the second one, in
/// steps of 1/1024.
struct Blend
{
    std::vector<int64_t> first, second, weights;
};

constexpr int64_t kBlendBits = 10, kBlendOne = int64_t{1} << kBlendBits;

Blend blendOf(int64_t in, int64_t out, const ResizeKind& kind)
{
    const bool spans = kind.alignsCorners && out > 1;
    const int64_t from = spans ? in - 1 : in, to = spans ? out - 1 : out;
    const int64_t step = (kBlendOne * from + to / 2) / to;
    Blend blend;
    for (int64_t i = 0; i < out; ++i) {
        const int64_t at = i * step + (kind.isHalfPixel ? step / 2 - kBlendOne / 2 : 0);
        const int64_t first = at > 0 ? at / kBlendOne : 0;
        const int64_t above = at > 0 ? (at + kBlendOne - 1) / kBlendOne : 0;
        blend.first.push_back(std::min(first, in - 1));
        blend.second.push_back(std::min(above, in - 1));
        blend.weights.push_back(at - kBlendOne * first);
    }
    return blend;
}

ValueRef blended(TfliteNode& node, ValueRef value, const Blend& blend, int64_t axis)
{
    Formula f(node);
    const auto count = static_cast<int64_t>(blend.weights.size());
    std::vector<int64_t> others, shape(static_cast<size_t>(4 - axis), 1);
    shape[0] = count;
    for (const int64_t weight : blend.weights) others.push_back(kBlendOne - weight);
    const ValueRef first = f.take(value, f.integers(blend.first, {count}), axis);
    const ValueRef second = f.take(value, f.integers(blend.second, {count}), axis);
    return f.add(f.multiply(first, f.integers(others, shape)),
                 f.multiply(second, f.integers(blend.weights, shape)));
}

/// Of 16-bit pixels, as their reference kernel does it: places in steps of 1/1024, halves away from
/// zero. Wider steps would show in so many bits.
void resizeWide(TfliteNode& node, const std::vector<int64_t>& size, const ResizeKind& kind)
{
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    Formula f(node);
    ValueRef value = f.cast(node.channelsFirst(0), kInt64);
    for (size_t i = 0; i < 2; ++i)
        value =
            blended(node, value, blendOf(shape[1 + i], size[i], kind), static_cast<int64_t>(2 + i));
    const ValueRef half = f.integers({int64_t{1} << (2 * kBlendBits - 1)}, {});
    const ValueRef whole = f.call(
        "right_shift", {f.add(f.apply("abs", value), half), f.integers({2 * kBlendBits}, {})});
    value = f.where(f.compare("less", value, 0), f.apply("negative", whole), whole);
    if (!node.hasFailed()) node.outputChannelsFirst(0, f.cast(value, kInt16));
}

} // namespace

void convertResizeBilinear(TfliteNode& node)
{
    const ResizeKind kind{node.flag(2), node.flag(3)};
    const std::vector<int64_t> size = wantedSize(node);
    if (node.hasFailed() || !areUsable(node, size)) return;
    if (node.type(0).dtype == kInt16) return resizeWide(node, size, kind);
    Formula f(node);
    // The weights of a pixel add up to 1, so integers are blended as they are.
    const DataType dtype = node.type(0).dtype;
    const std::string mode = kind.alignsCorners ? "align_corners"
                             : kind.isHalfPixel ? "half_pixel"
                                                : "asymmetric";
    ValueRef out = f.call("image.resize2d", {f.cast(node.channelsFirst(0), kFloat32)},
                          {{"size", size},
                           {"method", std::string("linear")},
                           {"coordinate_transformation_mode", mode}});
    if (dtype.isInt()) out = f.apply("floor", f.add(out, 0.5));
    if (!node.hasFailed()) node.outputChannelsFirst(0, f.cast(out, dtype));
}

namespace {

/// Source of each of `out` pixels along an axis, in binary32 as the reference computes it.
std::vector<int64_t> nearestPixels(int64_t in, int64_t out, const ResizeKind& kind)
{
    const float scale = kind.alignsCorners && out > 1
                            ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                            : static_cast<float>(in) / static_cast<float>(out);
    std::vector<int64_t> pixels;
    for (int64_t i = 0; i < out; ++i) {
        const float at = (static_cast<float>(i) + (kind.isHalfPixel ? 0.5F : 0.0F)) * scale;
        const float whole = kind.alignsCorners ? std::round(at) : std::floor(at);
        pixels.push_back(std::clamp<int64_t>(static_cast<int64_t>(whole), 0, in - 1));
    }
    return pixels;
}

} // namespace

void convertResizeNearestNeighbor(TfliteNode& node)
{
    const ResizeKind kind{node.flag(0), node.flag(1)};
    const std::vector<int64_t> size = wantedSize(node);
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed() || !areUsable(node, size)) return;
    Formula f(node);
    ValueRef value = node.channelsFirst(0);
    for (size_t i = 0; i < 2 && !node.hasFailed(); ++i) {
        const std::vector<int64_t> pixels = nearestPixels(shape[1 + i], size[i], kind);
        value = f.take(value, f.integers(pixels, {size[i]}), static_cast<int64_t>(2 + i));
    }
    if (!node.hasFailed()) node.outputChannelsFirst(0, value);
}

} // namespace tenon::compiler
