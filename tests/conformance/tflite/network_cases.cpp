// SPDX-License-Identifier: Apache-2.0
// Small networks as converters write them: what single operators do not show.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

struct NetworkKind
{
    const char* name;
    Numbers data;
    TfliteType weight;
    bool isPerAxis;
};

const NetworkKind kNetworks[] = {{"float32", kFloats, TfliteType::Float32, false},
                                 {"int8", kBytes, TfliteType::Int8, true},
                                 {"uint8", kUnsigned, TfliteType::UInt8, false},
                                 {"int16x8", kWide, TfliteType::Int8, true}};

/// Layers one after the other on a picture.
class Layers
{
public:
    Layers(CaseBuilder& c, const NetworkKind& kind, int value)
        : m_c(c)
        , m_kind(kind)
        , m_value(value)
    {
    }

    int value() const { return m_value; }

    void conv(const Shape32& kernel, const Shape32& out, int32_t stride,
              const Activation& activation)
    {
        const int w = weight(kernel, 0);
        const int b = m_c.bias(m_data, w, kernel[0]);
        add("CONV_2D", {m_value, w, b}, out,
            FlatOut()
                .number(0, int8_t{0})
                .number(1, stride)
                .number(2, stride)
                .number(3, activation.code));
    }

    void depthwise(const Shape32& kernel, const Shape32& out, int32_t stride)
    {
        const int w = weight(kernel, 3);
        const int b = m_c.bias(m_data, w, kernel[3]);
        add("DEPTHWISE_CONV_2D", {m_value, w, b}, out,
            FlatOut()
                .number(0, int8_t{0})
                .number(1, stride)
                .number(2, stride)
                .number(3, 1)
                .number(4, kRelu6.code));
    }

    void plus(int other, const Shape32& out)
    {
        add("ADD", {m_value, other}, out, FlatOut().number(0, kRelu.code).number(1, uint8_t{0}));
    }

    void classify(const Shape32& picture, int32_t classes)
    {
        const int32_t channels = picture[3];
        const Shape32 pooled{1, 1, 1, channels};
        const int pool = m_c.between(m_data, pooled);
        m_c.model().op("AVERAGE_POOL_2D", {m_value}, {pool},
                       FlatOut()
                           .number(0, int8_t{1})
                           .number(1, 1)
                           .number(2, 1)
                           .number(3, picture[2])
                           .number(4, picture[1]));
        const int flat = m_c.between(m_data, {1, channels});
        m_c.model().op("RESHAPE", {pool, m_c.integers({1, channels})}, {flat});
        const int w = m_c.weight(m_kind.weight, {classes, channels}, -1);
        const int b = m_c.bias(m_data, w, classes);
        const Numbers last = m_data.isFloat() ? m_data : m_data.within(-9, 8);
        const int logits = m_c.between(last, {1, classes});
        m_c.model().op("FULLY_CONNECTED", {flat, w, b}, {logits}, FlatOut().number(0, int8_t{0}));
        const Numbers shares = m_data.isFloat() ? m_data
                               : m_data.type == TfliteType::Int16
                                   ? m_data.within(-32767.0 / 32768, 0)
                                   : m_data.within(0, 255.0 / 256);
        m_c.model().op("SOFTMAX", {logits}, {m_c.output(shares, {1, classes})},
                       FlatOut().number(0, 1.0F));
    }

private:
    int weight(const Shape32& kernel, int axis)
    {
        return m_c.weight(m_kind.weight, kernel, m_kind.isPerAxis ? axis : -1, 0.25);
    }

    void add(const char* op, const Shape32& inputs, const Shape32& out, FlatOut options)
    {
        m_data = m_kind.data.isFloat() ? m_kind.data : m_kind.data.within(-5, 6);
        const int result = m_c.between(m_data, out);
        m_c.model().op(op, inputs, {result}, std::move(options));
        m_value = result;
    }

    CaseBuilder& m_c;
    NetworkKind m_kind;
    Numbers m_data = m_kind.data; ///< of the value
    int m_value;
};

void addResidual(TfliteCases& all, const NetworkKind& kind)
{
    CaseBuilder c(all, "network", kind.name, "residual");
    Layers layers(c, kind, c.input(kind.data, {1, 12, 12, 3}));
    layers.conv({16, 3, 3, 3}, {1, 12, 12, 16}, 1, kRelu);
    const int before = layers.value();
    layers.conv({16, 3, 3, 16}, {1, 12, 12, 16}, 1, kRelu);
    layers.conv({16, 3, 3, 16}, {1, 12, 12, 16}, 1, kNoActivation);
    layers.plus(before, {1, 12, 12, 16});
    layers.conv({24, 3, 3, 16}, {1, 6, 6, 24}, 2, kRelu);
    layers.classify({1, 6, 6, 24}, 7);
}

void addSeparable(TfliteCases& all, const NetworkKind& kind)
{
    CaseBuilder c(all, "network", kind.name, "separable");
    Layers layers(c, kind, c.input(kind.data, {1, 16, 16, 3}));
    layers.conv({8, 3, 3, 3}, {1, 8, 8, 8}, 2, kRelu6);
    layers.depthwise({1, 3, 3, 8}, {1, 8, 8, 8}, 1);
    layers.conv({16, 1, 1, 8}, {1, 8, 8, 16}, 1, kRelu6);
    layers.depthwise({1, 3, 3, 16}, {1, 4, 4, 16}, 2);
    layers.conv({20, 1, 1, 16}, {1, 4, 4, 20}, 1, kRelu6);
    layers.classify({1, 4, 4, 20}, 5);
}

} // namespace

void addNetworkCases(TfliteCases& all)
{
    for (const NetworkKind& kind : kNetworks) {
        addResidual(all, kind);
        addSeparable(all, kind);
    }
}

} // namespace tenon::test
