// SPDX-License-Identifier: Apache-2.0
// DFT, STFT and MelWeightMatrix whose lengths, axis or scalars are data.
#include "compiler/frontend/import/fourier.h"
#include "compiler/frontend/onnx/converters/dynamic.h"

#include <cmath>

namespace tenon::compiler {
namespace {

/// A single integer, whether it comes as a scalar or as a list of one.
ValueRef wholeScalar(OnnxNode& node, size_t input)
{
    Formula f(node);
    return f.reshape(f.cast(node.input(input), kInt64), {});
}

/// Negative where something is wrong: no size is, so that the run ends there.
ValueRef sizeUnless(Formula& f, ValueRef isWrong, ValueRef size)
{
    return f.where(isWrong, f.number(-1, size), size);
}

Dim boundScalar(OnnxNode& node, ValueRef value)
{
    const std::vector<Dim> dims = node.boundDims(value);
    return dims.size() == 1 ? dims[0] : Dim(1);
}

} // namespace

Dim lengthOf(OnnxNode& node, size_t input)
{
    const std::vector<Dim> dims = node.boundDims(input);
    if (dims.size() == 1) return dims[0];
    if (!node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "input " + std::to_string(input) + " must have one element");
    return {1};
}

void dftAlongRunTimeAxis(OnnxNode& node, size_t axisInput)
{
    Formula f(node);
    const bool isInverse = node.integer("inverse", 0) != 0;
    const bool isOneSided = node.integer("onesided", 0) != 0;
    const Shape shape = node.type(0).shape;
    const ValueRef given = wholeScalar(node, axisInput);
    if (node.hasFailed()) return;
    const Shape lead(shape.begin(), shape.end() - 1);
    const ValueRef sizes = node.sizesOf(lead), one = wholeNumber(node, 1);
    const ValueRef places = f.iota(static_cast<int64_t>(lead.size()), 0, 1);
    const ValueRef axis = f.where(f.compare("less", given, 0),
                                  f.add(given, static_cast<double>(shape.size())), given);
    const ValueRef isAxis = f.call("equal", {places, axis});
    const auto product = [&](const char* relation) {
        return f.reduce("prod", f.where(f.call(relation, {places, axis}), sizes, one), {0},
                        Formula::Keep::Yes);
    };
    const ValueRef count = f.reduce("sum", f.cast(isAxis, kInt64), {0}, Formula::Keep::Yes);
    const ValueRef extent = sizeUnless(f, f.compare("equal", count, 0), product("equal"));
    // The axis between everything before and everything behind it.
    const Shape folded = node.boundDims(f.concat({product("less"), extent, product("greater")}, 0));
    if (node.hasFailed()) return;
    ValueRef x = reshapedTo(node, node.input(0), {folded[0], folded[1], folded[2], shape.back()});
    const Dim length = node.has(1)               ? lengthOf(node, 1)
                       : isInverse && isOneSided ? Dim(2) * (folded[1] - Dim(1))
                                                 : folded[1];
    Fourier fourier(node, length,
                    isInverse ? Fourier::Direction::Inverse : Fourier::Direction::Forward,
                    isOneSided);
    x = f.transpose(fourier.transform(f.transpose(x, {0, 2, 1, 3})), {0, 2, 1, 3});
    if (node.hasFailed()) return;
    const Shape out = node.typeOf(x).shape;
    Shape result =
        out[1] == folded[1] ? lead : node.boundDims(f.where(isAxis, node.sizeOf(out[1]), sizes));
    result.push_back(out[3]);
    node.output(0, reshapedTo(node, x, result));
}

void stftAtRunTime(OnnxNode& node, bool isOneSided)
{
    Formula f(node);
    const Shape shape = node.type(0).shape;
    const ValueRef step = wholeScalar(node, 1);
    if (node.hasFailed()) return;
    const Dim given = node.has(2) ? node.type(2).shape.at(0) : shape[1];
    const Dim length = node.has(3) ? lengthOf(node, 3) : given;
    const ValueRef samples = node.sizeOf(shape[1]), frame = node.sizeOf(length);
    const ValueRef window = node.sizeOf(given);
    const auto either = [&](ValueRef a, ValueRef b) { return f.call("logical_or", {a, b}); };
    ValueRef isWrong =
        either(f.compare("less", step, 1),
               either(f.compare("less", frame, 1), f.call("greater", {frame, samples})));
    if (node.has(2)) isWrong = either(isWrong, f.call("greater", {window, frame}));
    const ValueRef stride = f.call("maximum", {step, wholeNumber(node, 1)});
    const ValueRef behind = f.call("floor_divide", {f.subtract(samples, frame), stride});
    const Dim frames = boundScalar(node, sizeUnless(f, isWrong, f.add(behind, 1.0)));
    const ValueRef first = f.expand(f.multiply(countedTo(node, frames), stride), 1);
    ValueRef x = f.take(node.input(0), f.add(first, countedTo(node, length)), 1);
    if (node.has(2)) {
        const DataType dtype = node.type(0).dtype;
        ValueRef weights = f.cast(node.input(2), dtype);
        if (length != given) { // in the middle of the frame
            const ValueRef before =
                f.call("floor_divide", {f.subtract(frame, window), wholeNumber(node, 2)});
            weights = emitSized(node, "dynamic_pad",
                                {weights, f.expand(before, 0), node.scalar(0, dtype)}, {length},
                                {{"pad_mode", std::string("constant")}});
        }
        x = f.multiply(x, f.expand(weights, 1));
    }
    node.output(0, Fourier(node, length, Fourier::Direction::Forward, isOneSided).transform(x));
}

namespace {

/// The mel scale: equal steps sound equally far apart.
ValueRef melOf(Formula& f, ValueRef hertz)
{
    const ValueRef ratio = f.add(f.divide(hertz, 700.0), 1.0);
    return f.multiply(f.divide(f.apply("log", ratio), std::log(10.0)), 2595.0);
}

/// Weights that rise from 0 at `left` to 1 at `centre` and fall to 0 at `right`.
ValueRef triangle(OnnxNode& node, ValueRef line, ValueRef left, ValueRef centre, ValueRef right)
{
    Formula f(node);
    const auto share = [&](ValueRef part, ValueRef whole) {
        const ValueRef divisor = f.call("maximum", {whole, wholeNumber(node, 1)});
        return f.divide(f.cast(part, kFloat64), f.cast(divisor, kFloat64));
    };
    const ValueRef isFalling =
        f.both(f.call("greater_equal", {line, centre}), f.call("less", {line, right}));
    const ValueRef isPeak = f.call("equal", {line, centre}); // also of a band of no width
    const ValueRef isRising =
        f.both(f.call("greater_equal", {line, left}), f.call("less", {line, centre}));
    const ValueRef rising =
        f.where(isRising, share(f.subtract(line, left), f.subtract(centre, left)),
                f.cast(isPeak, kFloat64));
    return f.where(isFalling, share(f.subtract(right, line), f.subtract(right, centre)), rising);
}

} // namespace

void melWeightMatrixAtRunTime(OnnxNode& node, DataType dtype)
{
    Formula f(node);
    const ValueRef bands = wholeScalar(node, 0), length = wholeScalar(node, 1);
    const ValueRef rate = wholeScalar(node, 2);
    const auto hertzOf = [&](size_t input) {
        return f.reshape(f.cast(node.input(input), kFloat64), {});
    };
    const ValueRef low = hertzOf(3), high = hertzOf(4);
    ValueRef isWrong = f.apply(
        "logical_not", f.both(f.compare("greater_equal", low, 0), f.call("greater", {high, low})));
    for (const ValueRef size : {bands, length, rate})
        isWrong = f.call("logical_or", {isWrong, f.compare("less", size, 1)});
    const Dim columns = boundScalar(node, sizeUnless(f, isWrong, bands));
    const Dim lines =
        boundScalar(node, f.add(f.call("floor_divide", {length, wholeNumber(node, 2)}), 1.0));
    if (node.hasFailed()) return;
    const ValueRef bandCount = f.cast(f.add(bands, 2.0), kFloat64);
    const ValueRef step = f.divide(f.subtract(melOf(f, high), melOf(f, low)), bandCount);
    // Line of the spectrum at the i-th of the edges, which overlap: a band has three.
    const auto edge = [&](int64_t first) {
        const ValueRef place =
            f.cast(f.add(countedTo(node, columns), static_cast<double>(first)), kFloat64);
        const ValueRef exponent = f.divide(f.add(f.multiply(place, step), melOf(f, low)), 2595.0);
        const ValueRef power = f.call("power", {f.number(10, exponent), exponent});
        const ValueRef hertz = f.multiply(f.subtract(power, 1.0), 700.0);
        const ValueRef at = f.divide(f.multiply(f.cast(f.add(length, 1.0), kFloat64), hertz),
                                     f.cast(rate, kFloat64));
        return f.call("minimum", {f.cast(at, kInt64), node.sizeOf(lines - Dim(1))});
    };
    const ValueRef left = edge(0), centre = edge(1), right = edge(2);
    const ValueRef line = f.expand(countedTo(node, lines), 1);
    const ValueRef weight = triangle(node, line, left, centre, right);
    node.output(0, f.cast(weight, dtype));
}

} // namespace tenon::compiler
