// SPDX-License-Identifier: Apache-2.0
// Layers of floats, of bytes, of 16-bit activations with byte weights, and of floats with byte
// weights.
#include "compiler/frontend/tflite/converters/layer.h"

#include "compiler/frontend/import/formula.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tenon::compiler {
namespace {

enum class RatioOf : uint8_t
{
    Bytes, ///< in binary32, as the reference computes it for 8-bit layers
    Wide   ///< in binary64, as it does for 16-bit ones
};

/// Data scale times weight scale over the result's.
std::vector<double> ratiosOf(TfliteNode& node, const Layer& layer, RatioOf kind)
{
    const TensorScale data = oneScale(node, node.inputTensor(layer.operands.data));
    const TensorScale out = oneScale(node, node.outputTensor(0));
    const TfliteTensor& weight = *node.inputTensor(layer.operands.weight);
    const std::vector<double>& scales = weight.quantization.scales;
    if (scales.size() != 1 && scales.size() != static_cast<size_t>(layer.channels))
        node.fail(DiagnosticCode::BadModel, "the weight has " + std::to_string(scales.size()) +
                                                " scales for " + std::to_string(layer.channels) +
                                                " channels");
    std::vector<double> ratios;
    for (const double scale : scales) {
        const float step = static_cast<float>(data.scale) * static_cast<float>(scale);
        ratios.push_back(kind == RatioOf::Wide
                             ? data.scale * scale / out.scale
                             : static_cast<double>(step / static_cast<float>(out.scale)));
        if (!(ratios.back() >= 0) || !std::isfinite(ratios.back()))
            node.fail(DiagnosticCode::BadModel, "the weight has a scale that is not usable");
    }
    return ratios;
}

/// The bias so that it broadcasts to the result.
ValueRef biasOf(TfliteNode& node, const Layer& layer, ValueRef sums, DataType dtype)
{
    Formula f(node);
    ValueRef bias = f.cast(node.input(layer.operands.bias), dtype);
    const int64_t behind = f.rank(sums) - layer.axis - 1;
    const Shape& shape = node.typeOf(bias).shape;
    if (node.hasFailed()) return {};
    if (shape.size() != 1 || !(shape[0] == Dim(layer.channels))) {
        node.fail(DiagnosticCode::ShapeMismatch, "the bias has the shape " + shapeText(shape) +
                                                     " for " + std::to_string(layer.channels) +
                                                     " channels");
        return {};
    }
    return behind > 0 ? f.expand(bias, 1, behind) : bias;
}

ValueRef withBias(TfliteNode& node, const Layer& layer, ValueRef sums, DataType dtype)
{
    if (!node.has(layer.operands.bias) || node.hasFailed()) return sums;
    return Formula(node).add(sums, biasOf(node, layer, sums, dtype));
}

/// A constant of the layer per channel keeps its bytes: a bias is reshaped by no operator.
ValueRef constantBias(TfliteNode& node, const Layer& layer, ValueRef sums)
{
    if (node.hasFailed()) return {};
    const Tensor* bias = node.constant(layer.operands.bias);
    if (!bias || bias->dtype() != kInt32 || bias->size() != layer.channels)
        return withBias(node, layer, sums, kInt32);
    std::vector<int64_t> shape(
        static_cast<size_t>(static_cast<int64_t>(node.typeOf(sums).shape.size()) - layer.axis), 1);
    shape[0] = layer.channels;
    return Formula(node).add(sums, node.constantNode(bias->reshaped(shape)));
}

/// True for floats times a constant of bytes, whose rows are quantized while the model runs.
bool isDynamicRange(TfliteNode& node, const Layer& layer)
{
    const TfliteTensor& weight = *node.inputTensor(layer.operands.weight);
    return layer.quantizesRows && node.typeOf(layer.dataValue).dtype == kFloat32 &&
           node.typeOf(layer.weightValue).dtype == kInt8 && !weight.quantization.scales.empty() &&
           std::all_of(weight.quantization.zeros.begin(), weight.quantization.zeros.end(),
                       [](int64_t zero) { return zero == 0; });
}

/// Rows of the data as bytes of their own scale times the weight, in real units.
ValueRef dynamicRangeProduct(TfliteNode& node, const Layer& layer)
{
    Formula f(node);
    const ValueRef x = layer.dataValue;
    const ValueRef most = f.reduce("max", f.apply("abs", x), {1}, Formula::Keep::Yes);
    // A row of zeros has no range; any scale serves it.
    const ValueRef range = f.where(f.compare("equal", most, 0), f.number(1, most), most);
    const ValueRef steps = f.multiply(x, f.divide(f.number(127, range), range));
    const ValueRef whole =
        f.where(f.compare("less", steps, 0), f.apply("ceil", f.subtract(steps, 0.5)),
                f.apply("floor", f.add(steps, 0.5)));
    const ValueRef bytes = f.cast(f.clip(whole, -127, 127), kInt8);
    const ValueRef sums =
        f.call(layer.forms.integer, {bytes, layer.weightValue}, layer.forms.attrs);
    const std::vector<double>& scales =
        node.inputTensor(layer.operands.weight)->quantization.scales;
    const std::vector<int64_t> shape =
        scales.size() == 1 ? std::vector<int64_t>{}
                           : std::vector<int64_t>{static_cast<int64_t>(scales.size())};
    const ValueRef step = f.multiply(f.divide(range, 127), f.numbers(scales, shape, kFloat32));
    return f.multiply(f.cast(sums, kFloat32), step);
}

ValueRef realProduct(TfliteNode& node, const Layer& layer)
{
    if (isDynamicRange(node, layer)) return dynamicRangeProduct(node, layer);
    Formula f(node);
    ValueRef data = layer.dataValue, weight = layer.weightValue;
    const TfliteTensor& file = *node.inputTensor(layer.operands.weight);
    if (node.typeOf(weight).dtype.isInt())
        weight = dequantized(node, weight, file, layer.weightAxis);
    if (node.isQuantized(layer.operands.data))
        data = dequantized(node, data, *node.inputTensor(layer.operands.data), 0);
    data = f.cast(data, kFloat32);
    return f.call(layer.forms.real, {data, f.cast(weight, kFloat32)}, layer.forms.attrs);
}

ValueRef realLayer(TfliteNode& node, const Layer& layer, FusedActivation activation)
{
    Formula f(node);
    ValueRef out = realProduct(node, layer);
    if (node.has(layer.operands.bias)) {
        ValueRef bias = node.input(layer.operands.bias);
        if (node.typeOf(bias).dtype.isInt())
            bias = dequantized(node, bias, *node.inputTensor(layer.operands.bias), 0);
        out = f.call("nn.bias_add", {out, f.cast(bias, kFloat32)}, {{"axis", layer.axis}});
    }
    out = activated(node, out, activation);
    if (!node.hasFailed() && node.isOutputQuantized(0))
        out = quantizedAs(node, out, *node.outputTensor(0));
    return out;
}

ValueRef byteLayer(TfliteNode& node, const Layer& layer, FusedActivation activation)
{
    const std::vector<double> ratios = ratiosOf(node, layer, RatioOf::Bytes);
    if (node.hasFailed()) return {};
    const auto zeroOf = [&](size_t input) {
        const TfliteQuantization& q = node.inputTensor(input)->quantization;
        const bool isZero =
            std::all_of(q.zeros.begin(), q.zeros.end(), [](int64_t zero) { return zero == 0; });
        if (isZero) return ValueRef{};
        const std::vector<int64_t> shape =
            q.zeros.size() == 1 ? std::vector<int64_t>{}
                                : std::vector<int64_t>{static_cast<int64_t>(q.zeros.size())};
        return Formula(node).integers(q.zeros, shape, node.type(input).dtype);
    };
    const ValueRef sums = node.emit(layer.forms.integer,
                                    {layer.dataValue, layer.weightValue,
                                     zeroOf(layer.operands.data), zeroOf(layer.operands.weight)},
                                    layer.forms.attrs);
    ValueRef out = node.has(layer.operands.bias) ? constantBias(node, layer, sums) : sums;
    return requantizedSums(node, out, ratios, layer.axis, activation);
}

/// True when no sum of 16-bit values times these weights leaves 32 bits.
bool fitsSums(TfliteNode& node, const Layer& layer)
{
    const Tensor* weight = node.constant(layer.operands.weight);
    const bool hasBias = node.has(layer.operands.bias);
    const Tensor* bias = hasBias ? node.constant(layer.operands.bias) : nullptr;
    if (!weight || weight->dtype() != kInt8 || (hasBias && !bias)) return false;
    const std::vector<int64_t>& shape = weight->shape();
    int64_t inner = 1; // elements between one channel and the next
    for (auto i = static_cast<size_t>(layer.fileAxis) + 1; i < shape.size(); ++i) inner *= shape[i];
    std::vector<int64_t> sums(static_cast<size_t>(layer.channels), 0);
    const std::span<const int8_t> values = weight->as<int8_t>();
    for (size_t i = 0; i < values.size(); ++i)
        sums[i / static_cast<size_t>(inner) % sums.size()] += std::abs(int64_t{values[i]});
    for (size_t i = 0; i < sums.size(); ++i) {
        constexpr int64_t kRoom = INT32_MAX;
        const int64_t at = bias ? bias->integer(static_cast<int64_t>(i)) : 0;
        if (at > kRoom || at < -kRoom || sums[i] > (kRoom - std::abs(at)) >> 15) return false;
    }
    return true;
}

/// Integers less their zero point; several zero points stand along `axis`.
ValueRef centred(TfliteNode& node, ValueRef value, size_t input, int64_t axis, DataType dtype)
{
    Formula f(node);
    const std::vector<int64_t>& zeros = node.inputTensor(input)->quantization.zeros;
    value = f.cast(value, dtype);
    if (node.hasFailed()) return {};
    if (std::all_of(zeros.begin(), zeros.end(), [](int64_t zero) { return zero == 0; }))
        return value;
    std::vector<int64_t> shape;
    if (zeros.size() > 1) {
        shape.assign(static_cast<size_t>(f.rank(value) - axis), 1);
        shape[0] = static_cast<int64_t>(zeros.size());
    }
    return f.subtract(value, f.integers(zeros, shape, dtype));
}

/// In integers as wide as the sums need.
ValueRef wideLayer(TfliteNode& node, const Layer& layer, FusedActivation activation)
{
    const bool areBytes = node.typeOf(layer.dataValue).dtype.bits == 8;
    const std::vector<double> ratios =
        ratiosOf(node, layer, areBytes ? RatioOf::Bytes : RatioOf::Wide);
    if (node.hasFailed()) return {};
    const DataType dtype = areBytes || fitsSums(node, layer) ? kInt32 : kInt64;
    const auto& [data, weight, bias] = layer.operands;
    const ValueRef sums =
        Formula(node).call(layer.forms.real,
                           {centred(node, layer.dataValue, data, 0, dtype),
                            centred(node, layer.weightValue, weight, layer.weightAxis, dtype)},
                           layer.forms.attrs);
    const ValueRef out = withBias(node, layer, sums, dtype);
    const bool isWide = !areBytes && (!node.has(bias) || node.type(bias).dtype == kInt64);
    if (isWide || dtype == kInt64)
        return requantizedWide(node, out, ratios, layer.axis, activation);
    return requantizedSums(node, out, ratios, layer.axis, activation);
}

} // namespace

ValueRef layerResult(TfliteNode& node, const Layer& layer, FusedActivation activation)
{
    if (node.hasFailed()) return {};
    const DataType data = node.typeOf(layer.dataValue).dtype;
    const DataType weight = node.typeOf(layer.weightValue).dtype;
    const bool isInteger = node.isQuantized(layer.operands.data) &&
                           node.isQuantized(layer.operands.weight) && node.isOutputQuantized(0);
    const bool isLimited = activation == FusedActivation::Tanh;
    const TfliteTensor* bias =
        node.has(layer.operands.bias) ? node.inputTensor(layer.operands.bias) : nullptr;
    const bool hasIntegerBias = !bias || node.type(layer.operands.bias).dtype.isInt();
    if (!isInteger || isLimited || !hasIntegerBias) return realLayer(node, layer, activation);
    if (data.bits == 8 && weight.bits == 8)
        return layer.forms.integer ? byteLayer(node, layer, activation)
                                   : wideLayer(node, layer, activation);
    if (data.bits == 16 && weight == kInt8) return wideLayer(node, layer, activation);
    return realLayer(node, layer, activation);
}

} // namespace tenon::compiler
