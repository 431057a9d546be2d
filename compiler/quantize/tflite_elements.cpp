// SPDX-License-Identifier: Apache-2.0
// Operators that take elements one by one, or rows of them.
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/quantize/tflite_operators.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

void TfliteOperators::binary()
{
    static const std::map<std::string, std::string> kOps{{"ADD", "Add"},
                                                         {"DIV", "Div"},
                                                         {"EQUAL", "Equal"},
                                                         {"GREATER", "Greater"},
                                                         {"GREATER_EQUAL", "GreaterOrEqual"},
                                                         {"LESS", "Less"},
                                                         {"LESS_EQUAL", "LessOrEqual"},
                                                         {"LOGICAL_AND", "And"},
                                                         {"LOGICAL_OR", "Or"},
                                                         {"MAXIMUM", "Max"},
                                                         {"MINIMUM", "Min"},
                                                         {"MUL", "Mul"},
                                                         {"NOT_EQUAL", "Equal"},
                                                         {"POW", "Pow"},
                                                         {"SQUARED_DIFFERENCE", "Sub"},
                                                         {"SUB", "Sub"}};
    const bool isPlanes = rankOf(output()) == 4 && (hasPlanes(input(0)) || hasPlanes(input(1))) &&
                          canBePlanes(input(0)) && canBePlanes(input(1));
    std::vector<std::string> inputs;
    for (const size_t at : {0, 1}) inputs.push_back(operand(at, isPlanes));
    NodeProto& made = node(kOps.at(m_op->name), inputs, {}, nameOf(output()));
    const bool isActivated =
        m_op->name == "ADD" || m_op->name == "SUB" || m_op->name == "MUL" || m_op->name == "DIV";
    if (m_op->name == "SQUARED_DIFFERENCE") return squareOf(made, isPlanes);
    if (m_op->name == "NOT_EQUAL") {
        made.set_output(0, nameOf(output()) + "/equal");
        node("Not", {made.output(0)}, resultName(isPlanes), made.output(0) + "/not");
        return;
    }
    finish(made, isPlanes, isActivated ? option(0) : 0);
}

/// The result is the square of what the node makes.
void TfliteOperators::squareOf(NodeProto& made, bool isPlanes)
{
    const std::string inner = nameOf(output()) + "/difference";
    made.set_output(0, inner);
    node("Mul", {inner, inner}, resultName(isPlanes), nameOf(output()) + "/square");
}

void TfliteOperators::unary()
{
    static const std::map<std::string, std::string> kOps{{"ABS", "Abs"},
                                                         {"CEIL", "Ceil"},
                                                         {"COS", "Cos"},
                                                         {"ELU", "Elu"},
                                                         {"EXP", "Exp"},
                                                         {"FLOOR", "Floor"},
                                                         {"LEAKY_RELU", "LeakyRelu"},
                                                         {"LOG", "Log"},
                                                         {"LOGICAL_NOT", "Not"},
                                                         {"LOGISTIC", "Sigmoid"},
                                                         {"NEG", "Neg"},
                                                         {"RELU", "Relu"},
                                                         {"ROUND", "Round"},
                                                         {"RSQRT", "Sqrt"},
                                                         {"SIGN", "Sign"},
                                                         {"SIN", "Sin"},
                                                         {"SQRT", "Sqrt"},
                                                         {"TANH", "Tanh"}};
    const bool isPlanes = hasPlanes(input(0));
    const std::string data = elements(isPlanes), name = nameOf(output());
    if (m_op->name == "RSQRT") {
        node("Sqrt", {data}, name + "/root", name + "/root");
        node("Reciprocal", {name + "/root"}, resultName(isPlanes), name);
        return;
    }
    NodeProto& made = node(kOps.at(m_op->name), {data}, resultName(isPlanes), name);
    if (m_op->name == "LEAKY_RELU") setFloat(made, "alpha", m_op->options.number<float>(0));
}

void TfliteOperators::hardSwish()
{
    const bool isPlanes = hasPlanes(input(0));
    const std::string data = elements(isPlanes);
    const std::string gate = nameOf(output()) + "/gate";
    NodeProto& inner = node("HardSigmoid", {data}, gate, gate);
    setFloat(inner, "alpha", 1.0f / 6);
    setFloat(inner, "beta", 0.5f);
    node("Mul", {data, gate}, resultName(isPlanes), nameOf(output()));
}

void TfliteOperators::softmax()
{
    const bool isLog = m_op->name == "LOG_SOFTMAX";
    std::string data = asGiven(input(0));
    if (const float beta = isLog ? 1 : m_op->options.number<float>(0, 1); beta != 1) {
        const std::string scaled = nameOf(output()) + "/scaled";
        node("Mul", {data, number("beta", beta)}, scaled, scaled);
        data = scaled;
    }
    setInteger(node(isLog ? "LogSoftmax" : "Softmax", {data}, resultName(false), nameOf(output())),
               "axis", -1);
}

void TfliteOperators::gelu()
{
    const bool isPlanes = hasPlanes(input(0));
    const std::string data = elements(isPlanes), base = nameOf(output());
    const auto times = [&](const std::string& from, const char* leaf, float factor) {
        node("Mul", {from, number(std::string(leaf) + "_factor", factor)}, base + "/" + leaf,
             base + "/" + leaf);
        return base + "/" + leaf;
    };
    std::string gate;
    if (option(0) != 0) { // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
        node("Mul", {data, data}, base + "/square", base + "/square");
        node("Mul", {base + "/square", data}, base + "/cube", base + "/cube");
        node("Add", {data, times(base + "/cube", "bend", 0.044715F)}, base + "/inner",
             base + "/inner");
        gate = times(base + "/inner", "slope", 0.79788456F);
        node("Tanh", {gate}, base + "/bent", base + "/bent");
    } else { // x (1 + erf(x / sqrt(2))) / 2
        gate = times(data, "slope", 0.70710678F);
        node("Erf", {gate}, base + "/bent", base + "/bent");
    }
    node("Add", {base + "/bent", number("one", 1)}, base + "/gate", base + "/gate");
    node("Mul", {data, base + "/gate"}, base + "/twice", base + "/twice");
    node("Mul", {base + "/twice", number("half", 0.5F)}, resultName(isPlanes), base);
}

