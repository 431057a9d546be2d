// SPDX-License-Identifier: Apache-2.0
// Random tensors of a case, and the files' forms of them.
#include "tests/conformance/tflite/case_builder.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test {

using core::DataType;
using core::Tensor;

namespace {

struct Whole
{
    double low, high;
};

Whole wholeRange(TfliteType type)
{
    if (type == TfliteType::Int8) return {-128, 127};
    if (type == TfliteType::UInt8) return {0, 255};
    return {-32768, 32767};
}

DataType dtypeOf(TfliteType type) { return *compiler::tfliteDataType(static_cast<int8_t>(type)); }

Tensor tensorOf(TfliteType type, const Shape32& shape, const std::vector<double>& values)
{
    const DataType dtype = dtypeOf(type);
    return Tensor::make(dtype, {shape.begin(), shape.end()}, [&](std::span<std::byte> out) {
        for (size_t i = 0; i < values.size(); ++i)
            core::storeNumber(dtype, out, static_cast<int64_t>(i), values[i]);
    });
}

/// A seed that is the same everywhere: FNV-1a.
uint32_t seedOf(const std::string& text)
{
    uint32_t hash = 2166136261U;
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619U;
    return hash;
}

} // namespace

Numbers Numbers::within(double newLow, double newHigh) const
{
    Numbers out = *this;
    out.low = newLow;
    out.high = newHigh;
    return out;
}

TfliteScale scaleOf(const Numbers& numbers)
{
    if (!numbers.isQuantized) return {};
    const Whole whole = wholeRange(numbers.type);
    if (numbers.type == TfliteType::Int16) {
        const double most = std::max(std::fabs(numbers.low), std::fabs(numbers.high));
        return {{static_cast<float>(most / 32767)}, {0}};
    }
    const auto scale = static_cast<float>((numbers.high - numbers.low) / 255);
    const double zero = std::round(whole.low - numbers.low / static_cast<double>(scale));
    return {{scale}, {static_cast<int64_t>(std::clamp(zero, whole.low, whole.high))}};
}

std::string shapeText(const Shape32& shape)
{
    return shape.empty() ? "scalar"
                         : core::join(std::vector<int64_t>(shape.begin(), shape.end()), "x");
}

int64_t countOf(const Shape32& shape)
{
    int64_t count = 1;
    for (const int32_t dim : shape) count *= dim;
    return count;
}

CaseBuilder::CaseBuilder(TfliteCases& all, std::string op, std::string type, std::string what)
    : m_all(all)
    , m_case{std::move(op), std::move(type), std::move(what), {}, {}, {}}
    , m_random(seedOf(m_case.op + " " + m_case.type + " " + m_case.what))
{
}

CaseBuilder::~CaseBuilder()
{
    for (const auto& [wide, narrow] : m_narrowed)
        model().op("CAST", {wide}, {narrow},
                   FlatOut()
                       .number(0, static_cast<int8_t>(TfliteType::Int64))
                       .number(1, static_cast<int8_t>(TfliteType::Int32)));
    m_all.push_back(std::move(m_case));
}

double CaseBuilder::draw(double low, double high)
{
    return low + (high - low) * std::ldexp(static_cast<double>(m_random()), -32);
}

std::string CaseBuilder::nextName() { return "t" + std::to_string(m_names++); }

std::vector<double> CaseBuilder::drawn(const Numbers& numbers, const Shape32& shape)
{
    std::vector<double> values(static_cast<size_t>(countOf(shape)));
    const Whole whole = wholeRange(numbers.type);
    for (double& value : values) {
        if (numbers.isQuantized)
            value = std::floor(draw(whole.low, whole.high + 1));
        else if (numbers.isFloat())
            value = draw(numbers.low, numbers.high);
        else
            value = std::floor(draw(numbers.low, numbers.high + 1));
    }
    return values;
}

int CaseBuilder::input(const Numbers& numbers, const Shape32& shape)
{
    return input(numbers, shape, drawn(numbers, shape));
}

int CaseBuilder::input(const Numbers& numbers, const Shape32& shape,
                       const std::vector<double>& values)
{
    if (numbers.type == TfliteType::Int64) {
        const int narrow = input(kInts, shape, values);
        const int wide = model().tensor(nextName(), numbers.type, shape);
        model().op("CAST", {narrow}, {wide},
                   FlatOut()
                       .number(0, static_cast<int8_t>(TfliteType::Int32))
                       .number(1, static_cast<int8_t>(TfliteType::Int64)));
        return wide;
    }
    m_case.inputs.push_back(tensorOf(numbers.type, shape, values));
    return model().input(nextName(), numbers.type, shape, scaleOf(numbers));
}

