// SPDX-License-Identifier: Apache-2.0
// Elementwise operators, products of matrices and reductions in doubles.
#include "tests/fuzz/quantized/exact_operators.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon::test {

using tenon_onnx::NodeProto;

int64_t countOf(const Dims& shape)
{
    int64_t count = 1;
    for (const int64_t dim : shape) count *= dim;
    return count;
}

Array arrayOf(Dims shape, const std::function<double(int64_t)>& at)
{
    Array out{std::move(shape), {}};
    const int64_t count = countOf(out.shape);
    out.data.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) out.data.push_back(at(i));
    return out;
}

void forEachIndex(const Dims& shape, const std::function<void(const Dims&)>& each)
{
    Dims index(shape.size(), 0);
    for (int64_t left = countOf(shape); left > 0; --left) {
        each(index);
        for (size_t axis = shape.size(); axis-- > 0;) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
}

int64_t flatIndex(const Dims& shape, const Dims& index)
{
    int64_t at = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) at = at * shape[axis] + index[axis];
    return at;
}

namespace {

const tenon_onnx::AttributeProto* find(const NodeProto& node, const std::string& name)
{
    for (const auto& attr : node.attribute())
        if (attr.name() == name) return &attr;
    return nullptr;
}

} // namespace

int64_t intOf(const NodeProto& node, const std::string& name, int64_t fallback)
{
    const auto* attr = find(node, name);
    return attr ? attr->i() : fallback;
}

double floatOf(const NodeProto& node, const std::string& name, double fallback)
{
    const auto* attr = find(node, name);
    return attr ? static_cast<double>(attr->f()) : fallback;
}

std::string textOf(const NodeProto& node, const std::string& name)
{
    const auto* attr = find(node, name);
    return attr ? attr->s() : std::string();
}

Dims intsOf(const NodeProto& node, const std::string& name, Dims fallback)
{
    const auto* attr = find(node, name);
    return attr ? Dims(attr->ints().begin(), attr->ints().end()) : std::move(fallback);
}

double wholeOf(double value)
{
    const double half = std::floor(value) + 0.5;
    if (std::fabs(value - half) <= 1e-11 * std::max(1.0, std::fabs(value)))
        return std::fmod(std::floor(value), 2.0) == 0 ? std::floor(value) : std::floor(value) + 1;
    return std::nearbyint(value);
}

