// SPDX-License-Identifier: Apache-2.0
// SignalEnergy and the SignalFilterBank.. operators with SignalPCAN: from a spectrum to the
// loudness of its channels, in whole numbers. What they remember starts at zero.
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/signal.h"

#include <cmath>

namespace tenon::compiler {
namespace {

/// The number of elements of an input; 0 after a failure.
int64_t elementCount(TfliteNode& node, size_t input)
{
    const std::vector<int64_t> shape = node.shape(input);
    if (node.hasFailed()) return 0;
    const int64_t count = limitedCount(shape);
    if (count >= 1 && count <= kMaxMadeUp) return count;
    node.fail(DiagnosticCode::UnsupportedFeature, "cannot take " + node.type(input).text());
    return 0;
}

/// A whole number as the file's type of the output.
void outputWhole(TfliteNode& node, size_t output, ValueRef value)
{
    const auto dtype = node.outputType(output);
    if (node.hasFailed() || !dtype) return;
    node.output(output, Formula(node).cast(value, *dtype));
}

/// Terms of each channel of a filter bank: bins of the spectrum and their weights, in turn.
struct FilterBank
{
    std::vector<int64_t> bins, weights, ends;
};

FilterBank filterBank(TfliteNode& node, int64_t binCount)
{
    const std::vector<int64_t> weights = node.staticIntegers(1), rests = node.staticIntegers(2),
                               bins = node.staticIntegers(3), starts = node.staticIntegers(4),
                               widths = node.staticIntegers(5);
    const auto channels = static_cast<size_t>(wholeOption(node, "num_channels", 1, 1 << 16));
    FilterBank out;
    if (node.hasFailed()) return out;
    bool isFit = std::min({bins.size(), starts.size(), widths.size()}) > channels;
    const auto append = [&](const std::vector<int64_t>& from, size_t channel) {
        for (int64_t i = 0; isFit && i < widths[channel]; ++i) {
            const int64_t bin = bins[channel] + i, at = starts[channel] + i;
            isFit = bin >= 0 && bin < binCount && at >= 0 &&
                    at < static_cast<int64_t>(from.size()) &&
                    static_cast<int64_t>(out.bins.size()) < kMaxMadeUp;
            if (!isFit) return;
            out.bins.push_back(bin);
            out.weights.push_back(from[static_cast<size_t>(at)]);
        }
    };
    // A channel has the weights of its own band and what the band before leaves of its bins.
    for (size_t channel = 1; isFit && channel <= channels; ++channel) {
        append(rests, channel - 1);
        append(weights, channel);
        out.ends.push_back(static_cast<int64_t>(out.bins.size()));
    }
    if (!isFit || out.bins.empty())
        node.fail(DiagnosticCode::BadModel, "its bands lie outside of the spectrum or the weights");
    return out;
}

/// The whole square root of numbers below 2^63, and what it leaves. The binary32 root of a number
/// of 63 bits is off by less than 2^9, and by less than one after a step of Newton's.
struct WholeRoot
{
    ValueRef root, rest;
};

WholeRoot wholeRoot(WholeFormula& f, ValueRef value)
{
    const ValueRef guess = f.atLeast(f.wide(f.apply("sqrt", f.cast(value, kFloat32))), 1);
    const ValueRef off = f.cast(f.subtract(value, f.multiply(guess, guess)), kFloat32);
    const ValueRef step = f.divide(off, f.multiply(f.cast(guess, kFloat32), 2.0));
    ValueRef root = f.add(guess, f.wide(f.apply("round", step)));
    root = f.subtract(root, f.holds("greater", f.multiply(root, root), value));
    const ValueRef next = f.add(root, 1.0);
    root = f.add(root, f.holds("less_equal", f.multiply(next, next), value));
    return {root, f.subtract(value, f.multiply(root, root))};
}

/// (log2(1 + i / 128) - i / 128) * 2^16: what a line leaves of the logarithm.
std::vector<int64_t> logarithmTable()
{
    std::vector<int64_t> out;
    for (int i = 0; i <= 128; ++i)
        out.push_back(std::llround((std::log2(1 + i / 128.0) - i / 128.0) * 65536));
    out.push_back(0);
    return out;
}

/// value / 2^(bit - to), where a shift to the left gains zeros.
ValueRef alignedTo(WholeFormula& f, ValueRef value, ValueRef bit, int64_t to)
{
    const ValueRef left = f.atLeast(f.subtract(f.whole(to), bit), 0);
    const ValueRef right = f.atLeast(f.subtract(bit, f.whole(to)), 0);
    return f.shiftRight(f.shiftLeft(value, left), right);
}

/// log2 in steps of 2^-16 of whole numbers from 1 on.
ValueRef binaryLogarithm(WholeFormula& f, ValueRef value)
{
    const ValueRef exponent = f.subtract(f.atLeast(f.highestBit(value), 1), 1.0);
    const ValueRef above = f.subtract(value, f.shiftLeft(f.whole(1), exponent));
    const ValueRef fraction = alignedTo(f, f.atLeast(above, 0), exponent, 16);
    const ValueRef segment = f.shiftRight(fraction, 9);
    const ValueRef table = f.integers(logarithmTable(), {130});
    const ValueRef from = f.take(table, segment, 0);
    const ValueRef to = f.take(table, f.add(segment, 1.0), 0);
    const ValueRef inside = f.subtract(fraction, f.multiply(segment, 512.0));
    const ValueRef more = f.shiftRight(f.multiply(f.subtract(to, from), inside), 16);
    return f.add(f.multiply(exponent, 65536.0), f.add(fraction, f.add(from, more)));
}

} // namespace

void convertSignalEnergy(TfliteNode& node)
{
    const int64_t count = elementCount(node, 0) / 2;
    const int64_t begin = wholeOption(node, "start_index", 0, count);
    const int64_t end = wholeOption(node, "end_index", begin, count);
    if (node.hasFailed()) return;
    WholeFormula f(node);
    const ValueRef parts = f.slice(f.reshape(f.wide(node.input(0)), {count, 2}), 0, begin, end);
    const ValueRef energy = f.reduce("sum", f.multiply(parts, parts), {1}, Formula::Keep::No);
    outputWhole(node, 0, f.pad(energy, {begin, count - end}, 0));
}

void convertSignalFilterBank(TfliteNode& node)
{
    const FilterBank bank = filterBank(node, elementCount(node, 0));
    if (node.hasFailed()) return;
    WholeFormula f(node);
    const auto terms = static_cast<int64_t>(bank.bins.size());
    const ValueRef energy = f.take(f.wide(node.input(0)), f.integers(bank.bins, {terms}), 0);
    ValueRef sums = f.multiply(energy, f.integers(bank.weights, {terms}));
    sums = f.call("cumsum", {sums}, {{"axis", int64_t{0}}});
    // Sums of what stands between the ends of two channels.
    const auto channels = static_cast<int64_t>(bank.ends.size());
    const ValueRef ends = f.take(f.pad(sums, {1, 0}, 0), f.integers(bank.ends, {channels}), 0);
    const ValueRef before = f.pad(f.slice(ends, 0, 0, channels - 1), {1, 0}, 0);
    outputWhole(node, 0, f.subtract(ends, before));
}

void convertSignalFilterBankSquareRoot(TfliteNode& node)
{
    if (elementCount(node, 0) == 0) return;
    WholeFormula f(node);
    const ValueRef value = f.wide(node.input(0));
    const WholeRoot whole = wholeRoot(f, value);
    // To the nearest, except for the largest root of 16 bits of a number of 32.
    const ValueRef isMost = f.both(f.compare("equal", whole.root, 65535.0),
                                   f.compare("less", value, std::ldexp(1.0, 32)));
    const ValueRef isUp =
        f.both(f.call("greater", {whole.rest, whole.root}), f.apply("logical_not", isMost));
    const ValueRef bits = f.wide(f.reshape(node.input(1), {}));
    outputWhole(node, 0, f.shiftRight(f.add(whole.root, f.wide(isUp)), bits));
}

void convertSignalFilterBankSpectralSubtraction(TfliteNode& node)
{
    const int64_t channels = elementCount(node, 0);
    const int64_t most = int64_t{1} << 20;
    const int64_t even = wholeOption(node, "smoothing", 0, most),
                  odd = wholeOption(node, "alternate_smoothing", 0, most),
                  least = wholeOption(node, "min_signal_remaining", 0, most),
                  fine = wholeOption(node, "smoothing_bits", 0, 31),
                  bits = wholeOption(node, "spectral_subtraction_bits", 0, 31),
                  isClamped = wholeOption(node, "clamping", 0, 1);
    if (node.hasFailed()) return;
    node.notes().push_back(makeWarning(
        DiagnosticCode::UnsupportedFeature,
        "the noise estimate starts anew with every run; what TensorFlow Lite Micro keeps "
        "of earlier ones is not read"));
    std::vector<int64_t> smoothing;
    for (int64_t i = 0; i < channels; ++i) smoothing.push_back(i % 2 == 0 ? even : odd);
    WholeFormula f(node);
    const ValueRef input = f.reshape(f.wide(node.input(0)), {channels});
    const ValueRef signal = f.wrapped32(f.shiftRight(input, -fine));
    const ValueRef noise =
        f.wrapped32(f.shiftRight(f.multiply(signal, f.integers(smoothing, {channels})), bits));
    const ValueRef known = f.call("minimum", {noise, signal});
    const ValueRef floor =
        f.wrapped32(f.shiftRight(f.multiply(input, static_cast<double>(least)), bits));
    const ValueRef cleared = f.shiftRight(f.subtract(signal, known), fine);
    outputWhole(node, 0, f.call("maximum", {cleared, floor}));
    if (node.outputCount() > 1) outputWhole(node, 1, isClamped ? known : noise);
}

void convertSignalPcan(TfliteNode& node)
{
    const int64_t shift = wholeOption(node, "snr_shift", 0, 31);
    if (elementCount(node, 0) == 0) return;
    WholeFormula f(node);
    const ValueRef noise = f.wide(node.input(1)), table = f.wide(node.input(2));
    const auto entry = [&](ValueRef at, double more) { return f.take(table, f.add(at, more), 0); };
    // A parabola for each power of two of the noise; the first numbers stand for themselves.
    const ValueRef bit = f.highestBit(noise);
    const ValueRef at = f.atLeast(f.subtract(f.multiply(bit, 4.0), 6.0), 0);
    const ValueRef mantissa = f.call("bitwise_and", {alignedTo(f, noise, bit, 11), f.whole(1023)});
    ValueRef gain = f.shiftRight(f.multiply(entry(at, 2), mantissa), 5);
    gain = f.multiply(f.add(gain, f.multiply(entry(at, 1), 32.0)), mantissa);
    gain = f.add(f.shiftRight(f.add(gain, 16384.0), 15), entry(at, 0));
    gain = f.where(f.compare("less_equal", noise, 2), entry(f.atMost(noise, 2), 0), gain);
    // A gain below zero, which no sound table has, is taken as a large one without a sign.
    gain = f.wrapped32(f.wide(f.cast(gain, kInt16)));
    const ValueRef product = f.multiply(f.wide(node.input(0)), gain);
    const ValueRef ratio = f.wrapped32(f.shiftRight(product, shift));
    // x^2 / 4 below 2 and x - 1 from there on, from 12 bits to 6 behind the point.
    const ValueRef small =
        f.shiftRight(f.multiply(f.atMost(ratio, 8192), f.atMost(ratio, 8192)), 20);
    const ValueRef large = f.subtract(f.shiftRight(ratio, 6), 64.0);
    outputWhole(node, 0, f.where(f.compare("less", ratio, 8192), small, large));
}

void convertSignalFilterBankLog(TfliteNode& node)
{
    const int64_t scale = wholeOption(node, "output_scale", 0, 1 << 20);
    const int64_t correction = wholeOption(node, "input_correction_bits", 0, 31);
    if (elementCount(node, 0) == 0) return;
    constexpr double kLogarithmOf2 = 45426, kHalf = 32768; // in steps of 2^-16
    WholeFormula f(node);
    const ValueRef value = f.wrapped32(f.shiftRight(f.wide(node.input(0)), -correction));
    ValueRef log = f.multiply(binaryLogarithm(f, value), kLogarithmOf2);
    log = f.shiftRight(f.add(log, kHalf), 16);
    log = f.add(f.multiply(log, static_cast<double>(scale)), kHalf);
    log = f.atMost(f.shiftRight(f.wrapped32(log), 16), 32767);
    outputWhole(node, 0, f.where(f.compare("greater", value, 1), log, f.multiply(log, 0.0)));
}

} // namespace tenon::compiler
