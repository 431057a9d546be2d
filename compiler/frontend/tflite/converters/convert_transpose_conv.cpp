// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV: its output shape is an input, and its padding is that of the convolution whose
// gradient it is.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/layer.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kShape = 0, kWeight = 1, kData = 2, kBias = 3;

/// Rows or columns cut off before and behind, and added behind.
struct Crop
{
    int64_t before, behind, added;
};

Crop cropOf(int64_t in, int64_t out, int64_t kernel, int64_t stride, bool isSame)
{
    const int64_t reach = isSame ? out : out - kernel + 1;
    const int64_t steps = (std::max<int64_t>(reach, 0) + stride - 1) / stride;
    const int64_t before = std::max<int64_t>((steps - 1) * stride + kernel - out, 0) / 2;
    const int64_t behind = (in - 1) * stride + kernel - before - out;
    return {before, std::max<int64_t>(behind, 0), std::max<int64_t>(-behind, 0)};
}

/// Attributes of nn.conv2d_transpose.
Attrs windowAttrs(TfliteNode& node, const std::vector<int64_t>& data,
                  const std::vector<int64_t>& weight, const std::vector<int64_t>& result)
{
    const std::vector<int64_t> strides{node.integer(2, 1), node.integer(1, 1)};
    const bool isSame = node.byte(0) == 0;
    std::vector<int64_t> padding(4), added(2);
    for (size_t i = 0; i < 2; ++i) {
        if (strides[i] < 1 || strides[i] > (1 << 20) || result[1 + i] < 1) {
            node.fail(DiagnosticCode::BadAttribute, "a stride of " + std::to_string(strides[i]) +
                                                        " to the shape (" + join(result, ", ") +
                                                        ") is not usable");
            return {};
        }
        const Crop crop = cropOf(data[1 + i], result[1 + i], weight[1 + i], strides[i], isSame);
        padding[i] = crop.before;
        padding[2 + i] = crop.behind;
        added[i] = crop.added;
    }
    return {{"strides", strides},
            {"padding", padding},
            {"dilation", std::vector<int64_t>{1, 1}},
            {"output_padding", added},
            {"groups", int64_t{1}}};
}

/// As the input says, or as the file declares the result where only a run knows that.
std::vector<int64_t> resultShape(TfliteNode& node)
{
    const TfliteTensor* out = node.outputTensor(0);
    if (node.has(kShape) && !node.constant(kShape) && out) return out->shape;
    return node.staticIntegers(kShape);
}

} // namespace

void convertTransposeConv(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, 3);
    const std::vector<int64_t> result = resultShape(node);
    const std::vector<int64_t> data = node.shape(kData), weight = node.shape(kWeight);
    if (node.hasFailed()) return;
    if (result.size() != 4 || data.size() != 4 || weight.size() != 4 || data[3] != weight[3]) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the output shape (" + join(result, ", ") + "), the input (" + join(data, ", ") +
                      ") and the weight (" + join(weight, ", ") + ") do not fit");
        return;
    }
    const LayerForms forms{.real = "nn.conv2d_transpose",
                           .integer = nullptr,
                           .attrs = windowAttrs(node, data, weight, result)};
    const Layer layer{.forms = forms,
                      .operands = {.data = kData, .weight = kWeight, .bias = kBias},
                      .dataValue = node.channelsFirst(kData),
                      .weightValue = Formula(node).transpose(node.input(kWeight), {3, 0, 1, 2}),
                      .channels = weight[0],
                      .weightAxis = 1,
                      .axis = 1,
                      .fileAxis = 0};
    node.outputChannelsFirst(0, layerResult(node, layer, activation));
}

} // namespace tenon::compiler
