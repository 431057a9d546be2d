// SPDX-License-Identifier: Apache-2.0
// Between real values and integers, and between types.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

const Shape32 kQuantizeShapes[] = {{1, 5, 7, 3}, {33}};

void addQuantize(TfliteCases& all, const Numbers& from, const Numbers& to, const std::string& what)
{
    for (const Shape32& shape : kQuantizeShapes) {
        CaseBuilder c(all, "QUANTIZE", from.name, what + ", " + shapeText(shape));
        const int x = c.input(from, shape);
        c.op({x}, {c.output(to, shape)});
    }
}

/// Multiples of half a step: ties.
void addTies(TfliteCases& all)
{
    std::vector<double> values;
    for (int i = -20; i <= 20; ++i) values.push_back(0.25 * i);
    CaseBuilder c(all, "QUANTIZE", "float32", "ties to int8");
    const int x = c.input(kFloats, {41}, values);
    c.op({x}, {c.output(kBytes.within(-63.5, 64), {41})}); // a scale of a half
}

void addDequantize(TfliteCases& all)
{
    for (const Numbers& kind : {kBytes, kUnsigned, kWide})
        for (const Shape32& shape : kQuantizeShapes) {
            CaseBuilder c(all, "DEQUANTIZE", kind.name, shapeText(shape));
            const int x = c.input(kind, shape);
            c.op({x}, {c.output(kFloats, shape)});
        }
    {
        CaseBuilder c(all, "DEQUANTIZE", "int8", "constant with a scale per channel");
        const int w = c.weight(TfliteType::Int8, {3, 5}, 0), real = c.between(kFloats, {3, 5});
        const int x = c.input(kFloats, {3, 5});
        c.model().op("DEQUANTIZE", {w}, {real});
        c.model().op("ADD", {x, real}, {c.output(kFloats, {3, 5})});
    }
    CaseBuilder c(all, "DEQUANTIZE", "float16", "constant");
    const Numbers half{"float16", TfliteType::Float16, -4, 4};
    std::vector<double> values;
    for (int i = 0; i < 15; ++i) values.push_back(i / 8.0 - 1);
    const int w = c.constant(half, {3, 5}, values), real = c.between(kFloats, {3, 5});
    const int x = c.input(kFloats, {3, 5});
    c.model().op("DEQUANTIZE", {w}, {real});
    c.model().op("ADD", {x, real}, {c.output(kFloats, {3, 5})});
}

void addCasts(TfliteCases& all)
{
    const std::vector<Numbers> types{kFloats,        kInts,       kLongs,    kBools,
                                     kPlainUnsigned, kPlainBytes, kPlainWide};
    for (const Numbers& from : types)
        for (const Numbers& to : types) {
            if (from.type == to.type) continue;
            CaseBuilder c(all, "CAST", from.name, std::string("to ") + to.name);
            const bool isUnsigned = to.type == TfliteType::UInt8 && from.type != TfliteType::Bool;
            const int x = c.input(isUnsigned ? from.within(0, 100) : from, {4, 5});
            c.op({x}, {c.output(to, {4, 5})},
                 FlatOut()
                     .number(0, static_cast<int8_t>(from.type))
                     .number(1, static_cast<int8_t>(to.type)));
        }
}

void addFakeQuant(TfliteCases& all)
{
    for (const int32_t bits : {8, 4})
        for (const uint8_t isNarrow : kFlags) {
            CaseBuilder c(all, "FAKE_QUANT", "float32",
                          std::to_string(bits) + " bits" + (isNarrow ? ", narrow" : ""));
            const int x = c.input(kFloats, {4, 9});
            c.op({x}, {c.output(kFloats, {4, 9})},
                 FlatOut().number(0, -2.5F).number(1, 3.1F).number(2, bits).number(3, isNarrow));
        }
}

} // namespace

void addQuantizeCases(TfliteCases& all)
{
    for (const Numbers& to : {kBytes, kUnsigned, kWide})
        addQuantize(all, kFloats.within(-6, 6), to, std::string("to ") + to.name);
    addTies(all);
    for (const Numbers& from : {kBytes, kUnsigned, kWide})
        for (const Numbers& to : {kBytes, kUnsigned, kWide}) {
            addQuantize(all, from, to.within(-3, 2.5), std::string("to ") + to.name);
            if (from.type != to.type)
                addQuantize(all, from, to, std::string("to ") + to.name + " of the same range");
        }
    addDequantize(all);
    addCasts(all);
    addFakeQuant(all);
}

} // namespace tenon::test
