// SPDX-License-Identifier: Apache-2.0
// One step of an optimizer (ai.onnx.preview.training), and two operators of ai.onnx.ml on numbers.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

#include <functional>

namespace tenon::compiler {
namespace {

/// Inputs are the rate, the step count, then `states` + 2 groups of equally many tensors: the
/// values, their gradients, and what the optimizer keeps of each.
struct OptimizerStep
{
    ValueRef rate;
    ValueRef count; ///< of steps taken, as the rate's type
    ValueRef value;
    ValueRef gradient;
    std::vector<ValueRef> kept;
};

/// Applies `step` to every tensor; it returns the new value and what is kept then.
void optimize(OnnxNode& node, size_t states,
              const std::function<std::vector<ValueRef>(Formula&, const OptimizerStep&)>& step)
{
    const size_t groups = states + 2;
    if (node.inputCount() < 2 + groups || (node.inputCount() - 2) % groups != 0) {
        node.fail(DiagnosticCode::BadOperandCount,
                  "the node has " + std::to_string(node.inputCount()) +
                      " inputs but takes 2 and then " + std::to_string(groups) + " per tensor");
        return;
    }
    Formula f(node);
    const size_t tensors = (node.inputCount() - 2) / groups;
    const double decay = node.number("norm_coefficient", 0);
    for (size_t t = 0; t < tensors; ++t) {
        const auto input = [&](size_t group) { return node.input(2 + group * tensors + t); };
        OptimizerStep one{.value = input(0), .gradient = input(1)};
        const DataType dtype = f.dtype(one.value);
        one.rate = f.cast(node.input(0), dtype);
        one.count = f.cast(node.input(1), dtype);
        if (decay != 0) one.gradient = f.add(one.gradient, f.multiply(one.value, decay));
        for (size_t s = 0; s < states; ++s) one.kept.push_back(input(2 + s));
        const std::vector<ValueRef> out = step(f, one);
        for (size_t group = 0; group < out.size(); ++group)
            node.output(group * tensors + t, out[group]);
    }
}

} // namespace

void convertAdagrad(OnnxNode& node)
{
    const double epsilon = node.number("epsilon", 1e-6);
    const double decay = node.number("decay_factor", 0);
    optimize(node, 1, [&](Formula& f, const OptimizerStep& s) -> std::vector<ValueRef> {
        const ValueRef rate = f.divide(s.rate, f.add(f.multiply(s.count, decay), 1));
        const ValueRef sum = f.add(s.kept[0], f.multiply(s.gradient, s.gradient));
        const ValueRef size = f.add(f.apply("sqrt", sum), epsilon);
        return {f.subtract(s.value, f.divide(f.multiply(rate, s.gradient), size)), sum};
    });
}

void convertMomentum(OnnxNode& node)
{
    const double alpha = node.number("alpha", 0), beta = node.number("beta", 0);
    const bool isNesterov = node.string("mode", "standard") == "nesterov";
    optimize(node, 1, [&](Formula& f, const OptimizerStep& s) -> std::vector<ValueRef> {
        // The first step takes the whole gradient.
        const ValueRef isLater = f.compare("greater", s.count, 0);
        const ValueRef share = f.where(isLater, f.number(beta, s.value), f.number(1, s.value));
        const ValueRef speed = f.add(f.multiply(s.kept[0], alpha), f.multiply(s.gradient, share));
        const ValueRef step = isNesterov ? f.add(s.gradient, f.multiply(speed, alpha)) : speed;
        return {f.subtract(s.value, f.multiply(s.rate, step)), speed};
    });
}

void convertAdam(OnnxNode& node)
{
    const double alpha = node.number("alpha", 0.9), beta = node.number("beta", 0.999);
    const double epsilon = node.number("epsilon", 1e-6);
    const double after = node.number("norm_coefficient_post", 0);
    optimize(node, 2, [&](Formula& f, const OptimizerStep& s) -> std::vector<ValueRef> {
        const ValueRef mean =
            f.add(f.multiply(s.kept[0], alpha), f.multiply(s.gradient, 1 - alpha));
        const ValueRef power = f.add(f.multiply(s.kept[1], beta),
                                     f.multiply(f.multiply(s.gradient, s.gradient), 1 - beta));
        const auto left = [&](double factor) {
            const ValueRef one = f.number(1, s.value);
            return f.subtract(one, f.call("power", {f.number(factor, s.value), s.count}));
        };
        const ValueRef corrected =
            f.divide(f.multiply(s.rate, f.apply("sqrt", left(beta))), left(alpha));
        const ValueRef isLater = f.compare("greater", s.count, 0);
        const ValueRef rate = f.where(isLater, corrected, s.rate);
        const ValueRef size = f.add(f.apply("sqrt", power), epsilon);
        const ValueRef moved = f.subtract(s.value, f.divide(f.multiply(rate, mean), size));
        return {f.multiply(moved, 1 - after), mean, power};
    });
}

void convertArrayFeatureExtractor(OnnxNode& node)
{
    Formula f(node);
    const int64_t last = node.rank(0) - 1;
    if (last < 0) {
        node.fail(DiagnosticCode::ShapeMismatch, "the input has no axis to choose along");
        return;
    }
    ValueRef indices = node.input(1);
    const std::vector<int64_t> shape = f.shape(indices);
    if (node.hasFailed()) return;
    indices = f.reshape(indices, {elementCount(shape)});
    const ValueRef out = f.take(node.input(0), indices, last);
    node.output(0, last == 0 ? f.expand(out, 0) : out);
}

void convertBinarizer(OnnxNode& node)
{
    Formula f(node);
    const ValueRef x = node.input(0);
    const ValueRef isAbove = f.compare("greater", x, node.number("threshold", 0));
    node.output(0, f.where(isAbove, f.number(1, x), f.number(0, x)));
}

} // namespace tenon::compiler
