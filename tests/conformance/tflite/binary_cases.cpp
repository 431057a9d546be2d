// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of two operands, their broadcasts and fused activations.
#include "tests/conformance/tflite/case_builder.h"

#include <cmath>

namespace tenon::test {
namespace {

/// Shapes of both operands and of the result.
struct Operands
{
    Shape32 a, b, out;
};

const Operands kOperands[] = {{{1, 5, 7, 3}, {1, 5, 7, 3}, {1, 5, 7, 3}},
                              {{2, 3, 4, 5}, {5}, {2, 3, 4, 5}},
                              {{4, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}},
                              {{2, 1, 4, 1}, {1, 3, 1, 5}, {2, 3, 4, 5}},
                              {{13}, {}, {13}}};

std::string textOf(const Operands& o) { return shapeText(o.a) + " and " + shapeText(o.b); }

/// The second operand's own scale.
Numbers otherScale(const Numbers& kind) { return kind.within(-2.5, 1.5); }

struct Fused
{
    const char* op;
    std::vector<Numbers> kinds;
    double low, high; ///< of the result
};

void addFused(TfliteCases& all, const Fused& row, const Activation& activation)
{
    for (const Numbers& kind : row.kinds)
        for (const Operands& o : kOperands) {
            CaseBuilder c(all, row.op, kind.name, textOf(o) + activation.name);
            const int a = c.input(kind, o.a);
            const int b = c.input(kind.isQuantized ? otherScale(kind) : kind, o.b);
            const Numbers result = kind.isQuantized ? kind.within(row.low, row.high) : kind;
            // Field 1 of ADD and SUB says that 16-bit scales are powers of two, which these are
            // not.
            c.op({a, b}, {c.output(result, o.out)},
                 FlatOut().number(0, activation.code).number(1, uint8_t{0}));
        }
}

void addArithmetic(TfliteCases& all)
{
    const std::vector<Numbers> kAll{kFloats, kBytes, kUnsigned, kWide, kInts, kLongs};
    const Fused kRows[] = {{"ADD", kAll, -6, 6}, {"SUB", kAll, -5.5, 6}, {"MUL", kAll, -9, 8}};
    for (const Fused& row : kRows) {
        addFused(all, row, kNoActivation);
        for (const Activation& activation : {kRelu, kRelu6, kReluN1})
            addFused(all, {row.op, {kFloats, kBytes, kUnsigned, kWide}, row.low, row.high},
                     activation);
    }
}

/// Power-of-two scales, which 16-bit sums of older files have.
void addPowersOfTwo(TfliteCases& all)
{
    for (const char* op : {"ADD", "SUB"}) {
        CaseBuilder c(all, op, "int16", "scales of powers of two");
        const int a = c.input(kWide.within(-8 * 32767.0 / 32768, 0), {3, 11});
        const int b = c.input(kWide.within(-2 * 32767.0 / 32768, 0), {3, 11});
        c.op({a, b}, {c.output(kWide.within(-8 * 32767.0 / 32768, 0), {3, 11})},
             FlatOut().number(0, int8_t{0}).number(1, uint8_t{1}));
    }
}

void addConstantOperand(TfliteCases& all)
{
    for (const char* op : {"ADD", "SUB", "MUL"})
        for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kWide})
            for (const bool isFirst : {false, true}) {
                CaseBuilder c(all, op, kind.name, isFirst ? "constant first" : "constant second");
                const int x = c.input(kind, {1, 4, 4, 6});
                const int k = c.constant(kind.isQuantized ? otherScale(kind) : kind, {6});
                c.op(isFirst ? Shape32{k, x} : Shape32{x, k},
                     {c.output(kind.isQuantized ? kind.within(-9, 8) : kind, {1, 4, 4, 6})},
                     FlatOut().number(0, int8_t{0}).number(1, uint8_t{0}));
            }
}

/// Values that are not near zero: there the reference loses the quotient.
int awayFromZero(CaseBuilder& c, const Numbers& kind, const Shape32& shape)
{
    const Numbers numbers = kind.within(-4, 5);
    if (!kind.isQuantized) return c.input(kind.isFloat() ? numbers : kind, shape);
    const auto zero = static_cast<double>(scaleOf(numbers).zeros[0]);
    std::vector<double> values(static_cast<size_t>(countOf(shape)));
    for (double& value : values) {
        const double away = std::floor(c.draw(20, 110));
        value = c.draw(0, 1) < 0.5 ? zero - away : zero + away;
    }
    return c.input(numbers, shape, values);
}

