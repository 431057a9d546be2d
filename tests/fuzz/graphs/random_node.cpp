// SPDX-License-Identifier: Apache-2.0
// The kinds of nodes that random graphs are made of.
#include "tests/fuzz/graphs/graph_builder.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tenon::test {
namespace {

void unary(GraphBuilder& b)
{
    static const char* const kOps[] = {
        "Relu",     "Sigmoid",   "Tanh", "Abs",         "Neg", "Erf",
        "Softplus", "Sin",       "Cos",  "HardSigmoid", "Elu", "LeakyRelu",
        "Softsign", "HardSwish", "Atan", "Identity",    "Selu"};
    const GraphValue x = b.anyValue();
    auto op = static_cast<size_t>(b.pick(0, std::size(kOps) - 1));
    if (op == 13 && b.opset() < 14) op = 0;
    const bool isExact = op == 0 || op == 3 || op == 4 || op == 15;
    b.apply(kOps[op], {x}, x.shape, isExact);
}

/// Operators that need their operand in a range.
void bounded(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    b.apply("Abs", {x}, x.shape, true);
    b.apply("Add", {b.last(), b.addConstant({}, 0.5, 1)}, x.shape);
    static const char* const kOps[] = {"Sqrt", "Log", "Reciprocal"};
    b.apply(kOps[b.pick(0, 2)], {b.last()}, x.shape);
}

/// A shape that broadcasts to `shape`.
Dims broadcastable(GraphBuilder& b, const Dims& shape)
{
    Dims out(shape.begin() + b.pick(0, static_cast<int64_t>(shape.size())), shape.end());
    for (int64_t& dim : out)
        if (b.chance(30)) dim = 1;
    return out;
}

void binary(GraphBuilder& b)
{
    static const char* const kOps[] = {"Add", "Sub", "Mul", "Max", "Min", "PRelu"};
    const GraphValue x = b.anyValue();
    const GraphValue other = b.anyValue();
    const bool isSame = other.shape == x.shape && b.chance(60);
    const GraphValue y = isSame ? other : b.addConstant(broadcastable(b, x.shape));
    const bool isFlipped = b.chance(30);
    const int64_t op = isFlipped ? b.pick(0, 4) : b.pick(0, 5);
    std::vector<GraphValue> operands{x, y};
    if (isFlipped) std::swap(operands[0], operands[1]);
    b.apply(kOps[op], operands, x.shape, op == 3 || op == 4);
}

void divide(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    b.apply("Div", {x, b.addConstant(broadcastable(b, x.shape), 0.5, 2)}, x.shape);
}

/// Chooses by comparing what is exact, so that every evaluation chooses alike.
void choose(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    const GraphValue exact = x.isExact ? x : b.addInput(x.shape);
    const std::string condition = b.newName();
    b.addNode(b.chance(50) ? "Less" : "Greater", {exact, b.addConstant({})}, {condition});
    const GraphValue chosen{condition, core::kBool, x.shape};
    b.apply("Where", {chosen, x, b.addConstant(broadcastable(b, x.shape))}, x.shape, true);
}

Dims randomAxes(GraphBuilder& b, size_t rank)
{
    Dims axes;
    for (size_t i = 0; i < rank; ++i)
        if (b.chance(50)) axes.push_back(static_cast<int64_t>(i));
    if (axes.empty()) axes.push_back(b.pick(0, static_cast<int64_t>(rank) - 1));
    return axes;
}

void reduce(GraphBuilder& b)
{
    static const char* const kOps[] = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2",
                                       "ReduceLogSumExp"};
    const GraphValue x = b.anyValue();
    if (x.shape.empty()) return unary(b);
    const Dims axes = randomAxes(b, x.shape.size());
    const bool keeps = b.chance(50);
    Dims shape;
    for (size_t i = 0; i < x.shape.size(); ++i) {
        const bool isReduced =
            std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
        if (!isReduced) shape.push_back(x.shape[i]);
        if (isReduced && keeps) shape.push_back(1);
    }
    const int64_t op = b.pick(0, 4);
    std::vector<GraphValue> operands{x};
    if (b.opset() >= 18) operands.push_back(b.addIntegers(axes));
    auto& node = b.apply(kOps[op], operands, shape, op == 1 || op == 2);
    if (b.opset() < 18) setInts(node, "axes", axes);
    setInt(node, "keepdims", keeps);
}

void softmax(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty()) return unary(b);
    auto& node = b.apply(b.chance(50) ? "Softmax" : "LogSoftmax", {x}, x.shape);
    setInt(node, "axis", b.pick(0, static_cast<int64_t>(x.shape.size()) - 1));
}