void TfliteOperators::square()
{
    const bool isPlanes = hasPlanes(input(0));
    const std::string data = elements(isPlanes);
    node("Mul", {data, data}, resultName(isPlanes), nameOf(output()));
}

void TfliteOperators::limit()
{
    const bool isPlanes = hasPlanes(input(0));
    const std::string data = elements(isPlanes), result = resultName(isPlanes);
    const float least = m_op->name == "RELU_N1_TO_1" ? -1 : 0;
    const float greatest = m_op->name == "RELU6" ? 6 : 1;
    clip(data, result, nameOf(output()), least, greatest);
}

void TfliteOperators::sumOfAll()
{
    std::vector<std::string> inputs;
    for (const int64_t index : m_op->inputs) inputs.push_back(asGiven(index));
    node("Sum", inputs, resultName(false), nameOf(output()));
}

void TfliteOperators::parametricRelu()
{
    const bool isPlanes = hasPlanes(input(0)) && rankOf(input(0)) == 4 && canBePlanes(input(1));
    const std::string slope = operand(1, isPlanes);
    node("PRelu", {elements(isPlanes), slope}, resultName(isPlanes), nameOf(output()));
}

/// x / sqrt(max(sum of x^2, 1e-12)) over the last axis.
void TfliteOperators::normalize()
{
    const std::string data = asGiven(input(0)), base = nameOf(output());
    NodeProto& sum = node("ReduceSumSquare", {data}, base + "/squares", base + "/squares");
    setIntegers(sum, "axes", {-1});
    node("Max", {base + "/squares", number("least", 1e-12F)}, base + "/large", base + "/large");
    node("Sqrt", {base + "/large"}, base + "/length", base + "/length");
    node("Div", {data, base + "/length"}, resultName(false), base);
}

/// The quotient without what is left of a whole one: Div rounds integers towards zero.
void TfliteOperators::floorDivide()
{
    const std::string a = asGiven(input(0)), b = asGiven(input(1)), name = nameOf(output());
    if (tfliteDataType(tensor(output()).type) == kFloat32)
        node("Floor", {inner("Div", {a, b}, "whole")}, resultName(false), name);
    else
        node("Div", {inner("Sub", {a, inner("Mod", {a, b}, "rest")}, "whole"), b},
             resultName(false), name);
}

/// Mod of floats has the sign of the dividend; here it is the divisor's.
void TfliteOperators::floorModulo()
{
    const std::string a = asGiven(input(0)), b = asGiven(input(1)), name = nameOf(output());
    if (tfliteDataType(tensor(output()).type) != kFloat32) {
        node("Mod", {a, b}, resultName(false), name);
        return;
    }
    const std::string rest = name + "/rest";
    setInteger(node("Mod", {a, b}, rest, rest), "fmod", 1);
    const std::string signs =
        inner("Mul", {inner("Sign", {rest}, "rest_sign"), inner("Sign", {b}, "sign")}, "signs");
    node("Where",
         {inner("Less", {signs, number("zero", 0)}, "is_opposite"),
          inner("Add", {rest, b}, "moved"), rest},
         resultName(false), name);
}

/// Over the channels within a radius, which ONNX divides the factor by.
void TfliteOperators::normalizeChannels()
{
    if (!needRank(input(0), 4)) return;
    const int64_t width = 2 * size(0, 0) + 1;
    NodeProto& made = node("LRN", {asPlanes(input(0))}, resultName(true), nameOf(output()));
    setInteger(made, "size", width);
    setFloat(made, "bias", m_op->options.number<float>(1));
    setFloat(made, "alpha", m_op->options.number<float>(2) * static_cast<float>(width));
    setFloat(made, "beta", m_op->options.number<float>(3));
}

void TfliteOperators::castTo()
{
    const auto dtype = tfliteDataType(tensor(output()).type);
    if (!dtype) return fail("its type cannot be computed with");
    const bool isPlanes = hasPlanes(input(0));
    setInteger(node("Cast", {elements(isPlanes)}, resultName(isPlanes), nameOf(output())), "to",
               onnxTypeOf(*dtype));
}

/// On the grid of so many bits between two limits, nudged so that zero is on it.
void TfliteOperators::fakeQuantize()
{
    const double low = m_op->options.number<float>(0), high = m_op->options.number<float>(1),
                 least = option(3) != 0 ? 1 : 0,
                 most = std::ldexp(1.0, static_cast<int>(size(2, 0))) - 1,
                 scale = (high - low) / (most - least),
                 zero = std::clamp(std::round(least - low / scale), least, most);
    const bool isPlanes = hasPlanes(input(0));
    const std::string data = elements(isPlanes), inside = nameOf(output()) + "/inside",
                      step = number("step", static_cast<float>(scale));
    clip(data, inside, inside, static_cast<float>((least - zero) * scale),
         static_cast<float>((most - zero) * scale));
    const std::string raised =
        inner("Add", {inner("Div", {inside, step}, "steps"), number("half", 0.5F)}, "raised");
    node("Mul", {inner("Floor", {raised}, "whole"), step}, resultName(isPlanes), nameOf(output()));
}

} // namespace tenon::compiler
