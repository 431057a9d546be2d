// SPDX-License-Identifier: Apache-2.0
// Layers: convolutions of all kinds, dense layers, products of matrices, pools.
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "compiler/quantize/planes.h"
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

constexpr int kSame = 0;

} // namespace

void TfliteOperators::setWindow(NodeProto& made, const std::vector<int64_t>& kernel,
                                const Fields& fields)
{
    const std::vector<int64_t> strides{size(fields.strideH), size(fields.strideW)};
    std::vector<int64_t> dilations{1, 1};
    if (fields.dilationH >= 0) dilations = {size(fields.dilationH), size(fields.dilationW)};
    std::vector<int64_t> pads(4, 0);
    const std::vector<int64_t>& shape = tensor(input(0)).shape;
    for (size_t axis = 0; axis < 2 && option(fields.padding) == kSame; ++axis) {
        const int64_t data = shape.at(axis + 1);
        const int64_t reach = (kernel[axis] - 1) * dilations[axis] + 1;
        const int64_t count = (data + strides[axis] - 1) / strides[axis];
        const int64_t missing = std::max<int64_t>((count - 1) * strides[axis] + reach - data, 0);
        pads[axis] = missing / 2;
        pads[axis + 2] = missing - missing / 2;
    }
    setIntegers(made, "kernel_shape", kernel);
    setIntegers(made, "strides", strides);
    setIntegers(made, "pads", pads);
    if (fields.dilationH >= 0) setIntegers(made, "dilations", dilations);
}

void TfliteOperators::layer(const Tensor& weight, int64_t groups, const Fields& fields)
{
    std::vector<std::string> inputs{asPlanes(input(0)), add(weight, nameOf(output()) + "/weight")};
    if (input(2) >= 0) inputs.push_back(asGiven(input(2)));
    NodeProto& made = node("Conv", inputs, {}, nameOf(output()));
    setInteger(made, "group", groups);
    setWindow(made, {weight.shape().at(2), weight.shape().at(3)}, fields);
    finish(made, true, option(fields.activation));
}

void TfliteOperators::convolve()
{
    const Tensor weight = planesOf(constantOf(input(1)));
    if (m_problem || !needRank(input(0), 4)) return;
    const int64_t channels = tensor(input(0)).shape.at(3);
    layer(weight, channels / std::max<int64_t>(weight.shape().at(1), 1),
          {.dilationW = 4, .dilationH = 5, .activation = 3});
}

void TfliteOperators::convolveDepthwise()
{
    const Tensor weight = filtersOf(constantOf(input(1)));
    if (m_problem || !needRank(input(0), 4)) return;
    layer(weight, tensor(input(0)).shape.at(3), {.dilationW = 5, .dilationH = 6, .activation = 4});
}

void TfliteOperators::pool()
{
    if (!needRank(input(0), 4)) return;
    const bool isMax = m_op->name == "MAX_POOL_2D";
    NodeProto& made =
        node(isMax ? "MaxPool" : "AveragePool", {asPlanes(input(0))}, {}, nameOf(output()));
    setWindow(made, {size(4), size(3)}, {.activation = 5});
    finish(made, true, option(5));
}

void TfliteOperators::connect()
{
    if (!needRank(input(1), 2)) return;
    const int64_t inner = tensor(input(1)).shape.at(1);
    std::string data = asGiven(input(0));
    if (rankOf(input(0)) != 2 || tensor(input(0)).shape.at(1) != inner) {
        const std::string flat = nameOf(output()) + "/rows";
        node("Reshape", {data, integers("rows_shape", {-1, inner})}, flat, flat);
        data = flat;
    }
    std::vector<std::string> inputs{data, asGiven(input(1))};
    if (input(2) >= 0) inputs.push_back(asGiven(input(2)));
    NodeProto& made = node("Gemm", inputs, {}, nameOf(output()));
    setInteger(made, "transB", 1);
    if (rankOf(output()) == 2) return finish(made, false, option(0));
    const std::string rows = nameOf(output()) + "/rows_result";
    made.set_output(0, rows);
    NodeProto& spread =
        node("Reshape", {rows, integers("shape", tensor(output()).shape)}, {}, rows);
    finish(spread, false, option(0));
}

void TfliteOperators::transposed(size_t data, size_t bias, const std::vector<int64_t>& strides,
                                 bool isSame)
{
    const Tensor weight = planesOf(constantOf(input(1)));
    if (m_problem || weight.shape().size() != 4) return fail("its weight is no constant");
    if (!needRank(input(data), 4) || !needRank(output(), 4)) return;
    const std::vector<int64_t>&in = tensor(input(data)).shape, &out = tensor(output()).shape;
    std::vector<int64_t> pads(4), added(2);
    for (size_t i = 0; i < 2; ++i) {
        if (strides[i] < 1) return fail("its stride is not usable");
        const TransposedCrop crop = transposedCrop(
            {in.at(1 + i), weight.shape().at(2 + i), strides[i], 1}, out.at(1 + i), isSame);
        pads[i] = crop.before;
        pads[2 + i] = crop.behind;
        added[i] = crop.added;
    }
    std::vector<std::string> inputs{asPlanes(input(data)),
                                    add(frontSwapped(weight), nameOf(output()) + "/weight")};
    if (input(bias) >= 0) inputs.push_back(asGiven(input(bias)));
    NodeProto& made = node("ConvTranspose", inputs, {}, nameOf(output()));
    setIntegers(made, "strides", strides);
    setIntegers(made, "pads", pads);
    setIntegers(made, "output_padding", added);
    finish(made, true, bias == 3 ? option(3) : 0);
}

void TfliteOperators::convolveTransposed()
{
    transposed(2, 3, {size(2), size(1)}, option(0) == kSame);
}

/// Its options are a struct of C: padding (1: SAME), strides as width and height.
void TfliteOperators::convolveTransposedBias()
{
    std::array<int32_t, 3> options{};
    if (m_op->customOptions.size() < sizeof(options)) return fail("its options are cut off");
    std::memcpy(options.data(), m_op->customOptions.data(), sizeof(options));
    transposed(0, 2, {options[2], options[1]}, options[0] == 1);
}

void TfliteOperators::multiplyMatrices()
{
    std::vector<std::string> inputs;
    for (const size_t at : {size_t{0}, size_t{1}}) {
        inputs.push_back(asGiven(input(at)));
        if (option(static_cast<int>(at)) == 0) continue;
        std::vector<int64_t> order;
        for (size_t i = 0; i < rankOf(input(at)); ++i) order.push_back(static_cast<int64_t>(i));
        if (order.size() < 2) return fail("its inputs are no matrices");
        std::swap(order[order.size() - 1], order[order.size() - 2]);
        const std::string turned = nameOf(output()) + "/turned" + std::to_string(at);
        setIntegers(node("Transpose", {inputs.back()}, turned, turned), "perm", order);
        inputs.back() = turned;
    }
    node("MatMul", inputs, resultName(false), nameOf(output()));
}

} // namespace tenon::compiler
