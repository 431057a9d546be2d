// SPDX-License-Identifier: Apache-2.0
// Signal processing: windows, Fourier transforms, mel weights.
#include "compiler/frontend/import/fourier.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

constexpr double kPi = 3.14159265358979323846;

int64_t staticScalar(OnnxNode& node, size_t input)
{
    const std::vector<int64_t> values = node.staticIntegers(input);
    if (values.size() == 1) return values[0];
    if (!node.hasFailed())
        node.fail(DiagnosticCode::ShapeMismatch,
                  "input " + std::to_string(input) + " must have one element");
    return 0;
}

std::optional<DataType> outputType(OnnxNode& node)
{
    const int64_t code = node.integer("output_datatype", 1);
    const auto dtype = dataTypeOf(static_cast<int32_t>(code));
    if (!dtype && !node.hasFailed())
        node.fail(DiagnosticCode::UnsupportedDtype,
                  onnxTypeName(static_cast<int32_t>(code)) + " cannot be computed with",
                  "output_datatype");
    return dtype;
}

Tensor tensorOf(const std::vector<double>& values, std::vector<int64_t> shape, DataType dtype)
{
    return Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < values.size(); ++i)
            storeNumber(dtype, out, static_cast<int64_t>(i),
                        dtype.isFloat() ? values[i] : std::trunc(values[i]));
    });
}

/// As below for a size that is known when the model runs.
void cosineWindowAtRunTime(OnnxNode& node, const std::vector<double>& weights, bool isPeriodic,
                           DataType dtype)
{
    Formula f(node);
    const std::vector<Dim> size = node.boundDims(0);
    if (node.hasFailed() || size.size() != 1) return;
    const ValueRef n = f.cast(countedTo(node, size[0]), kFloat64);
    const ValueRef period = f.cast(node.sizeOf(isPeriodic ? size[0] : size[0] - Dim(1)), kFloat64);
    ValueRef sum = f.multiply(n, 0.0);
    for (size_t i = 0; i < weights.size(); ++i) {
        const ValueRef angle = f.divide(f.multiply(n, 2 * kPi * static_cast<double>(i)), period);
        sum = f.add(sum, f.multiply(f.apply("cos", angle), weights[i]));
    }
    node.output(0, f.cast(sum, dtype));
}

/// sum over i of weights[i] * cos(2 pi i n / N).
void cosineWindow(OnnxNode& node, const std::vector<double>& weights)
{
    const bool isPeriodic = node.integer("periodic", 1) != 0;
    const auto dtype = outputType(node);
    if (node.hasFailed()) return;
    if (node.isOpen(0)) return cosineWindowAtRunTime(node, weights, isPeriodic, *dtype);
    const int64_t size = staticScalar(node, 0);
    if (node.hasFailed()) return;
    if (size < 1 || size > kMaxMadeUp) {
        node.fail(DiagnosticCode::BadModel, "the window has the size " + std::to_string(size));
        return;
    }
    const double period = static_cast<double>(isPeriodic ? size : size - 1);
    std::vector<double> values;
    for (int64_t n = 0; n < size; ++n) {
        double value = 0;
        for (size_t i = 0; i < weights.size(); ++i)
            value += weights[i] *
                     std::cos(2 * kPi * static_cast<double>(i) * static_cast<double>(n) / period);
        values.push_back(value);
    }
    node.outputConstant(0, tensorOf(values, {size}, *dtype));
}

void dftAlong(OnnxNode& node, int64_t axis)
{
    const bool isInverse = node.integer("inverse", 0) != 0;
    const bool isOneSided = node.integer("onesided", 0) != 0;
    const int64_t rank = node.rank(0);
    axis = node.axisOf(axis, rank);
    if (node.hasFailed()) return;
    const Dim extent = node.type(0).shape[static_cast<size_t>(axis)];
    if (axis == rank - 1)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "the last axis holds real and imaginary parts and is not transformed",
                         "axis");
    const Dim length = node.has(1)               ? lengthOf(node, 1)
                       : isInverse && isOneSided ? Dim(2) * (extent - Dim(1))
                                                 : extent;
    if (node.hasFailed()) return;
    Formula f(node);
    std::vector<int64_t> axes = counted(0, rank);
    axes.erase(axes.begin() + axis);
    axes.insert(axes.end() - 1, axis);
    std::vector<int64_t> back(axes.size());
    for (size_t i = 0; i < axes.size(); ++i)
        back[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
    const ValueRef x = f.transpose(node.input(0), axes);
    Fourier fourier(node, length,
                    isInverse ? Fourier::Direction::Inverse : Fourier::Direction::Forward,
                    isOneSided);
    node.output(0, f.transpose(fourier.transform(x), back));
}

/// False and a failure when the input of a transform does not end in its parts.
bool hasParts(OnnxNode& node)
{
    const Shape shape = node.type(0).shape;
    if (node.hasFailed()) return false;
    if (shape.size() >= 2 && (shape.back() == Dim(1) || shape.back() == Dim(2))) return true;
    node.fail(DiagnosticCode::ShapeMismatch,
              "the shape " + shapeText(shape) +
                  " must end in 1 (real) or 2 (complex), after the axis transformed");
    return false;
}

} // namespace

void convertHannWindow(OnnxNode& node) { cosineWindow(node, {0.5, -0.5}); }

void convertHammingWindow(OnnxNode& node) { cosineWindow(node, {25.0 / 46, -21.0 / 46}); }

