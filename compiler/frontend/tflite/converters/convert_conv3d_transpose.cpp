// SPDX-License-Identifier: Apache-2.0
// CONV_3D_TRANSPOSE of floats: films [N, D, H, W, I] with a kernel [D, H, W, O, I], as a
// convolution of the film with zeros between its elements.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "compiler/frontend/tflite/converters/quantized.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kShape = 0, kWeight = 1, kData = 2, kBias = 3;

struct FilmWindow
{
    std::vector<int64_t> strides{1, 1}, dilations; ///< of N, C, D, H, W and of D, H, W
    std::vector<int64_t> padding = std::vector<int64_t>(6, 0);
};

/// The convolution whose gradient this is decides what is cut off in front.
FilmWindow windowOf(TfliteNode& node, const std::vector<int64_t>& data,
                    const std::vector<int64_t>& kernel, const std::vector<int64_t>& result)
{
    // The file names width before height.
    constexpr int kStrides[] = {1, 3, 2}, kDilations[] = {5, 7, 6};
    constexpr int64_t kMost = 1 << 20;
    FilmWindow out;
    for (size_t i = 0; i < 3; ++i) {
        const WindowAxis axis{result[1 + i], kernel[i], node.integer(kStrides[i], 1),
                              node.integer(kDilations[i], 1)};
        if (!isUsable(node, axis)) return out;
        if (result[1 + i] < 1 || result[1 + i] > kMost || data[1 + i] < 1) {
            node.fail(DiagnosticCode::BadAttribute, "a film of (" + join(data, ", ") +
                                                        ") to the shape (" + join(result, ", ") +
                                                        ") is not usable");
            return out;
        }
        const int64_t reach = (axis.kernel - 1) * axis.dilation;
        const int64_t cut = node.byte(0) == 0 ? samePadding(axis) / 2 : 0;
        const int64_t width = (data[1 + i] - 1) * axis.stride + 1;
        out.strides.push_back(axis.stride);
        out.dilations.push_back(axis.dilation);
        out.padding[i] = std::max<int64_t>(reach - cut, 0);
        out.padding[3 + i] = std::max<int64_t>(axis.extent - width + cut, 0);
    }
    return out;
}

ValueRef flipped(Formula& f, ValueRef kernel)
{
    for (const int64_t axis : {2, 3, 4}) kernel = f.reversed(kernel, axis);
    return kernel;
}

bool isFit(TfliteNode& node, const std::vector<int64_t>& result)
{
    const std::vector<int64_t> data = node.shape(kData), kernel = node.shape(kWeight);
    if (node.hasFailed()) return false;
    const bool isFit = result.size() == 5 && data.size() == 5 && kernel.size() == 5 &&
                       result[0] == data[0] && kernel[3] == result[4] && kernel[4] == data[4];
    if (!isFit)
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the output shape (" + join(result, ", ") + "), the input (" + join(data, ", ") +
                      ") and the weight (" + join(kernel, ", ") + ") do not fit");
    return isFit;
}

} // namespace

void convertConv3dTranspose(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 4);
    const std::vector<int64_t> result = node.staticIntegers(kShape);
    if (!isFit(node, result)) return;
    const FilmWindow window = windowOf(node, node.shape(kData), node.shape(kWeight), result);
    Formula f(node);
    const ValueRef film = f.transpose(realInput(node, kData), {0, 4, 1, 2, 3});
    const ValueRef kernel = f.transpose(realInput(node, kWeight), {3, 4, 0, 1, 2});
    if (node.hasFailed()) return;
    ValueRef out = f.call(
        "nn.conv", {f.call("nn.dilate", {film}, {{"strides", window.strides}}), flipped(f, kernel)},
        {{"strides", std::vector<int64_t>{1, 1, 1}},
         {"padding", window.padding},
         {"dilation", window.dilations},
         {"groups", int64_t{1}}});
    for (size_t i = 0; i < 3; ++i)
        out = f.slice(out, 2 + static_cast<int64_t>(i), 0, result[1 + i]);
    if (node.has(kBias))
        out = f.call("nn.bias_add", {out, realInput(node, kBias)}, {{"axis", int64_t{1}}});
    outputReal(node, 0, f.transpose(activated(node, out, activation), {0, 2, 3, 4, 1}));
}

} // namespace tenon::compiler
