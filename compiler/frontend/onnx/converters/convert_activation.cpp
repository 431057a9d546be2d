// SPDX-License-Identifier: Apache-2.0
// Activations: most are decomposed into a few element-wise operators.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

#include <cmath>
#include <limits>

namespace tenon::compiler {
namespace {

/// The formulas of one input of its own type.
class Activation : public Formula
{
public:
    explicit Activation(OnnxNode& node)
        : Formula(node)
        , m_node(node)
    {
    }
    ValueRef x() { return m_node.input(0); }
    ValueRef number(double value) { return m_node.scalar(value, m_node.type(0).dtype); }
    /// value > bound ? a : b
    ValueRef whereGreater(ValueRef value, double bound, ValueRef a, ValueRef b)
    {
        return where(compare("greater", value, bound), a, b);
    }
    /// log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
    ValueRef softplus()
    {
        const ValueRef decay = apply("exp", apply("negative", apply("abs", x())));
        return add(apply("nn.relu", x()), apply("log", add(decay, 1)));
    }

private:
    OnnxNode& m_node;
};

/// alpha * (exp(min(x, 0)) - 1) where x <= 0, else x; all times gamma.
ValueRef exponentialUnit(OnnxNode& node, double alpha, double gamma, double scale = 1)
{
    Activation f(node);
    const ValueRef low = node.emit("minimum", {f.x(), f.number(0)});
    const ValueRef inner = scale == 1 ? low : f.divide(low, f.number(scale));
    const ValueRef negative =
        f.multiply(f.number(alpha), f.subtract(f.apply("exp", inner), f.number(1)));
    const ValueRef out = f.whereGreater(f.x(), 0, f.x(), negative);
    return gamma == 1 ? out : f.multiply(f.number(gamma), out);
}

} // namespace

void convertClipAttr(OnnxNode& node)
{
    constexpr double kMax = std::numeric_limits<float>::max();
    const double low = node.number("min", -kMax);
    const double high = node.number("max", kMax);
    node.output(0, node.emit("clip", {node.input(0)}, {{"a_min", low}, {"a_max", high}}));
}

void convertClip(OnnxNode& node)
{
    const DataType dtype = node.type(0).dtype;
    const Tensor* low = node.constant(1);
    const Tensor* high = node.constant(2);
    const bool isStatic = (!node.has(1) || (low && low->size() == 1)) &&
                          (!node.has(2) || (high && high->size() == 1));
    if (!node.has(1) && !node.has(2)) {
        node.forward(0, 0);
        return;
    }
    if (dtype == kFloat32 && isStatic) {
        constexpr double kMax = std::numeric_limits<float>::max();
        const double a = low ? low->number(0) : -kMax;
        const double b = high ? high->number(0) : kMax;
        // An empty range means "everything is the maximum".
        node.output(0,
                    node.emit("clip", {node.input(0)}, {{"a_min", std::fmin(a, b)}, {"a_max", b}}));
        return;
    }
    ValueRef out = node.input(0);
    if (node.has(1)) out = node.emit("maximum", {out, node.input(1)});
    if (node.has(2)) out = node.emit("minimum", {out, node.input(2)});
    node.output(0, out);
}

void convertLeakyRelu(OnnxNode& node)
{
    const double alpha = node.number("alpha", 0.01);
    node.output(0, node.emit("nn.leaky_relu", {node.input(0)}, {{"alpha", alpha}}));
}

void convertPRelu(OnnxNode& node)
{
    Activation f(node);
    const ValueRef positive = f.apply("nn.relu", f.x());
    const ValueRef negative = node.emit("minimum", {f.x(), f.number(0)});
    node.output(0, f.add(positive, f.multiply(negative, node.input(1))));
}

void convertPReluLegacy(OnnxNode& node)
{
    // Before opset 7 the slopes are one, or one per channel.
    Activation f(node);
    const std::vector<int64_t> slopes = node.shape(1);
    const int64_t rank = node.rank(0);
    if (node.hasFailed()) return;
    ValueRef alpha = node.input(1);
    if (elementCount(slopes) != 1 && slopes.size() == 1 && rank > 2)
        alpha = f.expand(alpha, 1, rank - 2);
    const ValueRef negative = node.emit("minimum", {f.x(), f.number(0)});
    node.output(0, f.add(f.apply("nn.relu", f.x()), f.multiply(negative, alpha)));
}

void convertHardSigmoid(OnnxNode& node)
{
    const double alpha = node.number("alpha", 0.2);
    const double beta = node.number("beta", 0.5);
    Activation f(node);
    const ValueRef scaled = f.multiply(f.x(), f.number(alpha));
    const ValueRef line = f.add(scaled, f.number(beta));
    node.output(0, f.clip(line, 0, 1));
}

void convertHardSwish(OnnxNode& node)
{
    Activation f(node);
    const ValueRef sixth = f.multiply(f.x(), f.number(1.0 / 6));
    const ValueRef line = f.add(sixth, f.number(0.5));
    node.output(0, f.multiply(f.x(), f.clip(line, 0, 1)));
}

void convertElu(OnnxNode& node)
{
    node.output(0, exponentialUnit(node, node.number("alpha", 1), 1));
}

void convertCelu(OnnxNode& node)
{
    const double alpha = node.number("alpha", 1);
    node.output(0, exponentialUnit(node, alpha, 1, alpha));
}

void convertSelu(OnnxNode& node)
{
    const double alpha = node.number("alpha", 1.67326319217681884765625);
    const double gamma = node.number("gamma", 1.05070102214813232421875);
    node.output(0, exponentialUnit(node, alpha, gamma));
}

void convertSoftplus(OnnxNode& node) { node.output(0, Activation(node).softplus()); }

void convertSoftsign(OnnxNode& node)
{
    Activation f(node);
    node.output(0, f.divide(f.x(), f.add(f.apply("abs", f.x()), f.number(1))));
}

void convertMish(OnnxNode& node)
{
    Activation f(node);
    node.output(0, f.multiply(f.x(), f.apply("tanh", f.softplus())));
}

void convertThresholdedRelu(OnnxNode& node)
{
    const double alpha = node.number("alpha", 1);
    Activation f(node);
    node.output(0, f.whereGreater(f.x(), alpha, f.x(), f.number(0)));
}

void convertShrink(OnnxNode& node)
{
    const double bias = node.number("bias", 0);
    const double lambd = node.number("lambd", 0.5);
    Activation f(node);
    const ValueRef below =
        f.where(f.compare("less", f.x(), -lambd), f.add(f.x(), bias), f.number(0));
    node.output(0, f.whereGreater(f.x(), lambd, f.subtract(f.x(), bias), below));
}

void convertSwish(OnnxNode& node)
{
    const double alpha = node.number("alpha", 1);
    Activation f(node);
    node.output(0, f.multiply(f.x(), f.apply("sigmoid", f.multiply(f.x(), alpha))));
}

void convertGelu(OnnxNode& node)
{
    const std::string approximate = node.string("approximate", "none");
    Activation f(node);
    const ValueRef half = f.multiply(f.x(), f.number(0.5));
    if (approximate == "tanh") {
        const ValueRef cube = f.multiply(f.x(), f.multiply(f.x(), f.x()));
        const ValueRef inner = f.add(f.x(), f.multiply(cube, f.number(0.044715)));
        const ValueRef tanh =
            f.apply("tanh", f.multiply(inner, f.number(std::sqrt(2 / 3.14159265358979323846))));
        node.output(0, f.multiply(half, f.add(tanh, f.number(1))));
        return;
    }
    const ValueRef erf = f.apply("erf", f.multiply(f.x(), f.number(std::sqrt(0.5))));
    node.output(0, f.multiply(half, f.add(erf, f.number(1))));
}

} // namespace tenon::compiler
