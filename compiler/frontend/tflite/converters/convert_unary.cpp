// SPDX-License-Identifier: Apache-2.0
// Element-wise operators of one operand: one foreign name, one formula; quantized ones through
// their real values.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <array>
#include <cmath>
#include <optional>
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

namespace {

/// The ratios of both sides in steps of 1/256; nothing where that is too coarse.
struct LeakyRatios
{
    int64_t above, below;
};

std::optional<LeakyRatios> leakyRatios(TfliteNode& node, double alpha)
{
    if (!node.isQuantized(0) || !node.isOutputQuantized(0) || node.type(0).dtype.bits != 8 ||
        node.outputType(0) != node.type(0).dtype)
        return std::nullopt;
    const auto from = static_cast<float>(oneScale(node, node.inputTensor(0)).scale);
    const auto to = static_cast<float>(oneScale(node, node.outputTensor(0)).scale);
    const float above = from / to, below = from * static_cast<float>(alpha) / to;
    constexpr float kLeast = 1.0F / 256, kMost = 128;
    const auto fits = [&](float ratio) { return ratio >= kLeast && ratio < kMost; };
    if (node.hasFailed() || !fits(above) || !fits(std::fabs(below))) return std::nullopt;
    return LeakyRatios{std::lrint(above * 256), std::lrint(below * 256)};
}

/// Of bytes, as XNNPACK does it: products of 8 fractional bits, halves up.
void leakyBytes(TfliteNode& node, const LeakyRatios& ratios)
{
    const PictureLayout layout = layoutOf(node, {0});
    const DataType dtype = node.type(0).dtype;
    Formula f(node);
    const ValueRef x = f.subtract(f.cast(inputIn(node, 0, layout), kInt32),
                                  static_cast<double>(oneScale(node, node.inputTensor(0)).zero));
    const ValueRef ratio =
        f.where(f.compare("less", x, 0), f.number(static_cast<double>(ratios.below), x),
                f.number(static_cast<double>(ratios.above), x));
    const ValueRef product = f.add(f.multiply(x, ratio), 128);
    const ValueRef whole = f.call("right_shift", {product, f.number(8, product)});
    const ValueRef moved =
        f.add(whole, static_cast<double>(oneScale(node, node.outputTensor(0)).zero));
    const double low = dtype.isSigned() ? -128 : 0;
    outputIn(node, 0, f.cast(f.clip(moved, low, low + 255), dtype), layout);
}

} // namespace

void convertLeakyRelu(TfliteNode& node)
{
    const double alpha = node.number(0);
    if (const auto ratios = leakyRatios(node, alpha)) return leakyBytes(node, *ratios);
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