Dims dividedShape(GraphBuilder& b, const Dims& shape)
{
    int64_t rest = core::elementCount(shape);
    Dims out;
    for (int64_t parts = b.pick(0, 3); parts > 0; --parts) {
        Dims divisors;
        for (int64_t d = 1; d <= rest; ++d)
            if (rest % d == 0) divisors.push_back(d);
        out.push_back(
            divisors[static_cast<size_t>(b.pick(0, static_cast<int64_t>(divisors.size()) - 1))]);
        rest /= out.back();
    }
    out.push_back(rest);
    return out;
}

void reshape(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    const Dims shape = dividedShape(b, x.shape);
    Dims wanted = shape;
    if (b.chance(40))
        wanted[static_cast<size_t>(b.pick(0, static_cast<int64_t>(shape.size()) - 1))] = -1;
    b.apply("Reshape", {x, b.addIntegers(wanted)}, shape, true);
}

void transpose(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    Dims order(x.shape.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<size_t>(b.pick(0, static_cast<int64_t>(i) - 1))]);
    Dims shape;
    for (const int64_t axis : order) shape.push_back(x.shape[static_cast<size_t>(axis)]);
    if (order.empty()) return unary(b);
    setInts(b.apply("Transpose", {x}, shape, true), "perm", order);
}

void concat(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty()) return unary(b);
    const auto axis = static_cast<size_t>(b.pick(0, static_cast<int64_t>(x.shape.size()) - 1));
    Dims other = x.shape;
    other[axis] = b.pick(1, 4);
    Dims shape = x.shape;
    shape[axis] += other[axis];
    std::vector<GraphValue> operands{x, b.addConstant(other)};
    if (b.chance(50)) std::swap(operands[0], operands[1]);
    setInt(b.apply("Concat", operands, shape, true), "axis", static_cast<int64_t>(axis));
}

void slice(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty()) return unary(b);
    const auto axis = static_cast<size_t>(b.pick(0, static_cast<int64_t>(x.shape.size()) - 1));
    const int64_t extent = x.shape[axis];
    const int64_t step = b.pick(1, 3);
    const int64_t begin = b.pick(0, extent - 1), end = b.pick(begin + 1, extent);
    Dims shape = x.shape;
    shape[axis] = (end - begin + step - 1) / step;
    const GraphValue axes = b.addIntegers({static_cast<int64_t>(axis)});
    if (b.chance(30)) // the same elements backwards
        b.apply("Slice",
                {x, b.addIntegers({begin + (shape[axis] - 1) * step}),
                 b.addIntegers({begin == 0 ? -extent - 1 : begin - 1}), axes,
                 b.addIntegers({-step})},
                shape, true);
    else
        b.apply("Slice",
                {x, b.addIntegers({begin}), b.addIntegers({end}), axes, b.addIntegers({step})},
                shape, true);
}

void gather(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty()) return unary(b);
    const auto axis = static_cast<size_t>(b.pick(0, static_cast<int64_t>(x.shape.size()) - 1));
    std::vector<int64_t> indices;
    for (int64_t i = b.pick(1, 4); i > 0; --i)
        indices.push_back(b.pick(-x.shape[axis], x.shape[axis] - 1));
    Dims shape = x.shape;
    shape[axis] = static_cast<int64_t>(indices.size());
    setInt(b.apply("Gather", {x, b.addIntegers(indices)}, shape, true), "axis",
           static_cast<int64_t>(axis));
}

void expandOrTile(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty() || core::elementCount(x.shape) > 2000) return unary(b);
    Dims shape = x.shape, repeats(x.shape.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i)
        if (b.chance(40)) shape[i] *= repeats[i] = b.pick(1, 3);
    if (b.chance(50)) {
        b.apply("Tile", {x, b.addIntegers(repeats)}, shape, true);
        return;
    }
    for (size_t i = 0; i < shape.size(); ++i)
        if (x.shape[i] != 1) shape[i] = x.shape[i];
    b.apply("Expand", {x, b.addIntegers(shape)}, shape, true);
}

void pad(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty() || core::elementCount(x.shape) > 2000) return unary(b);
    Dims pads(2 * x.shape.size(), 0), shape = x.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (b.chance(50)) continue;
        pads[i] = b.pick(0, 2);
        pads[shape.size() + i] = b.pick(0, 2);
        shape[i] += pads[i] + pads[shape.size() + i];
    }
    b.apply("Pad", {x, b.addIntegers(pads)}, shape, true);
}

