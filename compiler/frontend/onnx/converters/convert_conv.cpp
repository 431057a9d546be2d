// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose; more than two spatial axes take the general operators.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sized.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/kernel_window.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Spatial extents of the weight, compared with kernel_shape when that is given.
std::vector<int64_t> kernelOf(OnnxNode& node)
{
    const std::vector<int64_t> weight = node.shape(1);
    if (node.hasFailed()) return {};
    if (weight.size() != static_cast<size_t>(node.rank(0))) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "the weight has the shape " + shapeText(node.type(1).shape) +
                      " but the input has " + shapeText(node.type(0).shape));
        return {};
    }
    const std::vector<int64_t> kernel(weight.begin() + 2, weight.end());
    const std::vector<int64_t> declared = node.integers("kernel_shape", kernel);
    if (declared != kernel)
        node.fail(DiagnosticCode::BadAttribute,
                  "kernel_shape is [" + join(declared, ", ") + "] but the weight has [" +
                      join(kernel, ", ") + "]",
                  "kernel_shape");
    return kernel;
}

/// The weight with a kernel row of height 1; a constant keeps its bytes.
ValueRef liftedWeight(OnnxNode& node)
{
    if (const Tensor* weight = node.constant(1)) {
        std::vector<int64_t> shape = weight->shape();
        shape.insert(shape.begin() + 2, 1);
        return node.constantNode(weight->reshaped(shape));
    }
    return liftTo2d(node, node.input(1));
}

int64_t groupsOf(OnnxNode& node)
{
    const int64_t groups = node.integer("group", 1);
    if (groups < 1 || groups > (int64_t{1} << 31))
        node.fail(DiagnosticCode::BadAttribute,
                  "group is " + std::to_string(groups) + "; it must be at least 1", "group");
    return groups;
}

ValueRef withBias(OnnxNode& node, ValueRef value)
{
    if (!node.has(2)) return value;
    return node.emit("nn.bias_add", {value, node.input(2)}, {{"axis", int64_t{1}}});
}

/// Padding that gives a transposed convolution the wanted output extent.
void padForOutput(KernelWindow& window, std::vector<int64_t>& outputPadding,
                  const std::vector<int64_t>& input, const std::vector<int64_t>& output,
                  bool isUpper)
{
    for (size_t i = 0; i < input.size(); ++i) {
        const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
        const int64_t full = window.strides[i] * (input[i] - 1) + outputPadding[i] + reach;
        const int64_t total = full - output[i];
        if (total < 0) outputPadding[i] -= total;
        const int64_t kept = total < 0 ? 0 : total;
        window.padBegin[i] = isUpper ? kept / 2 : kept - kept / 2;
        window.padEnd[i] = kept - window.padBegin[i];
    }
}

/// The data with as many channels as the weight takes: of a picture whose size was computed none is
/// known, and kernels for channels that nobody counted are slow. A run with another number ends.
ValueRef withChannels(OnnxNode& node, int64_t channels)
{
    const ValueRef data = node.input(0);
    if (node.hasFailed()) return data;
    Shape shape = node.type(0).shape;
    if (shape[1].isConst()) return data;
    shape[1] = Dim(channels);
    return reshapedTo(node, data, shape);
}

void convolve(OnnxNode& node, ValueRef data, const KernelWindow& window, int64_t groups)
{
    const ValueRef out = node.emit("nn.conv", {data, node.input(1)},
                                   {{"strides", window.strides},
                                    {"padding", window.padding()},
                                    {"dilation", window.dilations},
                                    {"groups", groups}});
    node.output(0, withBias(node, out));
}

/// A transposed convolution is a convolution of the data spread by the strides with the mirrored
/// kernel.
void convolveTransposed(OnnxNode& node, const KernelWindow& window,
                        const std::vector<int64_t>& outputPadding, int64_t groups)
{
    Formula f(node);
    const std::vector<int64_t> weight = node.shape(1);
    if (node.hasFailed()) return;
    if (weight[0] % groups != 0) {
        node.fail(DiagnosticCode::BadAttribute,
                  "cannot divide " + std::to_string(weight[0]) + " channels into " +
                      std::to_string(groups) + " groups",
                  "group");
        return;
    }
    const size_t axes = window.kernel.size();
    std::vector<int64_t> spread{1, 1}, width{0, 0, 0, 0};
    for (size_t i = 0; i < axes; ++i) {
        const int64_t reach = (window.kernel[i] - 1) * window.dilations[i];
        spread.push_back(window.strides[i]);
        width.push_back(reach - window.padBegin[i]);
        width.push_back(reach - window.padEnd[i] + outputPadding[i]);
    }
    const ValueRef data =
        f.pad(f.call("nn.dilate", {node.input(0)}, {{"strides", spread}}), width, 0);
    // [C, M / g, k..] -> [g, C / g, M / g, k..] -> [M, C / g, k..], mirrored
    std::vector<int64_t> split{groups, weight[0] / groups},
        merged{groups * weight[1], weight[0] / groups};
    split.insert(split.end(), weight.begin() + 1, weight.end());
    merged.insert(merged.end(), weight.begin() + 2, weight.end());
    std::vector<int64_t> order = counted(0, static_cast<int64_t>(split.size()));
    std::swap(order[1], order[2]);
    ValueRef kernel = f.reshape(f.transpose(f.reshape(node.input(1), split), order), merged);
    for (size_t i = 0; i < axes; ++i) kernel = f.reversed(kernel, static_cast<int64_t>(2 + i));
    const ValueRef out = node.emit("nn.conv", {data, kernel},
                                   {{"strides", std::vector<int64_t>(axes, 1)},
                                    {"padding", std::vector<int64_t>(2 * axes, 0)},
                                    {"dilation", window.dilations},
                                    {"groups", groups}});
    node.output(0, withBias(node, out));
}

