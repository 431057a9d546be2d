// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of one operand.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

using Kinds = std::vector<Numbers>;

const Shape32 kShapes[] = {{1, 5, 7, 3}, {17}, {2, 3, 1, 2, 4}};

/// One operator for each kind and shape; results have the kind `result` or their own limits.
struct Unary
{
    const char* op;
    Kinds kinds;
    double low, high; ///< real values of the result
};

void addUnary(TfliteCases& all, const Unary& row)
{
    for (const Numbers& kind : row.kinds)
        for (const Shape32& shape : kShapes) {
            CaseBuilder c(all, row.op, kind.name, shapeText(shape));
            const int x = c.input(kind, shape);
            c.op({x}, {c.output(kind.within(row.low, row.high), shape)});
        }
}

/// Integers whose results keep the scale of the operand.
void addSameScale(TfliteCases& all, const char* op, const Kinds& kinds)
{
    for (const Numbers& kind : kinds)
        for (const Shape32& shape : kShapes) {
            CaseBuilder c(all, op, kind.name, "one scale, " + shapeText(shape));
            const int x = c.input(kind, shape);
            c.op({x}, {c.output(kind, shape)});
        }
}

void addFixedScales(TfliteCases& all)
{
    const Numbers kUnit = kBytes.within(0, 255.0 / 256), kSigned = kBytes.within(-1, 127.0 / 128);
    const Numbers kUnsignedUnit = kUnsigned.within(0, 255.0 / 256),
                  kUnsignedSigned = kUnsigned.within(-1, 127.0 / 128);
    for (const Shape32& shape : kShapes)
        for (const auto& [op, bytes, unsignedBytes] :
             {std::tuple{"LOGISTIC", kUnit, kUnsignedUnit},
              std::tuple{"TANH", kSigned, kUnsignedSigned}})
            for (const auto& [in, out] :
                 {std::pair{kFloats.within(-6, 6), kFloats}, std::pair{kBytes, bytes},
                  std::pair{kUnsigned, unsignedBytes},
                  std::pair{kWide.within(-8, 8), kWide.within(-32767.0 / 32768, 0)}}) {
                CaseBuilder c(all, op, in.name, shapeText(shape));
                const int x = c.input(in, shape);
                c.op({x}, {c.output(out, shape)});
            }
}

void addLeaky(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned, kWide})
        for (const float alpha : {0.1F, 0.3F, 1.5F})
            for (const Shape32& shape : kShapes) {
                CaseBuilder c(all, "LEAKY_RELU", kind.name,
                              shapeText(shape) + " alpha " + std::to_string(alpha));
                const int x = c.input(kind, shape);
                c.op({x}, {c.output(kind.within(-2.5, 4), shape)}, FlatOut().number(0, alpha));
            }
}

void addPrelu(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned})
        for (const auto& [shape, slopes] :
             {std::pair<Shape32, Shape32>{{1, 5, 7, 3}, {1, 1, 3}}, {{2, 4, 6, 5}, {4, 6, 5}}}) {
            CaseBuilder c(all, "PRELU", kind.name, shapeText(shape) + " by " + shapeText(slopes));
            const int x = c.input(kind, shape);
            const int alpha = c.constant(kind.within(-0.5, 0.75), slopes);
            c.op({x, alpha}, {c.output(kind, shape)});
        }
}

void addGelu(TfliteCases& all)
{
    for (const Numbers& kind : {kFloats, kBytes, kUnsigned})
        for (const uint8_t isApproximate : kFlags) {
            CaseBuilder c(all, "GELU", kind.name, isApproximate ? "approximate" : "exact");
            const int x = c.input(kind, {2, 9, 5});
            c.op({x}, {c.output(kind.within(-0.3, 4), {2, 9, 5})},
                 FlatOut().number(0, isApproximate));
        }
}

/// Halves and their neighbours, for what rounds.
void addRounding(TfliteCases& all)
{
    std::vector<double> values;
    for (int i = -12; i <= 12; ++i) values.push_back(i / 4.0);
    for (const char* op : {"ROUND", "CEIL", "FLOOR", "SIGN", "NEG", "ABS"}) {
        CaseBuilder c(all, op, "float32", "quarters");
        const int x = c.input(kFloats, {25}, values);
        c.op({x}, {c.output(kFloats, {25})});
    }
}

} // namespace

void addUnaryCases(TfliteCases& all)
{
    const Numbers positive = kFloats.within(0.01, 9), positiveBytes = kBytes.within(0.05, 9);
    const Unary kRows[] = {{"CEIL", {kFloats}, 0, 0},
                           {"FLOOR", {kFloats}, 0, 0},
                           {"ROUND", {kFloats}, 0, 0},
                           {"COS", {kFloats}, 0, 0},
                           {"SIN", {kFloats}, 0, 0},
                           {"SIGN", {kFloats}, 0, 0},
                           {"SQUARE", {kFloats}, 0, 0},
                           {"LOGICAL_NOT", {kBools}, 0, 0},
                           {"NEG", {kFloats, kInts, kLongs}, 0, 0},
                           {"ABS", {kFloats, kInts}, 0, 0},
                           {"ABS", {kBytes, kWide}, 0, 4},
                           {"ZEROS_LIKE", {kFloats, kInts, kLongs, kBytes}, -4, 5},
                           {"EXP", {kFloats.within(-4, 2)}, 0, 0},
                           {"EXP", {kBytes.within(-4, 1), kWide.within(-3, 1)}, 0, 3},
                           {"LOG", {positive}, 0, 0},
                           {"LOG", {positiveBytes}, -3, 2.5},
                           {"SQRT", {positive}, 0, 0},
                           {"RSQRT", {positive}, 0, 0},
                           {"RSQRT", {positiveBytes, kUnsigned.within(0.05, 9)}, 0, 4.5},
                           {"ELU", {kFloats}, 0, 0},
                           {"ELU", {kBytes}, -1, 5},
                           {"HARD_SWISH", {kFloats}, 0, 0},
                           {"HARD_SWISH", {kBytes, kUnsigned}, -0.4, 5},
                           {"RELU", {kFloats}, 0, 0},
                           {"RELU", {kBytes, kUnsigned, kWide}, 0, 3.5},
                           {"RELU6", {kFloats.within(-4, 9)}, 0, 0},
                           {"RELU6", {kBytes.within(-4, 9), kUnsigned.within(-4, 9), kWide}, 0, 6},
                           {"RELU_N1_TO_1", {kFloats}, 0, 0},
                           {"RELU_N1_TO_1", {kBytes, kUnsigned}, -1, 1},
                           {"RELU_0_TO_1", {kFloats}, 0, 0},
                           {"RELU_0_TO_1", {kBytes, kUnsigned}, 0, 1}};
    for (const Unary& row : kRows) addUnary(all, row);
    for (const char* op : {"RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "ABS"})
        addSameScale(all, op, {kBytes, kUnsigned});
    addFixedScales(all);
    addLeaky(all);
    addPrelu(all);
    addGelu(all);
    addRounding(all);
}

} // namespace tenon::test
