// SPDX-License-Identifier: Apache-2.0
// The transforms of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks"
// (arXiv 1509.09308): interpolation at 0, 1, (-1, (2, -2, (1/2, -1/2,))) infinity.
#include "compiler/ops/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace tenon::compiler {
namespace {

using tir::Expr;

Expr number(double value, const Expr& like) { return tir::floatImm(value, like->dtype); }
Expr times(double factor, const Expr& x) { return number(factor, x) * x; }
/// factor * x + addend, rounded once where the processor can.
Expr plus(double factor, const Expr& x, const Expr& addend)
{
    return tir::call(tir::Intrinsic::Fma, x->dtype, {number(factor, x), x, addend});
}

/// factor * x; x itself where that is the same.
Expr scaledBy(double factor, const Expr& x) { return factor == 1 ? x : times(factor, x); }

/// p of the pairs of points p and -p.
std::vector<double> pairsOf(const WinogradAxis& axis)
{
    constexpr std::array<double, 3> kPairs{1, 2, 0.5};
    const int64_t pairs = std::max<int64_t>(0, axis.points() - 2) / 2;
    return {kPairs.begin(), kPairs.begin() + pairs};
}

/// True where the data's transform gives the last point, infinity, with the other sign.
bool isNegativeAtInfinity(const WinogradAxis& axis) { return axis.points() == 4; }

/// The filter's polynomial at infinity and 0 is one element; at p and -p it is even + odd and
/// even - odd.
struct EvenOdd
{
    Expr even, odd;
};

EvenOdd filterAt(double p, int64_t taps, const LineFn& line)
{
    EvenOdd out;
    for (int64_t k = 0; k < taps; ++k) {
        const Expr term = scaledBy(std::pow(p, k), line(k));
        Expr& part = k % 2 == 0 ? out.even : out.odd;
        part = part.get() ? part + term : term;
    }
    return out;
}

/// Of the data of 8 points: the polynomial that is 1 at p, of x^2 - q^2 for the other pairs.
EvenOdd dataAt(double p, const std::vector<double>& pairs, const LineFn& line)
{
    double sum = 0, product = 1;
    for (const double q : pairs) {
        if (q == p) continue;
        sum += q * q;
        product *= q * q;
    }
    const double square = p * p;
    const double factor = 1 / (2 * square * (square * square - sum * square + product));
    const auto part = [&](int64_t first, double scale) {
        return times(scale,
                     plus(product, line(first), plus(-sum, line(first + 2), line(first + 4))));
    };
    return {part(2, factor), part(1, factor * p)};
}

/// Of the data of 8 points: the product of x^2 - q^2 of all pairs, from element `first`.
Expr dataOfAll(const LineFn& line, int64_t first)
{
    return plus(-5.25, line(first + 4), plus(5.25, line(first + 2), line(first + 6) - line(first)));
}

Exprs dataOfEight(const WinogradAxis& axis, const LineFn& line)
{
    const std::vector<double> pairs = pairsOf(axis);
    Exprs out{scaledBy(-1, dataOfAll(line, 0))};
    for (const double p : pairs) {
        const EvenOdd at = dataAt(p, pairs, line);
        out.insert(out.end(), {at.even + at.odd, at.even - at.odd});
    }
    out.push_back(dataOfAll(line, 1));
    return out;
}

/// Of F(2, 2) at 0, 1 and infinity, which have no opposite points.
constexpr int64_t kFewestPoints = 3;

} // namespace

Expr choose(const Expr& e, const Exprs& values)
{
    Expr out = values.back();
    for (size_t i = values.size() - 1; i-- > 0;)
        out = tir::call(tir::Intrinsic::IfThenElse, out->dtype,
                        {equal(e, Expr(static_cast<int64_t>(i))), values[i], out});
    return out;
}

bool isWinogradAxis(const WinogradAxis& axis)
{
    const int64_t points = axis.points();
    const bool isPlain = axis.tile == 1 && axis.taps == 1;
    const bool isTransformed = points == kFewestPoints || (points % 2 == 0 && points <= 8);
    return isPlain || (axis.tile > 1 && axis.taps > 1 && isTransformed);
}

WinogradAxis winogradAxis(int64_t kernel, int64_t stride, int64_t tile)
{
    return {tile, (kernel + stride - 1) / stride};
}