namespace {

/// The element of `array` that stands at `index` of a wider shape.
double broadcastAt(const Array& array, const Dims& index)
{
    const size_t lead = index.size() - array.shape.size();
    int64_t at = 0;
    for (size_t axis = 0; axis < array.shape.size(); ++axis)
        at = at * array.shape[axis] + (array.shape[axis] == 1 ? 0 : index[lead + axis]);
    return array.data[static_cast<size_t>(at)];
}

Array combined(const Array& a, const Array& b, const std::function<double(double, double)>& with)
{
    const Dims& longer = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
    const Dims& shorter = a.shape.size() >= b.shape.size() ? b.shape : a.shape;
    Dims shape = longer;
    for (size_t i = 0; i < shorter.size(); ++i) {
        int64_t& dim = shape[shape.size() - 1 - i];
        dim = std::max(dim, shorter[shorter.size() - 1 - i]);
    }
    Array out{shape, {}};
    forEachIndex(shape, [&](const Dims& index) {
        out.data.push_back(with(broadcastAt(a, index), broadcastAt(b, index)));
    });
    return out;
}

/// A product of matrices; leading dimensions are those of `a`, and of `b` where it has any.
Array matMul(const Array& a, const Array& b)
{
    const size_t rank = a.shape.size(), rankB = b.shape.size();
    const int64_t depth = a.shape[rank - 1], columns = b.shape[rankB - 1];
    Dims shape = a.shape;
    shape[rank - 1] = columns;
    return arrayOf(shape, [&](int64_t i) {
        const int64_t row = i / columns, column = i % columns;
        const int64_t batch = rankB > 2 ? row / a.shape[rank - 2] : 0;
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
            sum += a.data[static_cast<size_t>(row * depth + k)] *
                   b.data[static_cast<size_t>((batch * depth + k) * columns + column)];
        return sum;
    });
}

Array gemm(const NodeProto& node, const Operands& in)
{
    Array b = *in[1];
    if (intOf(node, "transB", 0) != 0)
        b = arrayOf({in[1]->shape[1], in[1]->shape[0]}, [&](int64_t i) {
            const int64_t rows = in[1]->shape[0], depth = in[1]->shape[1];
            return in[1]->data[static_cast<size_t>((i % rows) * depth + i / rows)];
        });
    const Array product = matMul(*in[0], b);
    if (in.size() < 3 || !in[2]) return product;
    return combined(product, *in[2], [](double x, double y) { return x + y; });
}

Array reduceMean(const NodeProto& node, const Operands& in)
{
    Dims axes = intsOf(node, "axes", {});
    if (in.size() > 1 && in[1])
        for (const double axis : in[1]->data) axes.push_back(static_cast<int64_t>(axis));
    Dims kept = in[0]->shape, shape;
    int64_t count = 1;
    for (const int64_t axis : axes) count *= std::exchange(kept[static_cast<size_t>(axis)], 1);
    Array out = arrayOf(kept, [](int64_t) { return 0.0; });
    size_t from = 0;
    forEachIndex(in[0]->shape, [&](Dims index) {
        for (size_t axis = 0; axis < index.size(); ++axis)
            if (kept[axis] == 1) index[axis] = 0;
        out.data[static_cast<size_t>(flatIndex(kept, index))] += in[0]->data[from++];
    });
    for (double& value : out.data) value /= static_cast<double>(count);
    if (intOf(node, "keepdims", 1) == 0) {
        for (size_t axis = 0; axis < kept.size(); ++axis)
            if (std::count(axes.begin(), axes.end(), static_cast<int64_t>(axis)) == 0)
                shape.push_back(kept[axis]);
        out.shape = shape;
    }
    return out;
}

/// Along the last axis.
Array softmax(const Array& x)
{
    Array out = x;
    const auto width = static_cast<size_t>(x.shape.back());
    for (size_t row = 0; row < x.data.size(); row += width) {
        const auto begin = out.data.begin() + static_cast<int64_t>(row);
        const auto end = begin + static_cast<int64_t>(width);
        const double most = *std::max_element(begin, end);
        double sum = 0;
        std::for_each(begin, end, [&](double& v) { sum += v = std::exp(v - most); });
        std::for_each(begin, end, [&](double& v) { v /= sum; });
    }
    return out;
}

/// Scale, bias, mean and variance of each channel.
Array batchNorm(const NodeProto& node, const Operands& in)
{
    const Dims& shape = in[0]->shape;
    const int64_t area = countOf({shape.begin() + 2, shape.end()});
    return arrayOf(shape, [&](int64_t i) {
        const auto channel = static_cast<size_t>(i / area % shape[1]);
        const auto of = [&](size_t k) { return in[k]->data[channel]; };
        const double deviation = std::sqrt(of(4) + floatOf(node, "epsilon", 1e-5));
        return (in[0]->data[static_cast<size_t>(i)] - of(3)) / deviation * of(1) + of(2);
    });
}

/// Along the last axis.
Array layerNorm(const NodeProto& node, const Operands& in)
{
    Array out = *in[0];
    const auto width = static_cast<size_t>(out.shape.back());
    for (size_t row = 0; row < out.data.size(); row += width) {
        double mean = 0, variance = 0;
        for (size_t i = row; i < row + width; ++i) mean += out.data[i];
        mean /= static_cast<double>(width);
        for (size_t i = row; i < row + width; ++i)
            variance += (out.data[i] - mean) * (out.data[i] - mean);
        variance /= static_cast<double>(width);
        const double deviation = std::sqrt(variance + floatOf(node, "epsilon", 1e-5));
        for (size_t i = row; i < row + width; ++i)
            out.data[i] =
                (out.data[i] - mean) / deviation * in[1]->data[i - row] + in[2]->data[i - row];
    }
    return out;
}

using Function = std::function<double(double)>;

Function functionOf(const NodeProto& node, const Operands& in)
{
    const std::string& op = node.op_type();
    if (op == "Relu") return [](double x) { return std::max(x, 0.0); };
    if (op == "Sigmoid") return [](double x) { return 1 / (1 + std::exp(-x)); };
    if (op == "Tanh") return [](double x) { return std::tanh(x); };
    if (op == "Erf") return [](double x) { return std::erf(x); };
    if (op == "Exp") return [](double x) { return std::exp(x); };
    if (op == "HardSwish") return [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); };
    if (op == "LeakyRelu")
        return [slope = floatOf(node, "alpha", 0.01)](double x) { return x < 0 ? slope * x : x; };
    if (op == "HardSigmoid")
        return [slope = floatOf(node, "alpha", 0.2), lift = floatOf(node, "beta", 0.5)](double x) {
            return std::clamp(slope * x + lift, 0.0, 1.0);
        };
    if (op == "Clip")
        return [low = in.at(1)->data[0], high = in.at(2)->data[0]](double x) {
            return std::clamp(x, low, high);
        };
    return nullptr;
}

} // namespace

Array evaluateReal(const NodeProto& node, const Operands& in)
{
    const std::string& op = node.op_type();
    if (op == "Add") return combined(*in[0], *in[1], [](double x, double y) { return x + y; });
    if (op == "Sub") return combined(*in[0], *in[1], [](double x, double y) { return x - y; });
    if (op == "Mul") return combined(*in[0], *in[1], [](double x, double y) { return x * y; });
    if (op == "Div") return combined(*in[0], *in[1], [](double x, double y) { return x / y; });
    if (op == "Max")
        return combined(*in[0], *in[1], [](double x, double y) { return std::max(x, y); });
    if (op == "Min")
        return combined(*in[0], *in[1], [](double x, double y) { return std::min(x, y); });
    if (op == "BatchNormalization") return batchNorm(node, in);
    if (op == "LayerNormalization") return layerNorm(node, in);
    if (op == "PRelu")
        return combined(*in[0], *in[1], [](double x, double y) { return x < 0 ? x * y : x; });
    if (op == "MatMul") return matMul(*in[0], *in[1]);
    if (op == "Gemm") return gemm(node, in);
    if (op == "ReduceMean") return reduceMean(node, in);
    if (op == "Softmax") return softmax(*in[0]);
    Array out;
    if (evaluateWindow(node, in, out) || evaluateMovement(node, in, out)) return out;
    const Function function = functionOf(node, in);
    CHECK(function) << "no exact evaluation of " << op;
    return arrayOf(in[0]->shape,
                   [&](int64_t i) { return function(in[0]->data[static_cast<size_t>(i)]); });
}

} // namespace tenon::test
