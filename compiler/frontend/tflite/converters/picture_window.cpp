// SPDX-License-Identifier: Apache-2.0
// Padding of a window as TensorFlow computes it: what is uneven goes behind.
#include "compiler/frontend/tflite/converters/picture_window.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kMost = 1 << 24;

bool isUsable(TfliteNode& node, const std::vector<int64_t>& sizes, const char* what)
{
    for (const int64_t size : sizes)
        if (size < 1 || size > kMost) {
            node.fail(DiagnosticCode::BadAttribute,
                      std::string(what) + " of " + std::to_string(size) + " is not usable");
            return false;
        }
    return true;
}

} // namespace

Attrs PictureWindow::attrs() const
{
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilations}};
}

PictureWindow windowOf(TfliteNode& node, const WindowFields& fields, size_t data,
                       std::vector<int64_t> kernel)
{
    PictureWindow out{.kernel = std::move(kernel)};
    if (node.rank(data) != 4 && !node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "a picture [N, H, W, C] is needed but the input is " + node.type(data).text());
    if (node.hasFailed()) return out;
    out.strides = {node.integer(fields.strideH, 1), node.integer(fields.strideW, 1)};
    if (fields.dilationH >= 0)
        out.dilations = {node.integer(fields.dilationH, 1), node.integer(fields.dilationW, 1)};
    if (!isUsable(node, out.kernel, "a window") || !isUsable(node, out.strides, "a stride") ||
        !isUsable(node, out.dilations, "a dilation"))
        return out;
    if (node.byte(fields.padding) != 0) return out; // VALID
    for (size_t i = 0; i < 2; ++i) {
        const int64_t reach = (out.kernel[i] - 1) * out.dilations[i] + 1;
        const Dim& extent = node.type(data).shape[1 + i];
        int64_t total = reach - 1;
        if (out.strides[i] > 1) {
            const std::vector<int64_t> shape = node.shape(data);
            if (node.hasFailed()) return out;
            const int64_t steps = (shape[1 + i] + out.strides[i] - 1) / out.strides[i];
            total = std::max<int64_t>((steps - 1) * out.strides[i] + reach - extent.value(), 0);
        }
        out.padding[i] = total / 2;
        out.padding[2 + i] = total - total / 2;
    }
    return out;
}

} // namespace tenon::compiler
