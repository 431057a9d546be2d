// SPDX-License-Identifier: Apache-2.0
// Quantization in doubles, and the operators on quantized tensors through real ones.
#include "tests/fuzz/quantized/quantized_graph.h"

#include <algorithm>
#include <cmath>

namespace tenon::test {

using core::DataType;
using tenon_onnx::NodeProto;

namespace {

/// Element `i` of parameters for data of `shape` that may count along `axis`.
double parameterAt(const Array* parameters, const Dims& shape, size_t axis, int64_t i)
{
    if (!parameters) return 0;
    if (parameters->data.size() == 1) return parameters->data[0];
    const int64_t inner = countOf({shape.begin() + static_cast<int64_t>(axis) + 1, shape.end()});
    return parameters->data[static_cast<size_t>(i / inner % shape[axis])];
}

/// Scale, zero point and the axis they count along.
struct Parameters
{
    const Array* scale;
    const Array* zero;
    size_t axis = 0;
};

/// Real numbers are exact here, but what is stored as binary32 is divided as such: the quotient may
/// round to a half, and the model says so.
double quotient(double real, double scale)
{
    const auto stored = static_cast<float>(real);
    return static_cast<double>(stored) == real ? stored / static_cast<float>(scale) : real / scale;
}

Array quantize(const Array& real, const Parameters& by, DataType dtype)
{
    const double low = dtype.isSigned() ? -std::ldexp(1.0, dtype.bits - 1) : 0;
    const double high = low + std::ldexp(1.0, dtype.bits) - 1;
    return arrayOf(real.shape, [&](int64_t i) {
        const double scale = parameterAt(by.scale, real.shape, by.axis, i);
        const double zero = parameterAt(by.zero, real.shape, by.axis, i);
        return std::clamp(wholeOf(quotient(real.data[static_cast<size_t>(i)], scale)) + zero, low,
                          high);
    });
}

Array dequantize(const Array& whole, const Parameters& by)
{
    return arrayOf(whole.shape, [&](int64_t i) {
        const double zero = parameterAt(by.zero, whole.shape, by.axis, i);
        return (whole.data[static_cast<size_t>(i)] - zero) *
               parameterAt(by.scale, whole.shape, by.axis, i);
    });
}

/// QLinearConv and QLinearMatMul: data, weight, their parameters, those of the result, bias.
Array quantizedLayer(const NodeProto& node, const Operands& in, DataType result, Numbers numbers)
{
    const bool isConv = node.op_type() == "QLinearConv";
    const Array data = numbers == Numbers::Exact ? dequantize(*in[0], {in[1], in[2]}) : *in[0];
    const size_t axis = isConv ? 0 : in[3]->shape.size() - 1;
    const Array weight = dequantize(*in[3], {in[4], in[5], axis});
    NodeProto real = node;
    real.set_op_type(isConv ? "Conv" : "MatMul");
    Operands operands{&data, &weight};
    Array bias;
    if (in.size() > 8 && in[8]) {
        bias = arrayOf(in[8]->shape, [&](int64_t i) {
            return in[8]->data[static_cast<size_t>(i)] * in[1]->data[0] *
                   parameterAt(in[4], in[8]->shape, 0, i);
        });
        operands.push_back(&bias);
    }
    const Array sums = evaluateReal(real, operands);
    return numbers == Numbers::Exact ? quantize(sums, {in[6], in[7]}, result) : sums;
}

} // namespace

Array evaluateNode(const NodeProto& node,
                   const std::function<const Array*(const std::string&)>& operand, DataType result,
                   Numbers numbers, bool isConstant)
{
    Operands in;
    for (const std::string& name : node.input())
        in.push_back(name.empty() ? nullptr : operand(name));
    const std::string& op = node.op_type();
    if (op.starts_with("QLinear")) return quantizedLayer(node, in, result, numbers);
    if (op != "QuantizeLinear" && op != "DequantizeLinear") return evaluateReal(node, in);
    if (numbers == Numbers::Range && !isConstant) return *in[0];
    const int64_t axis = intOf(node, "axis", 1);
    const Parameters by{in[1], in.size() > 2 ? in[2] : nullptr, static_cast<size_t>(axis)};
    return op == "QuantizeLinear" ? quantize(*in[0], by, result) : dequantize(*in[0], by);
}

} // namespace tenon::test