void matmul(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.size() < 2) return unary(b);
    Dims shape = x.shape;
    shape.back() = b.pick(1, 24);
    const double scale = 1.0 / static_cast<double>(x.shape.back());
    b.apply("MatMul", {x, b.addConstant({x.shape.back(), shape.back()}, -scale, scale)}, shape);
    if (b.chance(50)) b.apply("Add", {b.last(), b.addConstant({shape.back()})}, shape);
}

void gemm(GraphBuilder& b)
{
    const GraphValue x = b.valueOfRank(2);
    const bool isFlipped = b.chance(40);
    const int64_t depth = isFlipped ? x.shape[0] : x.shape[1];
    const int64_t rows = isFlipped ? x.shape[1] : x.shape[0], columns = b.pick(1, 20);
    const double scale = 1.0 / static_cast<double>(depth);
    const bool isWeightFlipped = b.chance(50);
    const Dims weight = isWeightFlipped ? Dims{columns, depth} : Dims{depth, columns};
    auto& node =
        b.apply("Gemm", {x, b.addConstant(weight, -scale, scale), b.addConstant({columns})},
                {rows, columns});
    setInt(node, "transA", isFlipped);
    setInt(node, "transB", isWeightFlipped);
}

void convolution(GraphBuilder& b)
{
    const GraphValue x = b.valueOfRank(4);
    const int64_t channels = x.shape[1];
    const bool isDepthwise = b.chance(30);
    const int64_t kernel = b.pick(1, 3), stride = b.pick(1, 2), padding = b.pick(0, 2);
    const int64_t height = (x.shape[2] + 2 * padding - kernel) / stride + 1;
    const int64_t width = (x.shape[3] + 2 * padding - kernel) / stride + 1;
    if (x.shape[2] + 2 * padding < kernel || x.shape[3] + 2 * padding < kernel) return unary(b);
    const int64_t filters = isDepthwise ? channels : b.pick(1, 20);
    const double scale = 1.0 / static_cast<double>(kernel * kernel * channels);
    const GraphValue weight =
        b.addConstant({filters, isDepthwise ? 1 : channels, kernel, kernel}, -scale, scale);
    auto& node = b.apply("Conv", {x, weight, b.addConstant({filters})},
                         {x.shape[0], filters, height, width});
    setInts(node, "strides", {stride, stride});
    setInts(node, "pads", {padding, padding, padding, padding});
    setInt(node, "group", isDepthwise ? channels : 1);
    if (b.chance(50)) b.apply("Relu", {b.last()}, b.last().shape);
}

void pool(GraphBuilder& b)
{
    const GraphValue x = b.valueOfRank(4);
    const int64_t kernel = b.pick(1, 3), stride = b.pick(1, 2);
    if (x.shape[2] < kernel || x.shape[3] < kernel) return unary(b);
    const bool isMax = b.chance(50);
    auto& node = b.apply(isMax ? "MaxPool" : "AveragePool", {x},
                         {x.shape[0], x.shape[1], (x.shape[2] - kernel) / stride + 1,
                          (x.shape[3] - kernel) / stride + 1},
                         isMax);
    setInts(node, "kernel_shape", {kernel, kernel});
    setInts(node, "strides", {stride, stride});
}

void normalize(GraphBuilder& b)
{
    const GraphValue x = b.valueOfRank(4);
    const int64_t channels = x.shape[1];
    b.apply("BatchNormalization",
            {x, b.addConstant({channels}, 0.5, 1.5), b.addConstant({channels}),
             b.addConstant({channels}), b.addConstant({channels}, 0.5, 1.5)},
            x.shape);
}

} // namespace

void addRandomNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {
        unary,  unary,        unary,   bounded, binary,    binary,    binary,      divide,
        choose, reduce,       softmax, reshape, transpose, concat,    slice,       gather,
        pad,    expandOrTile, matmul,  gemm,    pool,      normalize, convolution, convolution};
    static constexpr NodeKind kFamilies[] = {
        addTypedNode,     addIndexNode,     addMathNode,          addWindowNode,
        addIndexNode,     addMathNode,      addNormalizationNode, addRecurrentNode,
        addQuantizedNode, addCompositeNode, addImageNode};
    if (core::elementCount(builder.last().shape) > 20000) return reduce(builder);
    if (builder.chance(5)) return addVmNode(builder);
    if (builder.chance(45)) return kFamilies[builder.pick(0, std::size(kFamilies) - 1)](builder);
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
