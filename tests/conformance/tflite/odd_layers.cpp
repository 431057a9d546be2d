// SPDX-License-Identifier: Apache-2.0
// Layers of odd networks as operators of the file.
#include "tests/conformance/tflite/odd_layers.h"

namespace tenon::test {

OddValue OddLayers::input(const Shape32& shape)
{
    return {m_c.input(m_kind.data, shape), m_kind.data, shape};
}

OddValue OddLayers::windowed(const OddValue& x, const OddWindow& window, bool isDepthwise)
{
    const int32_t channels = window.kernel[isDepthwise ? 3 : 0];
    const int axis = m_kind.isPerAxis ? (isDepthwise ? 3 : 0) : -1;
    const int w = m_c.weight(m_kind.weight, window.kernel, axis, 0.3);
    const int b = m_c.bias(x.numbers, w, channels);
    FlatOut options;
    options.number(0, static_cast<int8_t>(window.isValid ? 1 : 0))
        .number(1, window.stride)
        .number(2, window.stride);
    int field = 3;
    if (isDepthwise) options.number(field++, channels / x.shape[3]);
    options.number(field, window.activation.code)
        .number(field + 1, window.dilationW)
        .number(field + 2, window.dilationH);
    return made(isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", {x.tensor, w, b}, window.out, -5, 6,
                std::move(options));
}

OddValue OddLayers::conv(const OddValue& x, const OddWindow& window)
{
    return windowed(x, window, false);
}

OddValue OddLayers::depthwise(const OddValue& x, const OddWindow& window)
{
    return windowed(x, window, true);
}

OddValue OddLayers::transposed(const OddValue& x, const Shape32& kernel, const Shape32& out)
{
    const int shape = m_c.integers(out);
    const int w = m_c.weight(m_kind.weight, kernel, m_kind.isPerAxis ? 0 : -1, 0.3);
    const int b = m_c.bias(x.numbers, w, kernel[0]);
    return made("TRANSPOSE_CONV", {shape, w, x.tensor, b}, out, -5, 6,
                FlatOut().number(0, int8_t{0}).number(1, 2).number(2, 2));
}

OddValue OddLayers::dense(const OddValue& x, int32_t units, const Activation& activation)
{
    const int32_t depth = static_cast<int32_t>(countOf(x.shape)) / x.shape[0];
    const int w = m_c.weight(m_kind.weight, {units, depth}, -1, 0.3);
    const int b = m_c.bias(x.numbers, w, units);
    return made("FULLY_CONNECTED", {x.tensor, w, b}, {x.shape[0], units}, -5, 6,
                FlatOut().number(0, activation.code));
}

OddValue OddLayers::moved(const char* op, const std::vector<int32_t>& inputs, const OddValue& like,
                          const Shape32& out, FlatOut options)
{
    const int result = m_c.between(like.numbers, out);
    m_c.model().op(op, inputs, {result}, std::move(options));
    return {result, like.numbers, out};
}

OddValue OddLayers::made(const char* op, const std::vector<int32_t>& inputs, const Shape32& out,
                         double low, double high, FlatOut options)
{
    const Numbers numbers = m_kind.data.isFloat() ? m_kind.data : m_kind.data.within(low, high);
    const int result = m_c.between(numbers, out);
    m_c.model().op(op, inputs, {result}, std::move(options));
    return {result, numbers, out};
}

OddValue OddLayers::logistic(const OddValue& x)
{
    const bool isWide = m_kind.data.type == TfliteType::Int16;
    return made("LOGISTIC", {x.tensor}, x.shape, isWide ? -32767.0 / 32768 : 0,
                isWide ? 0 : 255.0 / 256);
}

void OddLayers::result(const OddValue& value) { m_c.model().markOutput(value.tensor); }

} // namespace tenon::test