int CaseBuilder::filled(const Numbers& numbers, const Shape32& shape,
                        const std::vector<double>& stored)
{
    const Tensor tensor = tensorOf(numbers.type, shape, stored);
    const auto raw = tensor.bytes();
    std::vector<uint8_t> bytes(raw.size());
    std::transform(raw.begin(), raw.end(), bytes.begin(),
                   [](std::byte b) { return static_cast<uint8_t>(b); });
    return model().constant(nextName(), numbers.type, shape, bytes, scaleOf(numbers));
}

int CaseBuilder::constant(const Numbers& numbers, const Shape32& shape)
{
    return filled(numbers, shape, drawn(numbers, shape));
}

int CaseBuilder::constant(const Numbers& numbers, const Shape32& shape,
                          const std::vector<double>& values)
{
    return filled(numbers, shape, values);
}

int CaseBuilder::integers(const std::vector<int32_t>& values)
{
    return integers(values, {static_cast<int32_t>(values.size())});
}

int CaseBuilder::integers(const std::vector<int32_t>& values, const Shape32& shape)
{
    return model().constant(nextName(), TfliteType::Int32, shape, values);
}

int CaseBuilder::output(const Numbers& numbers, const Shape32& shape)
{
    if (numbers.type == TfliteType::Int64) {
        const int wide = model().tensor(nextName(), numbers.type, shape);
        m_narrowed.emplace_back(wide, output(kInts, shape));
        return wide;
    }
    return model().output(nextName(), numbers.type, shape, scaleOf(numbers));
}

int CaseBuilder::between(const Numbers& numbers, const Shape32& shape)
{
    return model().tensor(nextName(), numbers.type, shape, scaleOf(numbers));
}

int CaseBuilder::variable(const Numbers& numbers, const Shape32& shape)
{
    return model().variable(nextName(), numbers.type, shape, scaleOf(numbers));
}

int CaseBuilder::weight(TfliteType type, const Shape32& shape, int axis, double reach)
{
    const auto count = static_cast<size_t>(countOf(shape));
    if (type == TfliteType::Float32) return constant(kFloats.within(-reach, reach), shape);
    const bool isUnsigned = type == TfliteType::UInt8;
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes)
        byte = static_cast<uint8_t>(
            static_cast<int>(std::floor(isUnsigned ? draw(0, 256) : draw(-127, 128))));
    TfliteScale scale{{}, {}, std::max(axis, 0)};
    const int32_t scales = axis < 0 ? 1 : shape[static_cast<size_t>(axis)];
    for (int32_t i = 0; i < scales; ++i) {
        scale.scales.push_back(static_cast<float>(reach / 127 * draw(0.5, 1)));
        scale.zeros.push_back(isUnsigned ? 121 : 0);
    }
    const int id = model().constant(nextName(), type, shape, bytes, scale);
    m_scales.resize(static_cast<size_t>(id) + 1);
    m_scales.back() = scale;
    return id;
}

int CaseBuilder::bias(const Numbers& data, int weight, int32_t channels)
{
    if (data.isFloat()) return constant(kFloats, {channels});
    const TfliteScale& of = m_scales.at(static_cast<size_t>(weight));
    const float step = scaleOf(data).scales.at(0);
    TfliteScale scale{{}, std::vector<int64_t>(of.scales.size(), 0), 0};
    for (const float each : of.scales) scale.scales.push_back(step * each);
    std::vector<int64_t> values(static_cast<size_t>(channels));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] =
            std::llround(draw(-2, 2) / static_cast<double>(scale.scales[i % scale.scales.size()]));
    if (data.type == TfliteType::Int16)
        return model().constant(nextName(), TfliteType::Int64, {channels}, values, scale);
    return model().constant(nextName(), TfliteType::Int32, {channels},
                            std::vector<int32_t>(values.begin(), values.end()), scale);
}

void CaseBuilder::op(const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                     FlatOut options)
{
    model().op(m_case.op, inputs, outputs, std::move(options));
}

} // namespace tenon::test
