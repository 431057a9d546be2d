// SPDX-License-Identifier: Apache-2.0
// Reading and checking windows; auto_pad becomes explicit padding.
#include "compiler/frontend/onnx/converters/kernel_window.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;

/// A list attribute with exactly `size` entries in [low, 2^31).
std::vector<int64_t> extents(OnnxNode& node, std::string_view name, size_t size, int64_t low,
                             int64_t fallback)
{
    std::vector<int64_t> values = node.integers(name, std::vector<int64_t>(size, fallback));
    if (values.size() != size) {
        node.fail(DiagnosticCode::BadAttribute,
                  quoted(name) + " has " + std::to_string(values.size()) + " entries but needs " +
                      std::to_string(size),
                  std::string(name));
        return std::vector<int64_t>(size, fallback);
    }
    for (const int64_t value : values)
        if (value < low || value >= kMaxExtent)
            node.fail(DiagnosticCode::BadAttribute,
                      quoted(name) + " has the entry " + std::to_string(value) +
                          "; it must be at least " + std::to_string(low) + " and below 2^31",
                      std::string(name));
    return values;
}

void padSame(OnnxNode& node, KernelWindow& window, bool isUpper)
{
    if (node.type(0).shape.size() < window.kernel.size() + 2)
        return node.fail(DiagnosticCode::BadAttribute,
                         "auto_pad needs an input with the kernel's spatial dimensions",
                         "auto_pad");
    for (size_t i = 0; i < window.kernel.size(); ++i) {
        const Dim& dim = node.type(0).shape[i + 2];
        if (!dim.isConst()) {
            node.fail(DiagnosticCode::DynamicShape, "auto_pad needs constant spatial dimensions "
                                                    "but one is " +
                                                        quoted(dim.text()));
            return;
        }
        const int64_t stride = window.strides[i];
        const int64_t output = (dim.value() + stride - 1) / stride;
        const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
        const int64_t total = std::max<int64_t>(0, (output - 1) * stride + reach - dim.value());
        window.padBegin[i] = isUpper ? total / 2 : total - total / 2;
        window.padEnd[i] = total - window.padBegin[i];
    }
}

} // namespace

std::vector<int64_t> KernelWindow::padding() const
{
    std::vector<int64_t> out = padBegin;
    out.insert(out.end(), padEnd.begin(), padEnd.end());
    return out;
}

void KernelWindow::lift()
{
    kernel.insert(kernel.begin(), 1);
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
    padBegin.insert(padBegin.begin(), 0);
    padEnd.insert(padEnd.begin(), 0);
}

KernelWindow readKernelWindow(OnnxNode& node, std::vector<int64_t> kernel)
{
    const size_t axes = kernel.size();
    for (const int64_t extent : kernel)
        if (extent < 1 || extent >= kMaxExtent)
            node.fail(DiagnosticCode::BadAttribute,
                      "the kernel has the extent " + std::to_string(extent), "kernel_shape");
    KernelWindow window{.kernel = std::move(kernel)};
    window.strides = extents(node, "strides", axes, 1, 1);
    window.dilations = extents(node, "dilations", axes, 1, 1);
    window.padBegin.assign(axes, 0);
    window.padEnd.assign(axes, 0);
    if (node.hasFailed()) return window;

    const std::string autoPad = node.string("auto_pad", "NOTSET");
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
        padSame(node, window, autoPad == "SAME_UPPER");
    } else if (autoPad == "NOTSET" || autoPad.empty()) {
        const std::vector<int64_t> pads = extents(node, "pads", 2 * axes, 0, 0);
        const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(axes);
        window.padBegin.assign(pads.begin(), middle);
        window.padEnd.assign(middle, pads.end());
    } else if (autoPad != "VALID") {
        node.fail(DiagnosticCode::BadAttribute,
                  "auto_pad is " + quoted(autoPad) +
                      "; it may be NOTSET, SAME_UPPER, SAME_LOWER or VALID",
                  "auto_pad");
    }
    return window;
}

ValueRef liftTo2d(OnnxNode& node, ValueRef value)
{
    return node.emit("expand_dims", {value}, {{"axis", int64_t{2}}, {"num_newaxis", int64_t{1}}});
}

ValueRef dropFrom2d(OnnxNode& node, ValueRef value)
{
    return node.emit("squeeze", {value}, {{"axis", std::vector<int64_t>{2}}});
}

bool hasSpatialAxis(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    if (!node.hasFailed() && rank < 3)
        node.fail(DiagnosticCode::ShapeMismatch,
                  "input has the shape " + shapeText(node.type(0).shape) +
                      "; batch, channels and at least one spatial axis are needed");
    return !node.hasFailed();
}

} // namespace tenon::compiler
