// SPDX-License-Identifier: Apache-2.0
// The steps of a Fourier transform in fixed point.
#include "compiler/frontend/tflite/converters/fixed_transform.h"

#include <cmath>
#include <numbers>

namespace tenon::compiler {

FixedTransform::FixedTransform(NodeImport& node, int64_t length, DataType dtype,
                               Direction direction)
    : f(node)
    , m_half(length / 2)
    , m_narrow(dtype)
    , m_wide(dtype == kInt16 ? kInt32 : kInt64)
    , m_bits(dtype == kInt16 ? 15 : 31)
    , m_sign(direction == Direction::Forward ? -1 : 1)
{
    int64_t rest = m_half;
    while (rest > 1) {
        m_radices.push_back(rest % 4 == 0 ? 4 : 2);
        rest /= m_radices.back();
    }
}

ValueRef FixedTransform::spectrum(ValueRef samples)
{
    m_batch = f.shape(samples)[0];
    samples = f.cast(samples, m_wide);
    return ofReal(transformed({f.every(samples, 1, 0, 2), f.every(samples, 1, 1, 2)}));
}

ValueRef FixedTransform::samples(ValueRef spectrum)
{
    const int64_t middle = m_half / 2;
    m_batch = f.shape(spectrum)[0];
    spectrum = f.cast(spectrum, m_wide);
    const Complex all{f.squeeze(f.slice(spectrum, 2, 0, 1), {2}),
                      f.squeeze(f.slice(spectrum, 2, 1, 2), {2})};
    const Complex first = part(all, 1, 0, 1), last = part(all, 1, m_half, m_half + 1);
    const Complex ends =
        share(wrapped({f.add(first.re, last.re), f.subtract(first.re, last.re)}), 2);
    const auto [even, odd] = halves(part(all, 1, 1, middle + 1), part(all, 1, middle, m_half));
    // The middle bin is its own mirror: that of the second half stays.
    const Complex front = part(sum(even, odd), 1, 0, middle - 1);
    const Complex back = reversed(conjugate(difference(even, odd)));
    const Complex z = transformed(wrapped(
        {f.concat({ends.re, front.re, back.re}, 1), f.concat({ends.im, front.im, back.im}, 1)}));
    const ValueRef pairs = f.concat({f.expand(z.re, 2), f.expand(z.im, 2)}, 2);
    return f.cast(f.reshape(pairs, {m_batch, 2 * m_half}), m_narrow);
}

/// The sample that each place of the transform begins with: digits in reverse.
std::vector<int64_t> FixedTransform::order() const
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

FixedTransform::Complex FixedTransform::transformed(Complex z)
{
    const ValueRef places = f.integers(order(), {m_half});
    z = {f.take(z.re, places, 1), f.take(z.im, places, 1)};
    int64_t length = 1;
    for (size_t i = m_radices.size(); i-- > 0;) {
        z = m_radices[i] == 4 ? byFour(z, length) : byTwo(z, length);
        length *= m_radices[i];
    }
    return z;
}

FixedTransform::Complex FixedTransform::byTwo(const Complex& z, int64_t length)
{
    const auto leg = legs(z, 2, length);
    return joined({sum(leg[0], leg[1]), difference(leg[0], leg[1])});
}

FixedTransform::Complex FixedTransform::byFour(const Complex& z, int64_t length)
{
    const auto leg = legs(z, 4, length);
    const Complex even = sum(leg[0], leg[2]), odd = sum(leg[1], leg[3]);
    const Complex evenRest = difference(leg[0], leg[2]), oddRest = difference(leg[1], leg[3]);
    const Complex swapped{oddRest.im, f.apply("negative", oddRest.re)};
    const Complex second = sum(evenRest, swapped), fourth = difference(evenRest, swapped);
    const bool isForward = m_sign < 0;
    return joined({sum(even, odd), isForward ? second : fourth, difference(even, odd),
                   isForward ? fourth : second});
}

/// The first part of `radix` transforms of `length` each as it is, the others turned.
std::vector<FixedTransform::Complex> FixedTransform::legs(const Complex& z, int64_t radix,
                                                          int64_t length)
{
    const int64_t groups = m_half / (radix * length);
    const Complex all = share(reshaped(z, {m_batch, groups, radix, length}), radix);
    std::vector<double> phases;
    for (int64_t leg = 1; leg < radix; ++leg)
        for (int64_t i = 0; i < length; ++i)
            phases.push_back(m_sign * 2 * std::numbers::pi * static_cast<double>(leg * i * groups) /
                             static_cast<double>(m_half));
    const Complex others = turned(part(all, 2, 1, radix), phases, {radix - 1, length});
    std::vector<Complex> out{part(all, 2, 0, 1)};
    for (int64_t leg = 1; leg < radix; ++leg) out.push_back(part(others, 2, leg - 1, leg));
    return out;
}

/// [batch, half] of parts [batch, groups, 1, length].
FixedTransform::Complex FixedTransform::joined(const std::vector<Complex>& parts)
{
    std::vector<ValueRef> re, im;
    for (const Complex& z : parts) {
        re.push_back(z.re);
        im.push_back(z.im);
    }
    return reshaped(wrapped({f.concat(re, 2), f.concat(im, 2)}), {m_batch, m_half});
}

std::pair<FixedTransform::Complex, FixedTransform::Complex>
FixedTransform::halves(const Complex& low, const Complex& high)
{
    const Complex a = share(low, 2), b = share(wrapped(conjugate(reversed(high))), 2);
    std::vector<double> phases;
    const int64_t middle = m_half / 2;
    for (int64_t i = 1; i <= middle; ++i)
        phases.push_back(m_sign * std::numbers::pi *
                         (static_cast<double>(i) / static_cast<double>(m_half) + 0.5));
    return {wrapped(sum(a, b)), turned(wrapped(difference(a, b)), phases, {middle})};
}

/// The spectrum of real samples from that of their pairs taken as complex numbers.
ValueRef FixedTransform::ofReal(const Complex& z)
{
    const int64_t middle = m_half / 2;
    const Complex first = share(part(z, 1, 0, 1), 2);
    const auto [even, odd] = halves(part(z, 1, 1, middle + 1), part(z, 1, middle, m_half));
    const Complex front = part(sum(even, odd), 1, 0, middle - 1);
    const Complex back = reversed(conjugate(difference(even, odd)));
    const ValueRef zero = f.multiply(first.re, 0.0);
    const ValueRef re = f.concat({wrapped(f.add(first.re, first.im)), shifted(front.re, 1),
                                  shifted(back.re, 1), f.subtract(first.re, first.im)},
                                 1);
    const ValueRef im = f.concat({zero, shifted(front.im, 1), shifted(back.im, 1), zero}, 1);
    return f.cast(f.concat({f.expand(re, 2), f.expand(im, 2)}, 2), m_narrow);
}

ValueRef FixedTransform::constants(const std::vector<int64_t>& values, const Formula::Axes& shape)
{
    return f.integers(values, shape, m_wide);
}

ValueRef FixedTransform::wrapped(ValueRef value) { return f.cast(f.cast(value, m_narrow), m_wide); }

ValueRef FixedTransform::shifted(ValueRef value, int64_t bits)
{
    return f.call("right_shift", {value, constants({bits}, {})});
}

/// A product of numbers in fixed point, halves up.
ValueRef FixedTransform::rounded(ValueRef product)
{
    return shifted(f.add(product, constants({int64_t{1} << (m_bits - 1)}, {})), m_bits);
}

ValueRef FixedTransform::share(ValueRef value, int64_t of)
{
    const int64_t most = (int64_t{1} << m_bits) - 1;
    return rounded(f.multiply(value, constants({most / of}, {})));
}

FixedTransform::Complex FixedTransform::wrapped(const Complex& z)
{
    return {wrapped(z.re), wrapped(z.im)};
}

FixedTransform::Complex FixedTransform::share(const Complex& z, int64_t of)
{
    return {share(z.re, of), share(z.im, of)};
}

FixedTransform::Complex FixedTransform::sum(const Complex& a, const Complex& b)
{
    return {f.add(a.re, b.re), f.add(a.im, b.im)};
}

FixedTransform::Complex FixedTransform::difference(const Complex& a, const Complex& b)
{
    return {f.subtract(a.re, b.re), f.subtract(a.im, b.im)};
}

/// z times e^(i phase) of each phase.
FixedTransform::Complex FixedTransform::turned(const Complex& z, const std::vector<double>& phases,
                                               const Formula::Axes& shape)
{
    const auto most = static_cast<double>((int64_t{1} << m_bits) - 1);
    const auto fixed = [&](double value) {
        return static_cast<int64_t>(std::floor(0.5 + most * value));
    };
    std::vector<int64_t> cosines, sines;
    for (const double phase : phases) {
        cosines.push_back(fixed(std::cos(phase)));
        sines.push_back(fixed(std::sin(phase)));
    }
    const ValueRef c = constants(cosines, shape), s = constants(sines, shape);
    return wrapped({rounded(f.subtract(f.multiply(z.re, c), f.multiply(z.im, s))),
                    rounded(f.add(f.multiply(z.re, s), f.multiply(z.im, c)))});
}

FixedTransform::Complex FixedTransform::part(const Complex& z, int64_t axis, int64_t begin,
                                             int64_t end)
{
    return {f.slice(z.re, axis, begin, end), f.slice(z.im, axis, begin, end)};
}

FixedTransform::Complex FixedTransform::reversed(const Complex& z)
{
    return {f.reversed(z.re, 1), f.reversed(z.im, 1)};
}

FixedTransform::Complex FixedTransform::reshaped(const Complex& z, const Formula::Axes& shape)
{
    return {f.reshape(z.re, shape), f.reshape(z.im, shape)};
}

FixedTransform::Complex FixedTransform::conjugate(const Complex& z)
{
    return {z.re, f.apply("negative", z.im)};
}

} // namespace tenon::compiler
