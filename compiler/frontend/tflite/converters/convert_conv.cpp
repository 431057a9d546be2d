// SPDX-License-Identifier: Apache-2.0
// CONV_2D and DEPTHWISE_CONV_2D in floats, integers, and both.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/layer.h"
#include "compiler/frontend/tflite/converters/picture_window.h"

namespace tenon::compiler {
namespace {

constexpr size_t kData = 0, kWeight = 1, kBias = 2;
constexpr int64_t kChannelAxis = 1;

/// The weight as [O, I, KH, KW].
struct Kernel
{
    ValueRef value;
    int64_t channels = 0;
    int64_t groups = 1;
};

struct ConvKind
{
    WindowFields fields;
    int activation;
    bool isDepthwise;
};

Kernel kernelOf(TfliteNode& node, bool isDepthwise)
{
    const std::vector<int64_t> weight = node.shape(kWeight);
    const Shape& data = node.type(kData).shape;
    if (node.hasFailed()) return {};
    const auto mismatch = [&] {
        node.fail(DiagnosticCode::ShapeMismatch, "the weight has the shape " +
                                                     shapeText(node.type(kWeight).shape) +
                                                     " but the input has " + shapeText(data));
        return Kernel{};
    };
    if (weight.size() != 4 || data.size() != 4 || !data[3].isConst()) return mismatch();
    const int64_t in = data[3].value();
    const int64_t perGroup = isDepthwise ? 1 : weight[3];
    const int64_t channels = weight[isDepthwise ? 3 : 0];
    if (perGroup < 1 || in % perGroup != 0 || channels < 1 || (isDepthwise && weight[0] != 1))
        return mismatch();
    Kernel out{.channels = channels, .groups = in / perGroup};
    if (out.groups < 1 || channels % out.groups != 0) return mismatch();
    const std::vector<int64_t> order =
        isDepthwise ? std::vector<int64_t>{3, 0, 1, 2} : std::vector<int64_t>{0, 3, 1, 2};
    out.value = Formula(node).transpose(node.input(kWeight), order);
    return out;
}

void convertConvolution(TfliteNode& node, const ConvKind& kind)
{
    const FusedActivation activation = activationAt(node, kind.activation);
    const Kernel kernel = kernelOf(node, kind.isDepthwise);
    if (node.hasFailed()) return;
    const std::vector<int64_t> weight = node.shape(kWeight);
    const PictureWindow window = windowOf(node, kind.fields, kData, {weight[1], weight[2]});
    Attrs attrs = window.attrs();
    attrs.set("groups", kernel.groups);
    const LayerForms forms{.real = "nn.conv2d", .integer = "qnn.conv2d", .attrs = attrs};
    const LayerOperands operands{.data = kData, .weight = kWeight, .bias = kBias};
    const Layer layer{.forms = forms,
                      .operands = operands,
                      .dataValue = node.channelsFirst(kData),
                      .weightValue = kernel.value,
                      .channels = kernel.channels,
                      .weightAxis = 0,
                      .axis = kChannelAxis,
                      .fileAxis = kind.isDepthwise ? 3 : 0};
    node.outputChannelsFirst(0, layerResult(node, layer, activation));
}

} // namespace

void convertConv2d(TfliteNode& node)
{
    const WindowFields fields{
        .padding = 0, .strideW = 1, .strideH = 2, .dilationW = 4, .dilationH = 5};
    convertConvolution(node, {fields, 3, false});
}

void convertDepthwiseConv2d(TfliteNode& node)
{
    const WindowFields fields{
        .padding = 0, .strideW = 1, .strideH = 2, .dilationW = 5, .dilationH = 6};
    convertConvolution(node, {fields, 4, true});
}

} // namespace tenon::compiler