void addDivision(TfliteCases& all)
{
    for (const Activation& activation : {kNoActivation, kRelu})
        for (const Numbers& kind : {kFloats, kUnsigned, kBytes, kInts})
            for (const Operands& o : kOperands) {
                CaseBuilder c(all, "DIV", kind.name, textOf(o) + activation.name);
                const int a = awayFromZero(c, kind, o.a);
                const int b =
                    kind.isQuantized ? awayFromZero(c, kind, o.b) : c.input(kind.within(1, 5), o.b);
                c.op({a, b}, {c.output(kind, o.out)}, FlatOut().number(0, activation.code));
            }
    for (const char* op : {"FLOOR_DIV", "FLOOR_MOD"})
        for (const Numbers& kind : {kFloats, kInts, kLongs})
            for (const Operands& o : kOperands) {
                CaseBuilder c(all, op, kind.name, textOf(o));
                std::vector<double> divisors(static_cast<size_t>(countOf(o.b)));
                for (size_t i = 0; i < divisors.size(); ++i)
                    divisors[i] = i % 2 == 0 ? 3 + static_cast<double>(i % 5)
                                             : -2 - static_cast<double>(i % 3);
                const int a = c.input(kind, o.a), b = c.input(kind, o.b, divisors);
                c.op({a, b}, {c.output(kind, o.out)});
            }
}

void addOrdered(TfliteCases& all)
{
    for (const char* op : {"MAXIMUM", "MINIMUM"})
        for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kWide, kInts, kLongs})
            for (const Operands& o : kOperands) {
                CaseBuilder c(all, op, kind.name, textOf(o));
                const int a = c.input(kind, o.a), b = c.input(kind, o.b);
                c.op({a, b}, {c.output(kind, o.out)});
            }
    for (const char* op : {"EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"})
        for (const Numbers& kind :
             {kFloats, kBytes, kUnsigned, kWide, kInts.within(-3, 3), kLongs.within(-3, 3)})
            for (const bool isOneScale : {true, false})
                for (const Operands& o : {kOperands[0], kOperands[3], kOperands[4]}) {
                    if (!kind.isQuantized && !isOneScale) continue;
                    CaseBuilder c(all, op, kind.name,
                                  textOf(o) + (isOneScale ? "" : ", two scales"));
                    const int a = c.input(kind, o.a);
                    const int b = c.input(isOneScale ? kind : otherScale(kind), o.b);
                    c.op({a, b}, {c.output(kBools, o.out)});
                }
    for (const char* op : {"EQUAL", "NOT_EQUAL"}) {
        CaseBuilder c(all, op, "bool", "3x5");
        const int a = c.input(kBools, {3, 5}), b = c.input(kBools, {3, 5});
        c.op({a, b}, {c.output(kBools, {3, 5})});
    }
}

void addOthers(TfliteCases& all)
{
    for (const char* op : {"LOGICAL_AND", "LOGICAL_OR"})
        for (const Operands& o : kOperands) {
            CaseBuilder c(all, op, "bool", textOf(o));
            const int a = c.input(kBools, o.a), b = c.input(kBools, o.b);
            c.op({a, b}, {c.output(kBools, o.out)});
        }
    for (const Numbers& kind : {kFloats, kBytes, kInts})
        for (const Operands& o : kOperands) {
            CaseBuilder c(all, "SQUARED_DIFFERENCE", kind.name, textOf(o));
            const int a = c.input(kind, o.a);
            const int b = c.input(kind.isQuantized ? otherScale(kind) : kind, o.b);
            c.op({a, b}, {c.output(kind.isQuantized ? kind.within(0, 30) : kind, o.out)});
        }
    for (const Numbers& kind : {kFloats.within(0.1, 3), kInts.within(0, 5)})
        for (const Operands& o : {kOperands[0], kOperands[1], kOperands[4]}) {
            CaseBuilder c(all, "POW", kind.name, textOf(o));
            const int a = c.input(kind, o.a), b = c.input(kind, o.b);
            c.op({a, b}, {c.output(kind, o.out)});
        }
    for (const Numbers& kind : {kPlainBytes, kInts})
        for (const Operands& o : {kOperands[0], kOperands[1]}) {
            CaseBuilder c(all, "BITWISE_XOR", kind.name, textOf(o));
            const int a = c.input(kind, o.a), b = c.input(kind, o.b);
            c.op({a, b}, {c.output(kind, o.out)});
        }
    for (const Numbers& kind : {kFloats, kInts})
        for (const int count : {2, 4}) {
            CaseBuilder c(all, "ADD_N", kind.name, std::to_string(count) + " operands");
            Shape32 inputs;
            for (int i = 0; i < count; ++i) inputs.push_back(c.input(kind, {2, 5, 3}));
            c.op(inputs, {c.output(kind, {2, 5, 3})});
        }
}

void addQuantizedSumOfMany(TfliteCases& all)
{
    CaseBuilder c(all, "ADD_N", "int8", "3 operands");
    const int a = c.input(kBytes, {2, 5, 3}), b = c.input(kBytes, {2, 5, 3}),
              d = c.input(kBytes, {2, 5, 3});
    c.op({a, b, d}, {c.output(kBytes.within(-9, 9), {2, 5, 3})});
}

} // namespace

void addBinaryCases(TfliteCases& all)
{
    addArithmetic(all);
    addPowersOfTwo(all);
    addConstantOperand(all);
    addDivision(all);
    addOrdered(all);
    addOthers(all);
    addQuantizedSumOfMany(all);
}

} // namespace tenon::test
