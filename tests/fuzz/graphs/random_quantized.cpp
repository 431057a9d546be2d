// SPDX-License-Identifier: Apache-2.0
// Quantized nodes: on whole numbers exactly, between quantize and dequantize within a step.
#include "tests/fuzz/graphs/graph_builder.h"

#include <iterator>

namespace tenon::test {
namespace {

using core::DataType;

/// Scale of values in about [-2, 2] and a zero point of the type.
struct Grid
{
    GraphValue scale, zero;
};

Grid gridOf(GraphBuilder& b, DataType dtype, double range)
{
    const double scale = range / 127;
    const bool isUnsigned = dtype == core::kUInt8;
    return {b.addConstant({}, scale, scale),
            b.addWhole(dtype, {}, isUnsigned ? 120 : -3, isUnsigned ? 136 : 3)};
}

GraphValue quantized(GraphBuilder& b, const GraphValue& x, const Grid& grid)
{
    b.applyTyped("QuantizeLinear", {x, grid.scale, grid.zero}, grid.zero.dtype, x.shape, true);
    return b.last();
}

GraphValue dequantized(GraphBuilder& b, const GraphValue& x, const Grid& grid)
{
    b.apply("DequantizeLinear", {x, grid.scale, grid.zero}, x.shape);
    return b.last();
}

DataType byteType(GraphBuilder& b) { return b.chance(50) ? core::kInt8 : core::kUInt8; }

void there(GraphBuilder& b)
{
    // Of what is exact, so that all evaluations round alike.
    const Grid grid = gridOf(b, byteType(b), 2);
    dequantized(b, quantized(b, b.exactValue(), grid), grid);
}

/// dequantize - operator - quantize - dequantize, as exporters write quantized models.
void surrounded(GraphBuilder& b)
{
    b.allow(5e-2);
    const GraphValue x = b.addInput({b.pick(1, 2), b.pick(1, 8), b.pick(3, 7), b.pick(3, 7)});
    const Grid in = gridOf(b, byteType(b), 2), out = gridOf(b, in.zero.dtype, 4);
    const GraphValue data = dequantized(b, quantized(b, x, in), in);
    const int64_t filters = b.pick(1, 8), kernel = b.pick(1, 3);
    const Dims weight{filters, x.shape[1], kernel, kernel};
    const GraphValue scale = b.addConstant({}, 0.004, 0.01);
    b.apply("DequantizeLinear",
            {b.addWhole(core::kInt8, weight, -90, 90), scale, b.addWhole(core::kInt8, {}, 0, 0)},
            weight);
    const Dims shape{x.shape[0], filters, x.shape[2] - kernel + 1, x.shape[3] - kernel + 1};
    b.apply("Conv", {data, b.last()}, shape);
    if (b.chance(50)) b.apply("Relu", {b.last()}, shape);
    dequantized(b, quantized(b, b.last(), out), out);
}

void sum(GraphBuilder& b)
{
    b.allow(5e-2);
    const Dims shape{b.pick(1, 4), b.pick(1, 9)};
    const Grid one = gridOf(b, core::kInt8, 2), two = gridOf(b, core::kInt8, 3),
               out = gridOf(b, core::kInt8, 5);
    const GraphValue x = dequantized(b, quantized(b, b.addInput(shape), one), one);
    const GraphValue y = dequantized(b, quantized(b, b.addInput(shape), two), two);
    b.apply("Add", {x, y}, shape);
    dequantized(b, quantized(b, b.last(), out), out);
}

void product(GraphBuilder& b)
{
    const DataType left = core::kUInt8, right = byteType(b);
    const int64_t rows = b.pick(1, 5), depth = b.pick(1, 9), columns = b.pick(1, 5);
    const GraphValue x = b.addInput({rows, depth}, left);
    const GraphValue y = b.addWhole(right, {depth, columns}, 0, 90);
    std::vector<GraphValue> operands{x, y};
    if (b.chance(60)) {
        operands.push_back(b.addWhole(left, {}, 0, 30));
        operands.push_back(b.addWhole(right, {}, 0, 3));
    }
    b.applyTyped("MatMulInteger", operands, core::kInt32, {rows, columns}, true);
    b.cast(b.last(), core::kFloat32);
}

void wholeConvolution(GraphBuilder& b)
{
    const GraphValue x = b.addInput({1, b.pick(1, 4), b.pick(3, 6), b.pick(3, 6)}, core::kUInt8);
    const int64_t filters = b.pick(1, 4), kernel = b.pick(1, 3);
    const GraphValue w = b.addWhole(core::kUInt8, {filters, x.shape[1], kernel, kernel}, 0, 90);
    std::vector<GraphValue> operands{x, w};
    if (b.chance(60)) operands.push_back(b.addWhole(core::kUInt8, {}, 0, 30));
    b.applyTyped("ConvInteger", operands, core::kInt32,
                 {1, filters, x.shape[2] - kernel + 1, x.shape[3] - kernel + 1}, true);
    b.cast(b.last(), core::kFloat32);
}

void wholeOperators(GraphBuilder& b)
{
    b.allow(5e-2);
    const DataType dtype = core::kUInt8;
    const Grid in = gridOf(b, dtype, 2), weight = gridOf(b, dtype, 1), out = gridOf(b, dtype, 6);
    const int64_t rows = b.pick(1, 4), depth = b.pick(1, 8), columns = b.pick(1, 4);
    const GraphValue y = b.addWhole(dtype, {depth, columns}, 60, 200);
    b.applyTyped("QLinearMatMul",
                 {b.addInput({rows, depth}, dtype), in.scale, in.zero, y, weight.scale, weight.zero,
                  out.scale, out.zero},
                 dtype, {rows, columns});
    dequantized(b, b.last(), out);
}

void wholeFilter(GraphBuilder& b)
{
    b.allow(5e-2);
    const DataType dtype = core::kUInt8;
    const Grid in = gridOf(b, dtype, 2), weight = gridOf(b, dtype, 1), out = gridOf(b, dtype, 6);
    const GraphValue x = b.addInput({1, b.pick(1, 4), b.pick(3, 6), b.pick(3, 6)}, dtype);
    const int64_t filters = b.pick(1, 5), kernel = b.pick(1, 3);
    const GraphValue w = b.addWhole(dtype, {filters, x.shape[1], kernel, kernel}, 100, 150);
    b.applyTyped("QLinearConv",
                 {x, in.scale, in.zero, w, weight.scale, weight.zero, out.scale, out.zero}, dtype,
                 {1, filters, x.shape[2] - kernel + 1, x.shape[3] - kernel + 1});
    dequantized(b, b.last(), out);
}

void dynamic(GraphBuilder& b)
{
    b.allow(5e-2);
    const GraphValue x = b.addInput({b.pick(1, 4), b.pick(2, 6)});
    const GraphValue y{b.newName(), core::kUInt8, x.shape}, scale{b.newName(), core::kFloat32, {}},
        zero{b.newName(), core::kUInt8, {}};
    b.addNode("DynamicQuantizeLinear", {x}, {y.name, scale.name, zero.name});
    b.apply("DequantizeLinear", {y, scale, zero}, x.shape);
}

} // namespace

void addQuantizedNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {there,   surrounded,       surrounded,     sum,
                                          product, wholeConvolution, wholeOperators, wholeFilter,
                                          dynamic};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
