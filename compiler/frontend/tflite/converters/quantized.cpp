// SPDX-License-Identifier: Apache-2.0
// Quantization parameters as operands, and integer results.
#include "compiler/frontend/tflite/converters/quantized.h"

#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/file/element_types.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

struct RealLimits
{
    std::optional<double> low, high;
};

RealLimits limitsOf(FusedActivation activation)
{
    switch (activation) {
    case FusedActivation::Relu: return {0.0, {}};
    case FusedActivation::ReluN1To1: return {-1.0, 1.0};
    case FusedActivation::Relu6: return {0.0, 6.0};
    default: return {};
    }
}

std::vector<int64_t> channelShape(int64_t rank, int64_t axis, size_t count)
{
    std::vector<int64_t> shape(static_cast<size_t>(rank - axis), 1);
    shape[0] = static_cast<int64_t>(count);
    return shape;
}

/// One per channel so that it broadcasts, or a scalar.
template <class T>
std::vector<int64_t> shapeFor(TfliteNode& node, ValueRef sums, int64_t axis,
                              const std::vector<T>& values)
{
    if (values.size() == 1) return {};
    return channelShape(static_cast<int64_t>(node.typeOf(sums).shape.size()), axis, values.size());
}

} // namespace

FusedActivation activationAt(TfliteNode& node, int field)
{
    const int64_t code = node.byte(field);
    if (code >= 0 && code <= 4) return static_cast<FusedActivation>(code);
    node.fail(DiagnosticCode::UnsupportedFeature,
              "the fused activation " + std::to_string(code) + " is not supported");
    return FusedActivation::None;
}

ValueRef integerScalar(TfliteNode& node, int64_t value, DataType dtype)
{
    return Formula(node).integers({value}, {}, dtype);
}

ValueRef dequantized(TfliteNode& node, ValueRef value, const TfliteTensor& tensor, int64_t axis)
{
    if (node.hasFailed()) return {};
    const TfliteQuantization& q = tensor.quantization;
    Formula f(node);
    const DataType dtype = f.dtype(value);
    if (q.scales.empty()) return f.cast(value, kFloat32);
    const bool isOne = q.scales.size() == 1;
    const std::vector<int64_t> shape =
        isOne ? std::vector<int64_t>{}
              : std::vector<int64_t>{static_cast<int64_t>(q.scales.size())};
    std::vector<ValueRef> operands{value, f.numbers(q.scales, shape, kFloat32)};
    const bool hasZeros =
        std::any_of(q.zeros.begin(), q.zeros.end(), [](int64_t zero) { return zero != 0; });
    if (hasZeros) operands.push_back(f.integers(q.zeros, shape, dtype));
    return f.call("qnn.dequantize", std::move(operands), {{"axis", isOne ? int64_t{0} : axis}});
}

ValueRef realInput(TfliteNode& node, size_t input, PictureLayout layout)
{
    const ValueRef value = inputIn(node, input, layout);
    if (node.hasFailed()) return {};
    const DataType dtype = node.typeOf(value).dtype;
    if (!node.isQuantized(input) || !dtype.isInt() || dtype.bits > 16)
        return dtype.isFloat() && dtype.bits < 32 ? Formula(node).cast(value, kFloat32) : value;
    const TfliteTensor& tensor = *node.inputTensor(input);
    const int64_t rank = static_cast<int64_t>(tensor.shape.size());
    const int64_t axis =
        std::clamp<int64_t>(tensor.quantization.axis, 0, std::max<int64_t>(rank - 1, 0));
    return dequantized(node, value, tensor, axisIn(axis, layout));
}

ValueRef activated(TfliteNode& node, ValueRef value, FusedActivation activation)
{
    Formula f(node);
    if (activation == FusedActivation::Relu) return f.apply("nn.relu", value);
    if (activation == FusedActivation::Tanh) return f.apply("tanh", value);
    const RealLimits limits = limitsOf(activation);
    return limits.low ? f.clip(value, *limits.low, *limits.high) : value;
}

ValueRef quantizedAs(TfliteNode& node, ValueRef value, const TfliteTensor& tensor)
{
    const auto dtype = tfliteDataType(tensor.type);
    const TensorScale to = oneScale(node, &tensor);
    if (node.hasFailed() || !dtype) return value;
    Formula f(node);
    return f.call(
        "qnn.quantize",
        {value, f.numbers({to.scale}, {}, kFloat32), integerScalar(node, to.zero, *dtype)},
        {{"axis", int64_t{0}}, {"out_dtype", *dtype}});
}

void outputReal(TfliteNode& node, size_t output, ValueRef value, PictureLayout layout,
                FusedActivation activation)
{
    value = activated(node, value, activation);
    if (node.hasFailed()) return;
    const auto dtype = node.outputType(output);
    if (node.isOutputQuantized(output) && dtype->bits <= 16 && node.typeOf(value).dtype.isFloat())
        value = quantizedAs(node, value, *node.outputTensor(output));
    else if (dtype && dtype->isFloat())
        value = Formula(node).cast(value, *dtype);
    outputIn(node, output, value, layout);
}

