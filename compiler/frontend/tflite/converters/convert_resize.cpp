// SPDX-License-Identifier: Apache-2.0
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

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

} // namespace

void convertResizeBilinear(TfliteNode& node)
{
    const ResizeKind kind{node.flag(2), node.flag(3)};
    const std::vector<int64_t> size = wantedSize(node);
    if (node.hasFailed()) return;
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
    if (node.hasFailed()) return;
    Formula f(node);
    ValueRef value = node.channelsFirst(0);
    for (size_t i = 0; i < 2 && !node.hasFailed(); ++i) {
        if (size[i] < 1 || size[i] > (1 << 20) || shape[1 + i] < 1) {
            node.fail(DiagnosticCode::BadAttribute,
                      "the size [" + join(size, ", ") + "] is not usable");
            return;
        }
        const std::vector<int64_t> pixels = nearestPixels(shape[1 + i], size[i], kind);
        value = f.take(value, f.integers(pixels, {size[i]}), static_cast<int64_t>(2 + i));
    }
    if (!node.hasFailed()) node.outputChannelsFirst(0, value);
}

} // namespace tenon::compiler
