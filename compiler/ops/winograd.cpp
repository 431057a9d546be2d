// SPDX-License-Identifier: Apache-2.0
// The transforms of Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks"
// (arXiv 1509.09308): interpolation at 0, 1, -1, (2, -2,) infinity.
#include "compiler/ops/winograd.h"

#include <array>
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

/// The value of index `e`; lazily, so that an unrolled loop computes one of them.
Expr choose(const Expr& e, const Exprs& values)
{
    Expr out = values.back();
    for (size_t i = values.size() - 1; i-- > 0;)
        out = tir::call(tir::Intrinsic::IfThenElse, out->dtype,
                        {equal(e, Expr(static_cast<int64_t>(i))), values[i], out});
    return out;
}

Expr scaled(int64_t factor, const Expr& x) { return tir::intImm(factor, x->dtype) * x; }

} // namespace

bool isWinogradTile(int64_t m) { return m == 2 || m == 4; }

int64_t winogradIntegerFilter(int64_t e, const std::array<int64_t, 3>& line)
{
    const auto [a, b, c] = line;
    const std::array<int64_t, 6> points{
        6 * a, -4 * (a + b + c), -4 * (a - b + c), a + 2 * b + 4 * c, a - 2 * b + 4 * c, 12 * c};
    return points.at(static_cast<size_t>(e));
}

Expr winogradIntegerData(const Expr& e, const LineFn& line)
{
    const Expr even1 = line(4) - scaled(4, line(2)), odd1 = line(3) - scaled(4, line(1));
    const Expr even2 = line(4) - line(2), half2 = line(3) - line(1);
    const Expr odd2 = scaled(2, half2);
    return choose(e, {scaled(4, line(0) - line(2)) + even2, even1 + odd1, even1 - odd1,
                      even2 + odd2, even2 - odd2, line(5) - line(3) - scaled(4, half2)});
}

Expr winogradIntegerResult(const Expr& e, const LineFn& line)
{
    const Expr sum1 = line(1) + line(2), difference1 = line(1) - line(2);
    const Expr sum2 = line(3) + line(4), difference2 = line(3) - line(4);
    return choose(e, {line(0) + sum1 + sum2, difference1 + scaled(2, difference2),
                      sum1 + scaled(4, sum2),
                      difference1 + scaled(2, scaled(4, difference2) + line(5))});
}

Expr winogradIntegerQuotient(const Expr& sum)
{
    // 576 is 9 * 64, and this times 9 is 1 modulo 2^32.
    constexpr int64_t kInverseOf9 = 954437177;
    return tir::call(tir::Intrinsic::ShiftRight, kInt32,
                     {sum * tir::intImm(kInverseOf9, kInt32), tir::intImm(6, kInt32)});
}

Expr winogradFilter(int64_t m, const Expr& e, const LineFn& line)
{
    const Expr a = line(0), b = line(1), c = line(2);
    const Expr at1 = a + c;
    if (m == 2) return choose(e, {a, at1 + b, at1 - b, c});
    const Expr at2 = a + times(4, c);
    const Expr odd2 = times(2, b);
    return choose(e, {a, at1 + b, at1 - b, at2 + odd2, at2 - odd2, c});
}

Expr winogradFilterSum(int64_t m, const Expr& e, const LineFn& line)
{
    const std::vector<std::array<double, 3>> points =
        m == 2 ? std::vector<std::array<double, 3>>{{1, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 1}}
               : std::vector<std::array<double, 3>>{{1, 0, 0}, {1, 1, 1},  {1, -1, 1},
                                                    {1, 2, 4}, {1, -2, 4}, {0, 0, 1}};
    const auto term = [&](size_t k) {
        const Expr element = line(static_cast<int64_t>(k));
        // Chosen without branches, which would stay in the loop that multiplies.
        Expr factor = number(points.back()[k], element);
        for (size_t i = points.size() - 1; i-- > 0;)
            if (points[i][k] != points.back()[k])
                factor = tir::select(equal(e, Expr(static_cast<int64_t>(i))),
                                     number(points[i][k], element), factor);
        return factor * element;
    };
    return term(0) + term(1) + term(2);
}

Expr winogradData(int64_t m, const Expr& e, const LineFn& line)
{
    if (m == 2)
        return choose(e, {line(0) - line(2), times(0.5, line(1) + line(2)),
                          times(0.5, line(2) - line(1)), line(1) - line(3)});
    // Rows of opposite points share their even and odd parts.
    const Expr even1 = times(-1.0 / 6, plus(-4, line(2), line(4)));
    const Expr odd1 = times(-1.0 / 6, plus(-4, line(1), line(3)));
    const Expr even2 = times(1.0 / 24, line(4) - line(2));
    const Expr odd2 = times(1.0 / 12, line(3) - line(1));
    return choose(e,
                  {plus(0.25, line(4), plus(-1.25, line(2), line(0))), even1 + odd1, even1 - odd1,
                   even2 + odd2, even2 - odd2, plus(4, line(1), plus(-5, line(3), line(5)))});
}

Expr winogradResult(int64_t m, const Expr& e, const LineFn& line)
{
    const Expr sum1 = line(1) + line(2);
    const Expr difference1 = line(1) - line(2);
    if (m == 2) return choose(e, {line(0) + sum1, difference1 - line(3)});
    const Expr sum2 = line(3) + line(4);
    const Expr difference2 = line(3) - line(4);
    return choose(e, {line(0) + sum1 + sum2, plus(2, difference2, difference1), plus(4, sum2, sum1),
                      plus(8, difference2, difference1) + line(5)});
}

} // namespace tenon::compiler
