// SPDX-License-Identifier: Apache-2.0
// Interpolation as sums of gathered pixels times weights, axis after axis.
#include "compiler/frontend/import/sampling.h"

#include "compiler/frontend/import/sized.h"
#include "core/tensor/dim_bounds.h"

#include <numeric>

namespace tenon::compiler {

Sampling::Sampling(NodeImport& node, ValueRef pictures)
    : m_node(node)
    , f(node)
{
    if (node.hasFailed()) return;
    const Shape shape = node.typeOf(pictures).shape;
    m_extents.assign(shape.begin() + 2, shape.end());
    std::vector<int64_t> axes = counted(0, static_cast<int64_t>(shape.size()));
    axes.erase(axes.begin() + 1);
    axes.push_back(1);
    m_rows =
        reshapedTo(node, f.transpose(pictures, axes), {shape[0] * product(m_extents), shape[1]});
}

ValueRef Sampling::weighted(ValueRef a, ValueRef b)
{
    if (!a.node.isValid()) return b;
    return b.node.isValid() ? f.multiply(a, b) : a;
}

/// Limited to the axis; what is not a number becomes 0.
ValueRef Sampling::inside(size_t axis, ValueRef position)
{
    const ValueRef zero = f.number(0, position);
    const ValueRef low = f.where(f.call("greater_equal", {position, zero}), position, zero);
    return f.call("minimum", {low, sizeLike(m_node, m_extents[axis] - Dim(1), position)});
}

/// Mirrored at both ends until it is inside.
ValueRef Sampling::reflected(size_t axis, ValueRef position)
{
    const double low = m_reflectsAtCentres ? 0 : -0.5;
    const Dim range = m_extents[axis] - Dim(m_reflectsAtCentres ? 1 : 0);
    // Where only the run knows that it is 0, the remainder is no number, which becomes pixel 0.
    if (range == Dim(0)) return f.multiply(position, 0);
    ValueRef distance = f.apply("abs", f.subtract(position, low));
    const ValueRef period = sizeLike(m_node, range * Dim(2), distance);
    distance = f.call("mod", {distance, period});
    const ValueRef back = f.subtract(period, distance);
    return f.add(f.call("minimum", {distance, back}), low);
}

Sampling::Tap Sampling::tap(size_t axis, ValueRef pixel, ValueRef weight, Outside outside)
{
    if (outside == Outside::Reflection) pixel = reflected(axis, pixel);
    const ValueRef limited = inside(axis, pixel);
    if (outside == Outside::Zeros) {
        const ValueRef isInside = f.call("equal", {limited, pixel});
        weight = weighted(weight, f.cast(isInside, f.dtype(pixel)));
    }
    return {f.cast(f.apply("round", limited), kInt64), weight};
}

/// Convolution weights of Keys with a = -0.75 for the pixels -1, 0, 1, 2 from the one before.
ValueRef Sampling::cubicWeight(int64_t tap, ValueRef fraction)
{
    constexpr double a = -0.75;
    const bool isNear = tap == 0 || tap == 1;
    const ValueRef x = tap < 0 ? f.add(fraction, 1)
                       : tap == 0
                           ? fraction
                           : f.subtract(f.number(static_cast<double>(tap), fraction), fraction);
    const auto horner = [&](std::initializer_list<double> coefficients) {
        ValueRef out;
        for (const double c : coefficients)
            out = out.node.isValid() ? f.add(f.multiply(out, x), c) : f.number(c, x);
        return out;
    };
    return isNear ? horner({a + 2, -(a + 3), 0, 1}) : horner({a, -5 * a, 8 * a, -4 * a});
}

std::vector<Sampling::Tap> Sampling::taps(size_t axis, ValueRef position, SampleMode mode,
                                          Outside outside)
{
    if (mode == SampleMode::Nearest) position = f.apply("round", position);
    // A cubic curve beyond the border still bends: its pixels are limited, not where it is read.
    if (outside == Outside::Border && mode != SampleMode::Cubic) position = inside(axis, position);
    if (outside == Outside::Reflection) position = reflected(axis, position);
    if (mode == SampleMode::Nearest) return {tap(axis, position, {}, outside)};
    const ValueRef before = f.apply("floor", position);
    const ValueRef fraction = f.subtract(position, before);
    if (mode == SampleMode::Linear)
        return {tap(axis, before, f.subtract(f.number(1, fraction), fraction), outside),
                tap(axis, f.add(before, 1), fraction, outside)};
    std::vector<Tap> out;
    for (int64_t i = -1; i <= 2; ++i)
        out.push_back(
            tap(axis, f.add(before, static_cast<double>(i)), cubicWeight(i, fraction), outside));
    return out;
}

std::vector<ValueRef> Sampling::terms(ValueRef picture, const std::vector<ValueRef>& positions,
                                      SampleMode mode, Outside outside)
{
    if (m_node.hasFailed()) return {};
    std::vector<Tap> all{
        {f.call("multiply", {picture, sizeLike(m_node, product(m_extents), picture)}), {}}};
    for (size_t axis = 0; axis < m_extents.size(); ++axis) {
        const Shape inner(m_extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                          m_extents.end());
        const ValueRef stride = sizeLike(m_node, product(inner), picture);
        std::vector<Tap> next;
        for (const Tap& own : taps(axis, positions[axis], mode, outside))
            for (const Tap& soFar : all)
                next.push_back({f.add(soFar.index, f.call("multiply", {own.index, stride})),
                                weighted(soFar.weight, own.weight)});
        all = std::move(next);
    }
    std::vector<ValueRef> out;
    for (const Tap& point : all) {
        const ValueRef pixels = f.take(m_rows, point.index, 0);
        out.push_back(point.weight.node.isValid()
                          ? f.multiply(pixels, f.expand(f.cast(point.weight, f.dtype(pixels)), 2))
                          : pixels);
    }
    return out;
}

ValueRef Sampling::sum(const std::vector<ValueRef>& terms)
{
    if (terms.empty()) return {};
    return std::accumulate(terms.begin() + 1, terms.end(), terms[0],
                           [&](ValueRef a, ValueRef b) { return f.add(a, b); });
}

} // namespace tenon::compiler
