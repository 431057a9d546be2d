// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of one operand: one foreign name, one formula; quantized ones through
// their real values.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <array>
#include <utility>

namespace tenon::compiler {
namespace {

using NamePair = std::pair<std::string_view, const char*>;

constexpr std::array<NamePair, 16> kUnary{{{"ABS", "abs"},
                                           {"CEIL", "ceil"},
                                           {"COS", "cos"},
                                           {"EXP", "exp"},
                                           {"FLOOR", "floor"},
                                           {"LOG", "log"},
                                           {"LOGICAL_NOT", "logical_not"},
                                           {"LOGISTIC", "sigmoid"},
                                           {"NEG", "negative"},
                                           {"RELU", "nn.relu"},
                                           {"ROUND", "round"},
                                           {"RSQRT", "rsqrt"},
                                           {"SIGN", "sign"},
                                           {"SIN", "sin"},
                                           {"SQRT", "sqrt"},
                                           {"TANH", "tanh"}}};

const char* unaryName(std::string_view op)
{
    for (const auto& [foreign, ours] : kUnary)
        if (foreign == op) return ours;
    CHECK(false) << "no element-wise operator for " << op;
    return "";
}

/// `formula` of the real value, in whichever layout it is known.
template <class F>
void unary(TfliteNode& node, const F& formula)
{
    const PictureLayout layout = layoutOf(node, {0});
    const ValueRef value = realInput(node, 0, layout);
    if (!node.hasFailed()) outputReal(node, 0, formula(value), layout);
}

} // namespace

void convertUnary(TfliteNode& node)
{
    unary(node, [&](ValueRef x) { return node.emit(unaryName(node.op()), {x}); });
}

void convertElu(TfliteNode& node)
{
    unary(node, [&](ValueRef x) {
        Formula f(node);
        const ValueRef low = f.call("minimum", {x, f.number(0, x)});
        return f.add(f.apply("nn.relu", x), f.subtract(f.apply("exp", low), 1));
    });
}

void convertGelu(TfliteNode& node)
{
    const bool isApproximate = node.flag(0);
    unary(node, [&](ValueRef x) {
        Formula f(node);
        if (!isApproximate) {
            const ValueRef phi = f.add(f.apply("erf", f.multiply(x, 0.70710678118654752440)), 1);
            return f.multiply(f.multiply(x, 0.5), phi);
        }
        const ValueRef cube = f.multiply(f.multiply(x, x), x);
        const ValueRef inner =
            f.multiply(f.add(x, f.multiply(cube, 0.044715)), 0.79788456080286535588);
        return f.multiply(f.multiply(x, 0.5), f.add(f.apply("tanh", inner), 1));
    });
}

void convertHardSwish(TfliteNode& node)
{
    unary(node, [&](ValueRef x) {
        Formula f(node);
        return f.multiply(x, f.multiply(f.clip(f.add(x, 3), 0, 6), 1.0 / 6));
    });
}

void convertLeakyRelu(TfliteNode& node)
{
    const double alpha = node.number(0);
    unary(node, [&](ValueRef x) { return node.emit("nn.leaky_relu", {x}, {{"alpha", alpha}}); });
}

void convertRelu6(TfliteNode& node)
{
    unary(node, [&](ValueRef x) { return Formula(node).clip(x, 0, 6); });
}

void convertReluN1To1(TfliteNode& node)
{
    unary(node, [&](ValueRef x) { return Formula(node).clip(x, -1, 1); });
}

void convertRelu0To1(TfliteNode& node)
{
    unary(node, [&](ValueRef x) { return Formula(node).clip(x, 0, 1); });
}

void convertSquare(TfliteNode& node)
{
    unary(node, [&](ValueRef x) { return Formula(node).multiply(x, x); });
}

void convertPrelu(TfliteNode& node)
{
    const PictureLayout layout = layoutOf(node, {0, 1});
    const ValueRef x = realInput(node, 0, layout), alpha = realInput(node, 1, layout);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef below = f.multiply(x, alpha);
    outputReal(node, 0, f.where(f.compare("less", x, 0), below, x), layout);
}

} // namespace tenon::compiler
