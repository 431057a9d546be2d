// SPDX-License-Identifier: Apache-2.0
// SignalWindow, SignalFftAutoScale, SignalRfft and SignalIrfft: from samples to their spectrum and
// back, in fixed point of 15 or 31 bits, or of floats.
#include "compiler/frontend/import/fourier.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/fixed_transform.h"
#include "compiler/frontend/tflite/converters/signal.h"

namespace tenon::compiler {
namespace {

constexpr int64_t kLongest = 1 << 16;

/// True for an input of int16; fails for another.
bool isOfSamples(TfliteNode& node, size_t input)
{
    if (node.hasFailed()) return false;
    if (node.type(input).dtype == kInt16) return true;
    node.fail(DiagnosticCode::UnsupportedDtype, "takes int16 but got " + node.type(input).text());
    return false;
}

/// What a transform takes, as rows.
struct Rows
{
    std::vector<int64_t> shape; ///< of the input
    int64_t batch = 1;
    int64_t length = 0; ///< of the transform
    DataType dtype;
};

/// Rows of at most `length` + `more` elements; fails for others.
Rows transformedRows(TfliteNode& node, int64_t more)
{
    Rows rows;
    rows.length = wholeOption(node, "fft_length", 8, kLongest);
    if (node.hasFailed()) return rows;
    rows.shape = node.shape(0);
    rows.dtype = node.type(0).dtype;
    if (node.hasFailed()) return rows;
    if (rows.dtype != kInt16 && rows.dtype != kInt32 && rows.dtype != kFloat32) {
        node.fail(DiagnosticCode::UnsupportedDtype,
                  "takes int16, int32 or float32 but got " + node.type(0).text());
        return rows;
    }
    const bool isPower = (rows.length & (rows.length - 1)) == 0;
    const bool isFit =
        isPower && !rows.shape.empty() && limitedCount(rows.shape) <= kMaxMadeUp &&
        (more == 0 ? rows.shape.back() <= rows.length : rows.shape.back() == rows.length + more);
    if (!isFit)
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "a transform of length " + std::to_string(rows.length) + " of " +
                      node.type(0).text() + " is not supported; powers of two are");
    for (size_t i = 0; isFit && i + 1 < rows.shape.size(); ++i) rows.batch *= rows.shape[i];
    return rows;
}

/// The result, whose rows have `width` elements.
void outputRows(TfliteNode& node, Rows rows, ValueRef value, int64_t width)
{
    if (node.hasFailed()) return;
    rows.shape.back() = width;
    node.output(0, Formula(node).reshape(value, rows.shape));
}

} // namespace

void convertSignalWindow(TfliteNode& node)
{
    const int64_t shift = wholeOption(node, "shift", 0, 31);
    if (!isOfSamples(node, 0) || !isOfSamples(node, 1)) return;
    Formula f(node);
    ValueRef value = f.multiply(f.cast(node.input(0), kInt32), f.cast(node.input(1), kInt32));
    if (shift > 0) value = f.call("right_shift", {value, f.integers({shift}, {}, kInt32)});
    value = f.call("maximum", {value, f.integers({-32768}, {}, kInt32)});
    value = f.call("minimum", {value, f.integers({32767}, {}, kInt32)});
    node.output(0, f.cast(value, kInt16));
}

void convertSignalFftAutoScale(TfliteNode& node)
{
    if (!isOfSamples(node, 0)) return;
    WholeFormula f(node);
    const ValueRef samples = f.cast(node.input(0), kInt32);
    const ValueRef most =
        f.reduce("max", f.apply("abs", samples), counted(0, f.rank(samples)), Formula::Keep::No);
    // One more bit to move by for each power of two that the largest sample does not reach.
    std::vector<int64_t> powers;
    for (int bit = 0; bit < 15; ++bit) powers.push_back(int64_t{1} << bit);
    const ValueRef free =
        f.cast(f.call("less", {f.expand(most, 0), f.integers(powers, {15}, kInt32)}), kInt32);
    const ValueRef bits = f.reduce("sum", free, {0}, Formula::Keep::No);
    node.output(0, f.cast(f.shiftLeft(samples, bits), kInt16));
    if (node.outputCount() > 1) node.output(1, bits);
}

void convertSignalRfft(TfliteNode& node)
{
    const Rows rows = transformedRows(node, 0);
    if (node.hasFailed()) return;
    Formula f(node);
    ValueRef x = f.reshape(node.input(0), {rows.batch, rows.shape.back()});
    x = f.pad(x, {0, 0, 0, rows.length - rows.shape.back()}, 0);
    if (rows.dtype == kFloat32)
        x = Fourier(node, rows.length, Fourier::Direction::Forward, true).transform(f.expand(x, 2));
    else
        x = FixedTransform(node, rows.length, rows.dtype, FixedTransform::Direction::Forward)
                .spectrum(x);
    outputRows(node, rows, x, rows.length + 2);
}

void convertSignalIrfft(TfliteNode& node)
{
    const Rows rows = transformedRows(node, 2);
    if (node.hasFailed()) return;
    Formula f(node);
    ValueRef x = f.reshape(node.input(0), {rows.batch, rows.length / 2 + 1, 2});
    if (rows.dtype == kFloat32)
        x = Fourier(node, rows.length, Fourier::Direction::Inverse, true).transform(x);
    else
        x = FixedTransform(node, rows.length, rows.dtype, FixedTransform::Direction::Inverse)
                .samples(x);
    outputRows(node, rows, x, rows.length);
}

} // namespace tenon::compiler