/// Over one or two spatial axes, one as a row of height 1; `attrs` are what only this operator has.
void convolveIn2d(OnnxNode& node, const char* op, ValueRef data, KernelWindow window, Attrs attrs)
{
    const bool isLinear = node.rank(0) == 3;
    const ValueRef weight = isLinear ? liftedWeight(node) : node.input(1);
    if (isLinear) {
        data = liftTo2d(node, data);
        window.lift();
    }
    attrs.set("strides", window.strides);
    attrs.set("padding", window.padding());
    attrs.set("dilation", window.dilations);
    ValueRef out = withBias(node, node.emit(op, {data, weight}, std::move(attrs)));
    if (isLinear) out = dropFrom2d(node, out);
    node.output(0, out);
}

/// Each below the stride or the dilation of its axis, as ONNX has it: more would be results of
/// nothing.
bool isOutputPaddingSmall(OnnxNode& node, const KernelWindow& window,
                          const std::vector<int64_t>& outputPadding)
{
    for (size_t i = 0; i < outputPadding.size(); ++i) {
        const int64_t limit = std::max(window.strides[i], window.dilations[i]);
        if (outputPadding[i] >= 0 && outputPadding[i] < limit) continue;
        node.fail(DiagnosticCode::BadAttribute,
                  "output_padding has the entry " + std::to_string(outputPadding[i]) +
                      "; it must be at least 0 and below the stride or the dilation of its axis, " +
                      std::to_string(limit),
                  "output_padding");
        return false;
    }
    return true;
}

/// SAME and output_shape of a transposed convolution become padding.
void padForWantedShape(OnnxNode& node, KernelWindow& window, std::vector<int64_t>& outputPadding,
                       std::vector<int64_t> wanted)
{
    const std::string autoPad = node.string("auto_pad", "NOTSET");
    const bool isSame = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
    if (!isSame && wanted.empty()) return;
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    const std::vector<int64_t> input(shape.begin() + 2, shape.end());
    if (wanted.empty())
        for (size_t i = 0; i < input.size(); ++i) wanted.push_back(input[i] * window.strides[i]);
    wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(input.size()));
    padForOutput(window, outputPadding, input, wanted, autoPad == "SAME_UPPER");
}

} // namespace

void convertConv(OnnxNode& node)
{
    if (!hasSpatialAxis(node)) return;
    const KernelWindow window = readKernelWindow(node, kernelOf(node));
    const int64_t groups = groupsOf(node);
    if (node.hasFailed()) return;
    const ValueRef data = withChannels(node, node.shape(1)[1] * groups);
    if (window.kernel.size() > 2) return convolve(node, data, window, groups);
    convolveIn2d(node, "nn.conv2d", data, window, {{"groups", groups}});
}

void convertConvTranspose(OnnxNode& node)
{
    if (!hasSpatialAxis(node)) return;
    const std::vector<int64_t> kernel = kernelOf(node);
    if (node.hasFailed()) return;
    const size_t axes = kernel.size();
    // readKernelWindow would pad for a convolution; SAME means something else here.
    KernelWindow window = readKernelWindow(node, kernel);
    const int64_t groups = groupsOf(node);
    std::vector<int64_t> outputPadding =
        node.integers("output_padding", std::vector<int64_t>(axes, 0));
    const std::vector<int64_t> outputShape = node.integers("output_shape", {});
    if (node.hasFailed()) return;
    if (outputPadding.size() != axes || (!outputShape.empty() && outputShape.size() < axes)) {
        node.fail(DiagnosticCode::BadAttribute,
                  "output_padding and output_shape need one entry per spatial axis");
        return;
    }
    if (!isOutputPaddingSmall(node, window, outputPadding)) return;
    padForWantedShape(node, window, outputPadding, outputShape);
    if (node.hasFailed()) return;
    if (axes > 2) return convolveTransposed(node, window, outputPadding, groups);
    if (axes == 1) outputPadding.insert(outputPadding.begin(), 0);
    convolveIn2d(node, "nn.conv2d_transpose", withChannels(node, node.shape(1)[0]), window,
                 {{"output_padding", outputPadding}, {"groups", groups}});
}

} // namespace tenon::compiler
