// SPDX-License-Identifier: Apache-2.0
// TRANSPOSE_CONV: its output shape is an input, and its padding is that of the convolution whose
// gradient it is. Convolution2DTransposeBias, MediaPipe's: its output shape follows.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/custom_options.h"
#include "compiler/frontend/tflite/converters/layer.h"
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kShape = 0; ///< the input that says TRANSPOSE_CONV's output shape

/// How far apart the inputs lie, as rows and columns, and what is cut off.
struct Spacing
{
    std::vector<int64_t> strides;
    bool isSame;
};

bool isSpacing(TfliteNode& node, const Spacing& spacing)
{
    for (const int64_t stride : spacing.strides)
        if (stride < 1 || stride > (1 << 20)) {
            node.fail(DiagnosticCode::BadAttribute,
                      "a stride of " + std::to_string(stride) + " is not usable");
            return false;
        }
    return true;
}

/// Inputs of the file and their values' shapes.
struct Transposed
{
    LayerOperands operands;
    std::vector<int64_t> data, weight, result;
};

/// Attributes of nn.conv2d_transpose.
Attrs windowAttrs(const Transposed& layer, const Spacing& spacing)
{
    std::vector<int64_t> padding(4), added(2);
    for (size_t i = 0; i < 2; ++i) {
        const TransposedCrop crop =
            transposedCrop({layer.data[1 + i], layer.weight[1 + i], spacing.strides[i], 1},
                           layer.result[1 + i], spacing.isSame);
        padding[i] = crop.before;
        padding[2 + i] = crop.behind;
        added[i] = crop.added;
    }
    return {{"strides", spacing.strides},
            {"padding", padding},
            {"dilation", std::vector<int64_t>{1, 1}},
            {"output_padding", added},
            {"groups", int64_t{1}}};
}

/// False, and the node fails, for what cannot be multiplied.
bool fits(TfliteNode& node, const Transposed& layer)
{
    const bool isFit = layer.result.size() == 4 && layer.data.size() == 4 &&
                       layer.weight.size() == 4 && layer.data[3] == layer.weight[3] &&
                       layer.result[1] >= 1 && layer.result[2] >= 1;
    if (!isFit)
        node.fail(DiagnosticCode::ShapeMismatch, "the output shape (" + join(layer.result, ", ") +
                                                     "), the input (" + join(layer.data, ", ") +
                                                     ") and the weight (" +
                                                     join(layer.weight, ", ") + ") do not fit");
    return isFit;
}

void convertLayer(TfliteNode& node, const Transposed& layer, const Spacing& spacing,
                  FusedActivation activation)
{
    const LayerForms forms{
        .real = "nn.conv2d_transpose", .integer = nullptr, .attrs = windowAttrs(layer, spacing)};
    const Layer whole{.forms = forms,
                      .operands = layer.operands,
                      .dataValue = node.channelsFirst(layer.operands.data),
                      .weightValue =
                          Formula(node).transpose(node.input(layer.operands.weight), {3, 0, 1, 2}),
                      .channels = layer.weight[0],
                      .weightAxis = 1,
                      .axis = 1,
                      .fileAxis = 0};
    node.outputChannelsFirst(0, layerResult(node, whole, activation));
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
    const Spacing spacing{.strides = {node.integer(2, 1), node.integer(1, 1)},
                          .isSame = node.byte(0) == 0};
    const Transposed layer{.operands = {.data = 2, .weight = 1, .bias = 3},
                           .data = node.shape(2),
                           .weight = node.shape(1),
                           .result = resultShape(node)};
    if (node.hasFailed() || !fits(node, layer) || !isSpacing(node, spacing)) return;
    convertLayer(node, layer, spacing, activation);
}

/// Source: mediapipe/util/tflite/operations/transpose_conv_bias. Its options are
/// TfLiteTransposeConvParams: padding (1 is SAME, 2 VALID) and strides as width and height.
void convertTransposeConvBias(TfliteNode& node)
{
    const std::vector<int64_t> options = structOptions(node, 3);
    const Spacing spacing{.strides = {options[2], options[1]}, .isSame = options[0] == 1};
    Transposed layer{.operands = {.data = 0, .weight = 1, .bias = 2},
                     .data = node.shape(0),
                     .weight = node.shape(1),
                     .result = {}};
    if (node.hasFailed() || !isSpacing(node, spacing)) return;
    layer.result = layer.data;
    if (layer.data.size() == 4 && layer.weight.size() == 4) {
        layer.result[3] = layer.weight[0];
        for (size_t i = 1; i < 3; ++i) {
            const int64_t stride = spacing.strides[i - 1], last = layer.data[i] - 1;
            const int64_t cut =
                spacing.isSame ? std::max<int64_t>(layer.weight[i] - last % stride - 1, 0) : 0;
            layer.result[i] = stride * last + layer.weight[i] - cut;
        }
    }
    if (fits(node, layer)) convertLayer(node, layer, spacing, FusedActivation::None);
}

} // namespace tenon::compiler
