// SPDX-License-Identifier: Apache-2.0
// SignalWindow, SignalFftAutoScale and SignalRfft: from samples of 16 bits to their spectrum, in
// fixed point of 15 bits.
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/signal.h"

#include <cmath>
#include <numbers>

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

/// Complex numbers of 16 bits, held in 32: the kernels of a transform by radix 4 and 2, which halve
/// or quarter what they add.
struct Complex
{
    ValueRef re, im;
};

class FixedTransform
{
public:
    /// Of `length` real samples, a power of two.
    FixedTransform(TfliteNode& node, int64_t length)
        : f(node)
        , m_half(length / 2)
    {
        int64_t rest = m_half;
        while (rest > 1) {
            m_radices.push_back(rest % 4 == 0 ? 4 : 2);
            rest /= m_radices.back();
        }
    }

    /// [batch, length] of int32 to [batch, length / 2 + 1, 2] of int16.
    ValueRef spectrum(ValueRef samples)
    {
        m_batch = f.shape(samples)[0];
        Complex z{f.every(samples, 1, 0, 2), f.every(samples, 1, 1, 2)};
        z = {f.take(z.re, f.integers(order(), {m_half}), 1),
             f.take(z.im, f.integers(order(), {m_half}), 1)};
        int64_t length = 1;
        for (size_t i = m_radices.size(); i-- > 0;) {
            z = m_radices[i] == 4 ? byFour(z, length) : byTwo(z, length);
            length *= m_radices[i];
        }
        return ofReal(z);
    }

private:
    /// The sample that each place of the transform begins with: digits in reverse.
    std::vector<int64_t> order() const
    {
        std::vector<int64_t> out{0};
        int64_t stride = m_half;
        for (size_t i = m_radices.size(); i-- > 0;) {
            stride /= m_radices[i];
            std::vector<int64_t> next;
            for (int64_t digit = 0; digit < m_radices[i]; ++digit)
                for (const int64_t at : out) next.push_back(at + digit * stride);
            out = std::move(next);
        }
        return out;
    }

    ValueRef wrapped(ValueRef value) { return f.cast(f.cast(value, kInt16), kInt32); }
    ValueRef constants(const std::vector<int64_t>& values, const Formula::Axes& shape)
    {
        return f.integers(values, shape, kInt32);
    }
    ValueRef shifted(ValueRef value, int64_t bits)
    {
        return f.call("right_shift", {value, constants({bits}, {})});
    }
    /// A product of numbers of 15 bits, halves up.
    ValueRef rounded(ValueRef product) { return shifted(f.add(product, 16384.0), 15); }
    ValueRef share(ValueRef value, int64_t of)
    {
        return rounded(f.multiply(value, static_cast<double>(32767 / of)));
    }
    Complex share(const Complex& z, int64_t of) { return {share(z.re, of), share(z.im, of)}; }
    Complex sum(const Complex& a, const Complex& b)
    {
        return {f.add(a.re, b.re), f.add(a.im, b.im)};
    }
    Complex difference(const Complex& a, const Complex& b)
    {
        return {f.subtract(a.re, b.re), f.subtract(a.im, b.im)};
    }
    Complex wrapped(const Complex& z) { return {wrapped(z.re), wrapped(z.im)}; }

    /// z times e^(i phase) of each phase.
    Complex turned(const Complex& z, const std::vector<double>& phases, const Formula::Axes& shape)
    {
        std::vector<int64_t> cosines, sines;
        for (const double phase : phases) {
            cosines.push_back(static_cast<int64_t>(std::floor(0.5 + 32767 * std::cos(phase))));
            sines.push_back(static_cast<int64_t>(std::floor(0.5 + 32767 * std::sin(phase))));
        }
        const ValueRef c = constants(cosines, shape), s = constants(sines, shape);
        return {rounded(f.subtract(f.multiply(z.re, c), f.multiply(z.im, s))),
                rounded(f.add(f.multiply(z.re, s), f.multiply(z.im, c)))};
    }

    Complex part(const Complex& z, int64_t axis, int64_t begin, int64_t end)
    {
        return {f.slice(z.re, axis, begin, end), f.slice(z.im, axis, begin, end)};
    }
    Complex reversed(const Complex& z) { return {f.reversed(z.re, 1), f.reversed(z.im, 1)}; }
    Complex reshaped(const Complex& z, const Formula::Axes& shape)
    {
        return {f.reshape(z.re, shape), f.reshape(z.im, shape)};
    }
    /// [batch, half] of parts [batch, groups, 1, length].
    Complex joined(const std::vector<Complex>& parts)
    {
        std::vector<ValueRef> re, im;
        for (const Complex& z : parts) {
            re.push_back(z.re);
            im.push_back(z.im);
        }
        return reshaped(wrapped({f.concat(re, 2), f.concat(im, 2)}), {m_batch, m_half});
    }

