// SPDX-License-Identifier: Apache-2.0
// QUANTIZE, DEQUANTIZE, FAKE_QUANT, CAST and DENSIFY.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

void convertQuantize(TfliteNode& node)
{
    const PictureLayout layout = layoutOf(node, {0});
    if (node.hasFailed() || !node.outputType(0)) return;
    if (!node.type(0).dtype.isInt()) return outputReal(node, 0, realInput(node, 0, layout), layout);
    const TensorScale from = oneScale(node, node.inputTensor(0)),
                      to = oneScale(node, node.outputTensor(0));
    const ValueRef value = inputIn(node, 0, layout);
    if (node.hasFailed()) return;
    Formula f(node);
    const DataType dtype = *node.outputType(0);
    const float ratio = static_cast<float>(from.scale) / static_cast<float>(to.scale);
    outputIn(node, 0,
             f.call("qnn.requantize",
                    {value, f.numbers({static_cast<double>(ratio)}, {}, kFloat32),
                     integerScalar(node, to.zero, dtype)},
                    {{"input_zero_point", from.zero}, {"out_dtype", dtype}}),
             layout);
}

void convertDequantize(TfliteNode& node)
{
    const PictureLayout layout = layoutOf(node, {0});
    const TfliteTensor* tensor = node.inputTensor(0);
    const ValueRef value = inputIn(node, 0, layout);
    if (node.hasFailed() || !tensor) return;
    Formula f(node);
    if (!node.typeOf(value).dtype.isInt())
        return outputIn(node, 0, f.cast(value, kFloat32), layout);
    const auto last = static_cast<int64_t>(tensor->shape.size()) - 1;
    const int64_t axis =
        std::clamp<int64_t>(tensor->quantization.axis, 0, std::max<int64_t>(last, 0));
    outputIn(node, 0, dequantized(node, value, *tensor, axisIn(axis, layout)), layout);
}

/// Its zeros are put in where the sparse tensor is read.
void convertDensify(TfliteNode& node) { node.forward(0, 0); }

/// Values on the grid of so many bits between two limits, nudged so that zero is on it.
void convertFakeQuant(TfliteNode& node)
{
    const double low = node.number(0), high = node.number(1);
    const int64_t bits = node.integer(2);
    const PictureLayout layout = layoutOf(node, {0});
    const ValueRef value = inputIn(node, 0, layout);
    if (!(low < high) || low > 0 || high < 0 || bits < 2 || bits > 16)
        node.fail(DiagnosticCode::BadAttribute, "its range of values is not usable");
    if (node.hasFailed()) return;
    Formula f(node);
    const double least = node.flag(3) ? 1 : 0, most = std::ldexp(1.0, static_cast<int>(bits)) - 1;
    const double scale = (high - low) / (most - least);
    const double zero = std::clamp(std::round(least - low / scale), least, most);
    const ValueRef steps =
        f.divide(f.clip(value, (least - zero) * scale, (most - zero) * scale), scale);
    outputIn(node, 0, f.multiply(f.apply("floor", f.add(steps, 0.5)), scale), layout);
}

void convertCast(TfliteNode& node)
{
    const PictureLayout layout = layoutOf(node, {0});
    const ValueRef value = inputIn(node, 0, layout);
    const auto dtype = node.outputType(0);
    if (!dtype) node.fail(DiagnosticCode::UnsupportedDtype, "casts to this type are not supported");
    if (node.hasFailed()) return;
    if (node.typeOf(value).dtype == *dtype) return node.forward(0, 0);
    outputIn(node, 0, Formula(node).cast(value, *dtype), layout);
}

} // namespace tenon::compiler
