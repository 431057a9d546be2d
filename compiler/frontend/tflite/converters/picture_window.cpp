// SPDX-License-Identifier: Apache-2.0
// Padding of a window as TensorFlow computes it: what is uneven goes behind.
#include "compiler/frontend/tflite/converters/picture_window.h"

#include <algorithm>
#include <utility>

namespace tenon::compiler {

bool isUsable(TfliteNode& node, const WindowAxis& axis)
{
    constexpr int64_t kMost = 1 << 24;
    const std::pair<const char*, int64_t> kSizes[] = {
        {"a window", axis.kernel}, {"a stride", axis.stride}, {"a dilation", axis.dilation}};
    for (const auto& [what, size] : kSizes)
        if (size < 1 || size > kMost) {
            node.fail(DiagnosticCode::BadAttribute,
                      std::string(what) + " of " + std::to_string(size) + " is not usable");
            return false;
        }
    return true;
}

int64_t samePadding(const WindowAxis& axis)
{
    const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
    const int64_t steps = (axis.extent + axis.stride - 1) / axis.stride;
    return std::max<int64_t>((steps - 1) * axis.stride + reach - axis.extent, 0);
}

TransposedCrop transposedCrop(const WindowAxis& axis, int64_t out, bool isSame)
{
    const int64_t reach = isSame ? out : out - axis.kernel + 1;
    const int64_t steps = (std::max<int64_t>(reach, 0) + axis.stride - 1) / axis.stride;
    const int64_t before = std::max<int64_t>((steps - 1) * axis.stride + axis.kernel - out, 0) / 2;
    const int64_t behind = (axis.extent - 1) * axis.stride + axis.kernel - before - out;
    return {before, std::max<int64_t>(behind, 0), std::max<int64_t>(-behind, 0)};
}

Attrs PictureWindow::attrs() const
{
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilations}};
}

PictureWindow windowOf(TfliteNode& node, const WindowSizes& sizes, size_t data)
{
    PictureWindow out{
        .kernel = sizes.kernel, .strides = sizes.strides, .dilations = sizes.dilations};
    if (node.rank(data) != 4 && !node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "a picture [N, H, W, C] is needed but the input is " + node.type(data).text());
    if (node.hasFailed()) return out;
    for (size_t i = 0; i < 2; ++i)
        if (!isUsable(node, {0, out.kernel[i], out.strides[i], out.dilations[i]})) return out;
    if (!sizes.isSame) return out;
    for (size_t i = 0; i < 2; ++i) {
        int64_t total = (out.kernel[i] - 1) * out.dilations[i];
        if (out.strides[i] > 1) {
            const std::vector<int64_t> shape = node.shape(data);
            if (node.hasFailed()) return out;
            total = samePadding({shape[1 + i], out.kernel[i], out.strides[i], out.dilations[i]});
        }
        out.padding[i] = total / 2;
        out.padding[2 + i] = total - total / 2;
    }
    return out;
}

PictureWindow windowOf(TfliteNode& node, const WindowFields& fields, size_t data,
                       std::vector<int64_t> kernel)
{
    WindowSizes sizes{.kernel = std::move(kernel), .isSame = node.byte(fields.padding) == 0};
    sizes.strides = {node.integer(fields.strideH, 1), node.integer(fields.strideW, 1)};
    if (fields.dilationH >= 0)
        sizes.dilations = {node.integer(fields.dilationH, 1), node.integer(fields.dilationW, 1)};
    return windowOf(node, sizes, data);
}

} // namespace tenon::compiler