TensorScale oneScale(TfliteNode& node, const TfliteTensor* tensor)
{
    if (node.hasFailed()) return {};
    if (tensor && tensor->quantization.scales.size() == 1) {
        const double scale = tensor->quantization.scales[0];
        const int64_t zero = tensor->quantization.zeros[0];
        if (scale > 0 && std::isfinite(scale) && zero >= INT32_MIN && zero <= INT32_MAX)
            return {scale, zero};
    }
    node.fail(DiagnosticCode::BadModel,
              "tensor " + (tensor ? "`" + tensor->name + "`" : std::string("of an operand")) +
                  " needs one positive scale",
              tensor ? tensor->name : std::string());
    return {};
}

bool haveSameScale(const TfliteTensor* a, const TfliteTensor* b)
{
    return a && b && a->type == b->type && a->quantization.scales == b->quantization.scales &&
           a->quantization.zeros == b->quantization.zeros;
}

Attrs integerLimits(TfliteNode& node, size_t output, FusedActivation activation)
{
    const auto dtype = node.outputType(output);
    if (!dtype) {
        node.fail(DiagnosticCode::BadOperandCount,
                  "output " + std::to_string(output) + " is missing");
        return {};
    }
    Attrs attrs{{"out_dtype", *dtype}};
    const RealLimits limits = limitsOf(activation);
    if (!limits.low) return attrs;
    const TensorScale to = oneScale(node, node.outputTensor(output));
    const double bottom = dtype->isSigned() ? -std::ldexp(1.0, dtype->bits - 1) : 0;
    const double top = std::ldexp(1.0, dtype->bits - (dtype->isSigned() ? 1 : 0)) - 1;
    const auto whole = [&](double real) {
        const double at = std::round(real / to.scale) + static_cast<double>(to.zero);
        return static_cast<int64_t>(std::clamp(at, bottom, top));
    };
    const int64_t low = whole(*limits.low);
    if (low > static_cast<int64_t>(bottom)) attrs.set("a_min", low);
    const int64_t high = limits.high ? whole(*limits.high) : static_cast<int64_t>(top);
    if (high < static_cast<int64_t>(top)) attrs.set("a_max", high);
    return attrs;
}

ValueRef requantizedSums(TfliteNode& node, ValueRef sums, const std::vector<double>& ratios,
                         int64_t axis, FusedActivation activation)
{
    const TensorScale to = oneScale(node, node.outputTensor(0));
    Attrs limits = integerLimits(node, 0, activation);
    if (node.hasFailed()) return {};
    Formula f(node);
    const ValueRef zero = integerScalar(node, to.zero, *node.outputType(0));
    return f.call("qnn.requantize",
                  {sums, f.numbers(ratios, shapeFor(node, sums, axis, ratios), kFloat32), zero},
                  std::move(limits));
}

namespace {

/// ratio = multiplier * 2^-shift with 16 bits of multiplier; nothing when 64 bits cannot do it.
struct WideRatio
{
    int64_t multiplier = 0;
    int64_t shift = 0;
};

std::optional<WideRatio> wideRatio(double ratio)
{
    int exponent = 0;
    const double fraction = std::frexp(ratio, &exponent);
    auto fixed = static_cast<int64_t>(std::round(fraction * std::ldexp(1.0, 31)));
    if (fixed == int64_t{1} << 31) {
        fixed /= 2;
        ++exponent;
    }
    if (exponent < -31) return WideRatio{0, 1};
    const WideRatio out{fixed < 0x7fff0000 ? (fixed + (1 << 15)) >> 16 : 0x7fff, 15 - exponent};
    return out.shift > 0 && out.shift < 63 ? std::optional(out) : std::nullopt;
}

} // namespace

ValueRef requantizedWide(TfliteNode& node, ValueRef sums, const std::vector<double>& ratios,
                         int64_t axis, FusedActivation activation)
{
    std::vector<int64_t> multipliers, halves, shifts;
    for (const double ratio : ratios) {
        const auto wide = wideRatio(ratio);
        if (!wide) {
            node.fail(DiagnosticCode::UnsupportedFeature,
                      "the ratio of scales " + std::to_string(ratio) + " is too large");
            return {};
        }
        multipliers.push_back(wide->multiplier);
        halves.push_back(int64_t{1} << (wide->shift - 1));
        shifts.push_back(wide->shift);
    }
    const TensorScale to = oneScale(node, node.outputTensor(0));
    const Attrs limits = integerLimits(node, 0, activation);
    if (node.hasFailed()) return {};
    Formula f(node);
    const std::vector<int64_t> shape = shapeFor(node, sums, axis, ratios);
    ValueRef value = f.multiply(f.cast(sums, kInt64), f.integers(multipliers, shape));
    value = f.add(value, f.integers(halves, shape));
    value = f.call("right_shift", {value, f.integers(shifts, shape)});
    value = f.add(value, static_cast<double>(to.zero));
    const DataType dtype = *node.outputType(0);
    const int64_t bottom = -(int64_t{1} << (dtype.bits - 1)), top = -bottom - 1;
    value =
        f.call("maximum", {value, integerScalar(node, limits.integer("a_min", bottom), kInt64)});
    value = f.call("minimum", {value, integerScalar(node, limits.integer("a_max", top), kInt64)});
    return f.cast(value, dtype);
}

} // namespace tenon::compiler