    /// The first part of `radix` transforms of `length` each as it is, the others turned.
    std::vector<Complex> legs(const Complex& z, int64_t radix, int64_t length)
    {
        const int64_t groups = m_half / (radix * length);
        const Complex all = share(reshaped(z, {m_batch, groups, radix, length}), radix);
        std::vector<double> phases;
        for (int64_t leg = 1; leg < radix; ++leg)
            for (int64_t i = 0; i < length; ++i)
                phases.push_back(-2 * std::numbers::pi * static_cast<double>(leg * i * groups) /
                                 static_cast<double>(m_half));
        const Complex others = turned(part(all, 2, 1, radix), phases, {radix - 1, length});
        std::vector<Complex> out{part(all, 2, 0, 1)};
        for (int64_t leg = 1; leg < radix; ++leg) out.push_back(part(others, 2, leg - 1, leg));
        return out;
    }

    Complex byTwo(const Complex& z, int64_t length)
    {
        const auto leg = legs(z, 2, length);
        return joined({sum(leg[0], leg[1]), difference(leg[0], leg[1])});
    }

    Complex byFour(const Complex& z, int64_t length)
    {
        const auto leg = legs(z, 4, length);
        const Complex even = sum(leg[0], leg[2]), odd = sum(leg[1], leg[3]);
        const Complex evenRest = difference(leg[0], leg[2]), oddRest = difference(leg[1], leg[3]);
        const Complex turnedRest{oddRest.im, f.apply("negative", oddRest.re)};
        return joined({sum(even, odd), sum(evenRest, turnedRest), difference(even, odd),
                       difference(evenRest, turnedRest)});
    }

    /// The spectrum of real samples from that of their pairs taken as complex numbers.
    ValueRef ofReal(const Complex& z)
    {
        const int64_t middle = m_half / 2;
        const Complex first = share(part(z, 1, 0, 1), 2);
        const Complex low = share(part(z, 1, 1, middle + 1), 2);
        Complex high = reversed(part(z, 1, middle, m_half));
        high.im = wrapped(f.apply("negative", high.im));
        high = share(high, 2);
        std::vector<double> phases;
        for (int64_t i = 1; i <= middle; ++i)
            phases.push_back(-std::numbers::pi *
                             (static_cast<double>(i) / static_cast<double>(m_half) + 0.5));
        const Complex even = wrapped(sum(low, high));
        const Complex odd = turned(wrapped(difference(low, high)), phases, {middle});
        const Complex front = part(sum(even, odd), 1, 0, middle - 1);
        const Complex back = reversed({f.subtract(even.re, odd.re), f.subtract(odd.im, even.im)});
        const ValueRef zero = f.multiply(first.re, 0.0);
        const ValueRef re = f.concat({wrapped(f.add(first.re, first.im)), shifted(front.re, 1),
                                      shifted(back.re, 1), f.subtract(first.re, first.im)},
                                     1);
        const ValueRef im = f.concat({zero, shifted(front.im, 1), shifted(back.im, 1), zero}, 1);
        return f.cast(f.concat({f.expand(re, 2), f.expand(im, 2)}, 2), kInt16);
    }

    Formula f;
    int64_t m_half, m_batch = 1;
    std::vector<int64_t> m_radices; ///< from the outermost on
};

} // namespace

void convertSignalWindow(TfliteNode& node)
{
    const int64_t shift = signalOption(node, "shift", 0, 31);
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
    const int64_t length = signalOption(node, "fft_length", 8, kLongest);
    if (!isOfSamples(node, 0)) return;
    std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    const bool isFit = (length & (length - 1)) == 0 && !shape.empty() && shape.back() <= length &&
                       limitedCount(shape) <= kMaxMadeUp;
    if (!isFit) {
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "a transform of length " + std::to_string(length) + " of " + node.type(0).text() +
                      " is not supported; powers of two are");
        return;
    }
    int64_t batch = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) batch *= shape[i];
    Formula f(node);
    ValueRef samples = f.reshape(f.cast(node.input(0), kInt32), {batch, shape.back()});
    samples = f.pad(samples, {0, 0, 0, length - shape.back()}, 0);
    const ValueRef spectrum = FixedTransform(node, length).spectrum(samples);
    if (node.hasFailed()) return;
    shape.back() = length + 2;
    node.output(0, f.reshape(spectrum, shape));
}

} // namespace tenon::compiler
