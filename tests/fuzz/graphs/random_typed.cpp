// SPDX-License-Identifier: Apache-2.0
// Nodes on other element types than float32: integers, truth values, halves and doubles.
#include "tests/fuzz/graphs/graph_builder.h"

#include <iterator>

namespace tenon::test {
namespace {

using core::DataType;

DataType anyInteger(GraphBuilder& b)
{
    static constexpr DataType kTypes[] = {core::kInt8,   core::kInt32, core::kInt64, core::kUInt8,
                                          core::kUInt32, core::kInt32, core::kInt64, core::kInt32};
    return kTypes[b.pick(0, std::size(kTypes) - 1)];
}

/// Back among the floats, where other nodes find it.
void handOver(GraphBuilder& b, const GraphValue& value) { b.cast(value, core::kFloat32); }

void integerBinary(GraphBuilder& b)
{
    // What ONNX Runtime has kernels for as well.
    static const char* const kOps[] = {"Add", "Sub", "Mul", "Div", "Max", "Min", "Mod"};
    const bool isWide = b.chance(50);
    const DataType dtype = isWide ? core::kInt64 : core::kInt32;
    const GraphValue x = b.addInput(b.anyValue().shape, dtype);
    const std::string op = kOps[b.pick(0, std::size(kOps) - 1)];
    const bool divides = op == "Div" || op == "Mod";
    GraphValue y = b.addWhole(dtype, x.shape, divides ? 1 : -30, 30);
    if (divides && b.chance(40)) y = b.addWhole(dtype, {}, -9, -1);
    b.applyTyped(op, {x, y}, dtype, x.shape, true);
    handOver(b, b.last());
}

void integerUnary(GraphBuilder& b)
{
    static const char* const kOps[] = {"Abs", "Neg", "Sign"};
    const DataType dtype = b.chance(50) ? core::kInt64 : core::kInt32;
    const GraphValue x = b.addInput(b.anyValue().shape, dtype);
    b.applyTyped(kOps[b.pick(0, 2)], {x}, dtype, x.shape, true);
    handOver(b, b.last());
}

void bits(GraphBuilder& b)
{
    const DataType dtype = b.chance(50) ? core::kUInt8 : core::kUInt32;
    const GraphValue x = b.addInput(b.anyValue().shape, dtype);
    if (b.opset() < 18 || b.chance(30)) {
        setText(
            b.applyTyped("BitShift", {x, b.addWhole(dtype, x.shape, 0, 6)}, dtype, x.shape, true),
            "direction", b.chance(50) ? "LEFT" : "RIGHT");
    } else if (b.chance(25)) {
        b.applyTyped("BitwiseNot", {x}, dtype, x.shape, true);
    } else {
        static const char* const kOps[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
        b.applyTyped(kOps[b.pick(0, 2)], {x, b.addWhole(dtype, {}, 0, 60)}, dtype, x.shape, true);
    }
    handOver(b, b.last());
}

void logic(GraphBuilder& b)
{
    static const char* const kCompare[] = {"Less", "Greater", "LessOrEqual", "GreaterOrEqual",
                                           "Equal"};
    static const char* const kJoin[] = {"And", "Or", "Xor"};
    const GraphValue x = b.exactValue();
    const GraphValue y = b.addInput(x.shape);
    b.applyTyped(kCompare[b.pick(0, 4)], {x, b.addConstant({})}, core::kBool, x.shape, true);
    const GraphValue first = b.last();
    b.applyTyped(kCompare[b.pick(0, 4)], {y, x}, core::kBool, x.shape, true);
    b.applyTyped(kJoin[b.pick(0, 2)], {first, b.last()}, core::kBool, x.shape, true);
    if (b.chance(50)) b.applyTyped("Not", {b.last()}, core::kBool, x.shape, true);
    handOver(b, b.last());
}

void classify(GraphBuilder& b)
{
    const GraphValue x = b.exactValue();
    b.applyTyped(b.chance(50) ? "IsNaN" : "IsInf", {x}, core::kBool, x.shape, true);
    handOver(b, b.last());
}

void half(GraphBuilder& b)
{
    static const char* const kOps[] = {"Add", "Mul", "Sub", "Max"};
    b.allow(2e-2);
    const GraphValue x = b.anyValue();
    // Halves end at 65504.
    b.apply("Tanh", {x}, x.shape);
    const GraphValue h = b.cast(b.last(), core::kFloat16);
    const GraphValue y = b.cast(b.addConstant({}, 0.5, 1), core::kFloat16);
    b.applyTyped(kOps[b.pick(0, 3)], {h, y}, core::kFloat16, x.shape);
    if (b.chance(50))
        b.applyTyped(b.chance(50) ? "Sigmoid" : "Relu", {b.last()}, core::kFloat16, x.shape);
    handOver(b, b.last());
}

void twice(GraphBuilder& b)
{
    static const char* const kOps[] = {"Exp", "Sin", "Sqrt", "Erf", "Neg"};
    const GraphValue x = b.anyValue();
    b.apply("Tanh", {x}, x.shape);
    b.apply("Abs", {b.last()}, x.shape);
    const GraphValue d = b.cast(b.last(), core::kFloat64);
    const int64_t op = b.pick(0, 4);
    b.applyTyped(op == 1 || op == 3 ? "Neg" : kOps[op], {d}, core::kFloat64, x.shape);
    const GraphValue some = b.last();
    b.applyTyped("Mul", {some, d}, core::kFloat64, x.shape);
    handOver(b, b.last());
}

void pass(GraphBuilder& b)
{
    const DataType dtype = anyInteger(b);
    const GraphValue x = b.addInput(b.anyValue().shape, dtype);
    const GraphValue other = b.cast(x, b.chance(50) ? core::kInt64 : core::kFloat64);
    handOver(b, other);
}

} // namespace

void addTypedNode(GraphBuilder& builder)
{
    static constexpr NodeKind kKinds[] = {integerBinary, integerUnary, bits,  logic,
                                          classify,      half,         twice, pass};
    kKinds[builder.pick(0, std::size(kKinds) - 1)](builder);
}

} // namespace tenon::test