void convertBlackmanWindow(OnnxNode& node) { cosineWindow(node, {0.42, -0.5, 0.08}); }

void convertDft17(OnnxNode& node)
{
    if (hasParts(node)) dftAlong(node, node.integer("axis", 1));
}

void convertDft(OnnxNode& node)
{
    if (!hasParts(node)) return;
    if (node.isRuntime(2)) return dftAlongRunTimeAxis(node, 2);
    dftAlong(node, node.has(2) ? staticScalar(node, 2) : -2);
}

void convertStft(OnnxNode& node)
{
    if (!hasParts(node)) return;
    const bool isOneSided = node.integer("onesided", 1) != 0;
    if (node.rank(0) != 3 || (node.has(2) && node.rank(2) != 1))
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "the signal " + shapeText(node.type(0).shape) +
                             " must have three dimensions, a window one");
    const bool isKnown = constantShape(node.type(0).shape) && node.constant(1) &&
                         (!node.has(2) || constantShape(node.type(2).shape)) &&
                         (!node.has(3) || node.constant(3));
    if (!isKnown) return stftAtRunTime(node, isOneSided);
    const std::vector<int64_t> shape = node.shape(0);
    const int64_t step = staticScalar(node, 1);
    int64_t length = shape[1];
    if (node.has(2)) length = elementCount(node.shape(2));
    if (node.has(3)) length = staticScalar(node, 3);
    if (node.hasFailed()) return;
    if (step < 1 || length < 1 || length > shape[1])
        return node.fail(DiagnosticCode::BadModel,
                         "frames of " + std::to_string(length) + " every " + std::to_string(step) +
                             " samples cannot be taken from (" + join(shape, ", ") + ")");
    Formula f(node);
    const int64_t frames = (shape[1] - length) / step + 1;
    // [batch, parts, samples] -> [batch, parts, frames, length] -> [batch, frames, length, parts]
    ValueRef x = f.call("sliding_window", {f.transpose(node.input(0), {0, 2, 1})},
                        {{"axis", int64_t{2}},
                         {"window_shape", std::vector<int64_t>{length}},
                         {"strides", std::vector<int64_t>{step}},
                         {"dilation", std::vector<int64_t>{1}}});
    x = f.transpose(x, {0, 2, 3, 1});
    if (node.has(2)) {
        ValueRef window = node.input(2);
        const int64_t given = elementCount(node.shape(2));
        if (given > length) {
            node.fail(DiagnosticCode::ShapeMismatch,
                      "the window of " + std::to_string(given) + " samples is longer than a frame");
            return;
        }
        const int64_t before = (length - given) / 2;
        window = f.pad(window, {before, length - given - before}, 0);
        x = f.multiply(x, f.reshape(window, {1, 1, length, 1}));
    }
    CHECK(node.hasFailed() || f.shape(x)[1] == frames);
    node.output(0, Fourier(node, length, Fourier::Direction::Forward, isOneSided).transform(x));
}

void convertMelWeightMatrix(OnnxNode& node)
{
    const auto dtype = outputType(node);
    if (node.hasFailed()) return;
    for (size_t input = 0; input < 5; ++input)
        if (node.isRuntime(input) || (node.has(input) && !node.constant(input)))
            return melWeightMatrixAtRunTime(node, *dtype);
    const int64_t bands = staticScalar(node, 0);
    const int64_t length = staticScalar(node, 1);
    const int64_t rate = staticScalar(node, 2);
    const std::vector<double> low = node.staticNumbers(3), high = node.staticNumbers(4);
    if (node.hasFailed()) return;
    if (bands < 1 || bands > 65536 || length < 1 || length > (1 << 20) || rate < 1 ||
        limitedCount({bands, length}) > kMaxMadeUp || low.size() != 1 || high.size() != 1 ||
        !(low[0] >= 0) || !(high[0] > low[0])) {
        node.fail(DiagnosticCode::BadModel, "the bands and edges make no mel scale");
        return;
    }
    const int64_t lines = length / 2 + 1;
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double step = (mel(high[0]) - mel(low[0])) / static_cast<double>(bands + 2);
    std::vector<int64_t> edges;
    for (int64_t i = 0; i < bands + 2; ++i) {
        const double hertz =
            700 * (std::pow(10, (static_cast<double>(i) * step + mel(low[0])) / 2595) - 1);
        edges.push_back(std::min<int64_t>(static_cast<int64_t>(static_cast<double>(length + 1) *
                                                               hertz / static_cast<double>(rate)),
                                          lines - 1));
    }
    std::vector<double> weights(static_cast<size_t>(lines * bands), 0);
    for (int64_t band = 0; band < bands; ++band) {
        const auto at = static_cast<size_t>(band);
        const int64_t left = edges[at], centre = edges[at + 1], right = edges[at + 2];
        const auto weight = [&](int64_t line) -> double& {
            return weights[static_cast<size_t>(line * bands + band)];
        };
        if (left == centre) weight(centre) = 1;
        for (int64_t j = left; j <= centre && centre > left; ++j)
            weight(j) = static_cast<double>(j - left) / static_cast<double>(centre - left);
        for (int64_t j = centre; j < right; ++j)
            weight(j) = static_cast<double>(right - j) / static_cast<double>(right - centre);
    }
    node.outputConstant(0, tensorOf(weights, {lines, bands}, *dtype));
}

} // namespace tenon::compiler