int64_t winogradProducts(int64_t kernel, int64_t stride, int64_t tile)
{
    const int64_t points = winogradAxis(kernel, stride, tile).points();
    return stride * points - (stride - wholePhasesOf(kernel, stride));
}

Expr winogradFilter(const WinogradAxis& axis, const Expr& e, const LineFn& line)
{
    if (axis.taps == 1) return line(0);
    if (axis.points() == kFewestPoints) return choose(e, {line(0), line(0) + line(1), line(1)});
    Exprs values{line(0)};
    for (const double p : pairsOf(axis)) {
        const EvenOdd at = filterAt(p, axis.taps, line);
        values.insert(values.end(), {at.even + at.odd, at.even - at.odd});
    }
    values.push_back(line(axis.taps - 1));
    return choose(e, values);
}

Expr winogradFilterSum(const WinogradAxis& axis, const Expr& e, const LineFn& line)
{
    const int64_t taps = axis.taps;
    std::vector<double> points{0};
    for (const double p : pairsOf(axis)) points.insert(points.end(), {p, -p});
    const auto factorAt = [&](size_t point, int64_t k) {
        if (point == points.size()) return k + 1 == taps ? 1.0 : 0.0;
        return std::pow(points[point], k); // 1 at 0, where k is 0
    };
    Expr sum;
    for (int64_t k = 0; k < taps; ++k) {
        const Expr element = line(k);
        // Chosen without branches, which would stay in the loop that multiplies.
        const double last = factorAt(points.size(), k);
        Expr factor = number(last, element);
        for (size_t i = points.size(); i-- > 0;)
            if (factorAt(i, k) != last)
                factor = tir::select(equal(e, Expr(static_cast<int64_t>(i))),
                                     number(factorAt(i, k), element), factor);
        sum = sum.get() ? sum + factor * element : factor * element;
    }
    return sum;
}

Expr winogradData(const WinogradAxis& axis, const Expr& e, const LineFn& line)
{
    switch (axis.points()) {
    case 1: return line(0);
    case kFewestPoints: return choose(e, {line(0) - line(1), line(1), line(2) - line(1)});
    case 4:
        return choose(e, {line(0) - line(2), times(0.5, line(1) + line(2)),
                          times(0.5, line(2) - line(1)), line(1) - line(3)});
    case 8: return choose(e, dataOfEight(axis, line));
    default: break;
    }
    // Rows of opposite points share their even and odd parts.
    const Expr even1 = times(-1.0 / 6, plus(-4, line(2), line(4)));
    const Expr odd1 = times(-1.0 / 6, plus(-4, line(1), line(3)));
    const Expr even2 = times(1.0 / 24, line(4) - line(2));
    const Expr odd2 = times(1.0 / 12, line(3) - line(1));
    return choose(e,
                  {plus(0.25, line(4), plus(-1.25, line(2), line(0))), even1 + odd1, even1 - odd1,
                   even2 + odd2, even2 - odd2, plus(4, line(1), plus(-5, line(3), line(5)))});
}

Expr winogradResult(const WinogradAxis& axis, const Expr& e, const LineFn& line)
{
    if (axis.taps == 1) return line(0);
    if (axis.points() == kFewestPoints) return choose(e, {line(0) + line(1), line(1) + line(2)});
    const std::vector<double> pairs = pairsOf(axis);
    const Expr last = line(axis.points() - 1);
    Exprs values;
    for (int64_t j = 0; j < axis.tile; ++j) {
        Expr sum = j == 0 ? line(0) : Expr();
        for (size_t i = 0; i < pairs.size(); ++i) {
            const auto k = static_cast<int64_t>(2 * i + 1);
            const Expr both = j % 2 == 0 ? line(k) + line(k + 1) : line(k) - line(k + 1);
            const double factor = std::pow(pairs[i], j);
            if (!sum.get())
                sum = both;
            else
                sum = factor == 1 ? sum + both : plus(factor, both, sum);
        }
        if (j + 1 == axis.tile) sum = isNegativeAtInfinity(axis) ? sum - last : sum + last;
        values.push_back(sum);
    }
    return choose(e, values);
}

} // namespace tenon::compiler
