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

bool isDepthwise(const TfliteOperator& conv) { return conv.name == "DEPTHWISE_CONV_2D"; }

} // namespace

TfliteOperators::Filters TfliteOperators::filters()
{
    const Tensor given = constantOf(input(1));
    const Fields fields = fieldsOf(*m_op);
    if (m_problem || !needRank(input(0), 4)) return {given, 1, fields};
    const int64_t channels = tensor(input(0)).shape.at(3);
    if (isDepthwise(*m_op)) return {filtersOf(given), channels, fields};
    const Tensor weight = planesOf(given);
    return {weight, channels / std::max<int64_t>(weight.shape().at(1), 1), fields};
}

TfliteParts::Fields TfliteOperators::fieldsOf(const TfliteOperator& conv)
{
    if (isDepthwise(conv)) return {.dilationW = 5, .dilationH = 6, .activation = 4};
    return {.dilationW = 4, .dilationH = 5, .activation = 3};
}

NodeProto& TfliteOperators::convolution(const std::string& data, const Filters& filters)
{
    std::vector<std::string> inputs{data, add(filters.weight, nameOf(output()) + "/weight")};
    if (input(2) >= 0) inputs.push_back(asGiven(input(2)));
    NodeProto& made = node("Conv", inputs, {}, nameOf(output()));
    setInteger(made, "group", filters.groups);
    return made;
}

void TfliteOperators::convolve()
{
    const Filters by = filters();
    if (m_problem) return;
    NodeProto& made = convolution(asPlanes(input(0)), by);
    setWindow(made, {by.weight.shape().at(2), by.weight.shape().at(3)}, by.fields);
    finish(made, true, option(by.fields.activation));
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

void TfliteOperators::poolSquares()
{
    if (!needRank(input(0), 4)) return;
    const std::string data = asPlanes(input(0)), base = nameOf(output());
    const std::string squares = inner("Mul", {data, data}, "squares");
    NodeProto& means = node("AveragePool", {squares}, base + "/means", base + "/means");
    setWindow(means, {size(4), size(3)}, {.activation = 5});
    finish(node("Sqrt", {base + "/means"}, {}, base), true, option(5));
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
