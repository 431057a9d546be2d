// SPDX-License-Identifier: Apache-2.0
// CONV_3D of floats: films [N, D, H, W, C] with a kernel [D, H, W, I, O].
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "compiler/frontend/tflite/converters/quantized.h"

namespace tenon::compiler {
namespace {

constexpr size_t kData = 0, kWeight = 1, kBias = 2;

/// Attributes of nn.conv, for the axes D, H and W.
Attrs filmWindow(TfliteNode& node, const std::vector<int64_t>& data,
                 const std::vector<int64_t>& kernel)
{
    // The file names width before height.
    const std::vector<int64_t> strides{node.integer(1, 1), node.integer(3, 1), node.integer(2, 1)};
    const std::vector<int64_t> dilations{node.integer(5, 1), node.integer(7, 1),
                                         node.integer(6, 1)};
    std::vector<int64_t> padding(6, 0);
    for (size_t i = 0; i < 3; ++i) {
        const WindowAxis axis{data[1 + i], kernel[i], strides[i], dilations[i]};
        if (!isUsable(node, axis)) return {};
        if (node.byte(0) != 0) continue; // VALID
        const int64_t total = samePadding(axis);
        padding[i] = total / 2;
        padding[3 + i] = total - total / 2;
    }
    return {{"strides", strides},
            {"padding", padding},
            {"dilation", dilations},
            {"groups", data[4] / kernel[3]}};
}

} // namespace

void convertConv3d(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 4);
    const std::vector<int64_t> data = node.shape(kData), kernel = node.shape(kWeight);
    if (node.hasFailed()) return;
    if (data.size() != 5 || kernel.size() != 5 || kernel[3] < 1 || data[4] % kernel[3] != 0) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the weight has the shape " + shapeText(node.type(kWeight).shape) +
                      " but the input has " + shapeText(node.type(kData).shape));
        return;
    }
    Formula f(node);
    const Attrs attrs = filmWindow(node, data, kernel);
    const ValueRef film = f.transpose(realInput(node, kData), {0, 4, 1, 2, 3});
    const ValueRef weight = f.transpose(realInput(node, kWeight), {4, 3, 0, 1, 2});
    if (node.hasFailed()) return;
    ValueRef out = node.emit("nn.conv", {film, weight}, attrs);
    if (node.has(kBias))
        out = f.call("nn.bias_add", {out, realInput(node, kBias)}, {{"axis", int64_t{1}}});
    outputReal(node, 0, f.transpose(activated(node, out, activation), {0, 2, 3, 4, 1}));
}

} // namespace tenon::compiler
