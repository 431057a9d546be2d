// SPDX-License-Identifier: Apache-2.0
// More of elementwise arithmetic and of reductions: what needs its operand in a range, or exact.
#include "tests/fuzz/graphs/graph_builder.h"

#include <iterator>

namespace tenon::test {
namespace {

/// A value strictly inside (-0.9, 0.9).
GraphValue narrowed(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    b.apply("Tanh", {x}, x.shape);
    const GraphValue narrow = b.last();
    b.apply("Mul", {narrow, b.addConstant({}, 0.3, 0.9)}, x.shape);
    return b.last();
}

void inRange(GraphBuilder& b)
{
    static const char* const kOps[] = {"Acos", "Asin", "Atanh", "Tan",
                                       "Sinh", "Cosh", "Asinh", "Exp"};
    const GraphValue x = narrowed(b);
    b.apply(kOps[b.pick(0, std::size(kOps) - 1)], {x}, x.shape);
}

void aboveOne(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    b.apply("Abs", {x}, x.shape);
    b.apply("Add", {b.last(), b.addConstant({}, 1.2, 2)}, x.shape);
    if (b.chance(50))
        b.apply("Acosh", {b.last()}, x.shape);
    else
        b.apply("Pow", {b.last(), b.addConstant({}, -1.5, 1.5)}, x.shape);
}

/// Jumps, so that the operand must not be rounded.
void steps(GraphBuilder& b)
{
    static const char* const kOps[] = {"Floor",           "Ceil",   "Round",  "Sign",
                                       "ThresholdedRelu", "Shrink", "Hardmax"};
    const GraphValue x = b.exactValue();
    const int64_t op = b.pick(0, x.shape.empty() ? 5 : 6);
    b.apply(kOps[op], {x}, x.shape, true);
}

void activation(GraphBuilder& b)
{
    static const char* const kOps[] = {"Celu", "Mish", "Gelu", "Swish", "Elu", "LeakyRelu"};
    const GraphValue x = b.anyValue();
    int64_t op = b.pick(0, 5);
    if ((op == 1 && b.opset() < 18) || (op == 2 && b.opset() < 20) || (op == 3 && b.opset() < 24))
        op = 0;
    auto& node = b.apply(kOps[op], {x}, x.shape);
    if (op == 0 || op >= 4) setFloat(node, "alpha", static_cast<double>(b.pick(1, 30)) / 16);
    if (op == 2 && b.chance(50)) setText(node, "approximate", "tanh");
}

void several(GraphBuilder& b)
{
    static const char* const kOps[] = {"Sum", "Mean", "Max", "Min"};
    const GraphValue x = b.anyValue();
    std::vector<GraphValue> operands{x};
    for (int64_t more = b.pick(1, 3); more > 0; --more)
        operands.push_back(b.addConstant(b.chance(50) ? x.shape : Dims{}));
    const int64_t op = b.pick(0, 3);
    b.apply(kOps[op], operands, x.shape, op >= 2);
}

void clip(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    std::vector<GraphValue> operands{x, b.addConstant({}, -1, 0)};
    if (b.chance(70)) operands.push_back(b.addConstant({}, 0, 1));
    b.apply("Clip", operands, x.shape, true);
}

void remainder(GraphBuilder& b)
{
    const GraphValue x = b.exactValue();
    setInt(b.apply("Mod", {x, b.addConstant({}, 0.5, 1)}, x.shape), "fmod", 1);
}

void reduceMore(GraphBuilder& b)
{
    static const char* const kOps[] = {"ReduceSum", "ReduceL1", "ReduceSumSquare", "ReduceProd",
                                       "ReduceLogSum"};
    GraphValue x = b.anyValue();
    if (x.shape.empty() || core::elementCount(x.shape) > 4000) return inRange(b);
    const int64_t op = b.pick(0, 4);
    if (op == 4) { // the logarithm needs a positive sum
        b.apply("Abs", {x}, x.shape);
        b.apply("Add", {b.last(), b.addConstant({}, 0.5, 1)}, x.shape);
        x = b.last();
    }
    const int64_t axis = b.pick(0, static_cast<int64_t>(x.shape.size()) - 1);
    Dims shape = x.shape;
    const bool keeps = b.chance(50);
    if (keeps)
        shape[static_cast<size_t>(axis)] = 1;
    else
        shape.erase(shape.begin() + axis);
    const bool isInput = b.opset() >= 18 || op == 0;
    std::vector<GraphValue> operands{x};
    if (isInput) operands.push_back(b.addIntegers({axis}));
    auto& node = b.apply(kOps[op], operands, shape);
    if (!isInput) setInts(node, "axes", {axis});
    setInt(node, "keepdims", keeps);
}

void cumulative(GraphBuilder& b)
{
    const GraphValue x = b.anyValue();
    if (x.shape.empty()) return inRange(b);
    const int64_t axis = b.pick(0, static_cast<int64_t>(x.shape.size()) - 1);
    auto& node = b.apply("CumSum", {x, b.addIntegers({axis}, true)}, x.shape);
    setInt(node, "exclusive", b.chance(30));
    setInt(node, "reverse", b.chance(30));
}

void einsum(GraphBuilder& b)
{
    const GraphValue x = b.valueOfRank(2);
    const int64_t columns = b.pick(1, 8);
    const double scale = 1.0 / static_cast<double>(x.shape[1]);
    const GraphValue y = b.addConstant({x.shape[1], columns}, -scale, scale);
    static const char* const kEquations[] = {"ij,jk->ik", "ij,jk->ki", "ij,jk->i"};
    const int64_t which = b.pick(0, 2);
    const Dims shapes[] = {{x.shape[0], columns}, {columns, x.shape[0]}, {x.shape[0]}};
    setText(b.apply("Einsum", {x, y}, shapes[which]), "equation", kEquations[which]);
}

void determinant(GraphBuilder& b)
{
    const int64_t n = b.pick(1, 4), count = b.pick(1, 3);
    b.apply("Det", {b.addInput({count, n, n})}, {count});
}

} // namespace

void addMathNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {inRange,    aboveOne, steps,       activation,
                                          several,    clip,     remainder,   reduceMore,
                                          cumulative, einsum,   determinant, reduceMore};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
