// SPDX-License-Identifier: Apache-2.0
// Interpolation at 0, 1, (-1, (2, -2, (1/2, -1/2,))) infinity, each point with the factors that
// leave whole numbers.
#include "compiler/ops/winograd_integers.h"

#include <bit>

namespace tenon::compiler {
namespace {

using tir::Expr;

constexpr int64_t kFewestPoints = 3;

Expr scaled(int64_t factor, const Expr& x)
{
    return factor == 1 ? x : tir::intImm(factor, x->dtype) * x;
}

/// The sum of `line` with growing powers of `p`; of 1/2 with `isFraction`, as often as the last
/// element divides it.
int64_t filterAt(int64_t p, bool isFraction, std::span<const int64_t> line)
{
    int64_t sum = 0, power = 1;
    for (size_t k = 0; k < line.size(); ++k) {
        sum += power * line[isFraction ? line.size() - 1 - k : k];
        power *= p;
    }
    return sum;
}

/// Of 8 points: 360 times the filter, by factors that the data have already.
int64_t filterOfEight(int64_t e, std::span<const int64_t> line)
{
    // (-1/2)^k times 2^(r - 1) is (-2)^(r - 1 - k) times the sign of the last power.
    const int64_t sign = line.size() % 2 == 0 ? -1 : 1;
    switch (e) {
    case 0: return -90 * line.front();
    case 1: return -20 * filterAt(1, false, line);
    case 2: return -20 * filterAt(-1, false, line);
    case 3: return filterAt(2, false, line);
    case 4: return filterAt(-2, false, line);
    case 5: return filterAt(2, true, line);
    case 6: return sign * filterAt(-2, true, line);
    default: return 90 * line.back();
    }
}

int64_t filterOfSix(int64_t e, std::span<const int64_t> line)
{
    switch (e) {
    case 0: return 6 * line.front();
    case 1: return -4 * filterAt(1, false, line);
    case 2: return -4 * filterAt(-1, false, line);
    case 3: return filterAt(2, false, line);
    case 4: return filterAt(-2, false, line);
    default: return 12 * line.back();
    }
}

Expr dataOfSix(const Expr& e, const LineFn& line)
{
    const Expr even1 = line(4) - scaled(4, line(2)), odd1 = line(3) - scaled(4, line(1));
    const Expr even2 = line(4) - line(2), half2 = line(3) - line(1);
    const Expr odd2 = scaled(2, half2);
    return choose(e, {scaled(4, line(0) - line(2)) + even2, even1 + odd1, even1 - odd1,
                      even2 + odd2, even2 - odd2, line(5) - line(3) - scaled(4, half2)});
}

/// Four times the polynomials that are zero at all points but one; twice at 1/2 and -1/2.
Expr dataOfEight(const Expr& e, const LineFn& line)
{
    const auto sum = [&](int64_t first, int64_t a, int64_t b, int64_t c) {
        return scaled(a, line(first)) + scaled(b, line(first + 2)) + scaled(c, line(first + 4));
    };
    const auto ofAll = [&](int64_t first) {
        return scaled(4, line(first + 6) - line(first)) +
               scaled(21, line(first + 2) - line(first + 4));
    };
    const Expr even1 = sum(2, 4, -17, 4), odd1 = sum(1, 4, -17, 4);
    const Expr even2 = sum(2, 1, -5, 4), odd2 = scaled(2, sum(1, 1, -5, 4));
    const Expr even3 = scaled(2, sum(2, 4, -5, 1)), odd3 = sum(1, 4, -5, 1);
    return choose(e, {ofAll(0), even1 + odd1, even1 - odd1, even2 + odd2, even2 - odd2,
                      even3 + odd3, even3 - odd3, ofAll(1)});
}

/// What pair `i` of opposite points adds to output `j`: 1, 2^j or, of halves, 2^(m - 1 - j).
int64_t powerOf(const WinogradAxis& axis, int64_t pair, int64_t j)
{
    if (pair == 0) return 1;
    return int64_t{1} << (pair == 1 ? j : axis.tile - 1 - j);
}

} // namespace

bool isWinogradIntegerAxis(const WinogradAxis& axis) { return isWinogradAxis(axis); }

bool areWinogradIntegerAxes(const WinogradAxis& rows, const WinogradAxis& columns)
{
    const auto isSmall = [](const WinogradAxis& axis) {
        return axis.points() < 6 || (axis.points() == 6 && axis.taps == 3);
    };
    if (rows.isDirect()) return columns.points() > 1 && isWinogradIntegerAxis(columns);
    const bool isOne = rows.points() == 1 || columns.points() == 1;
    return isWinogradIntegerAxis(rows) && isWinogradIntegerAxis(columns) &&
           (isOne || (isSmall(rows) && isSmall(columns)));
}

int64_t winogradIntegerFactor(const WinogradAxis& axis)
{
    switch (axis.points()) {
    case 4: return 2;
    case 6: return 24;
    case 8: return 360;
    default: return 1;
    }
}

int64_t winogradIntegerFilter(const WinogradAxis& axis, int64_t e, std::span<const int64_t> line)
{
    const auto last = static_cast<size_t>(axis.points() - 1), at = static_cast<size_t>(e);
    switch (axis.points()) {
    case 1: return line.front();
    case kFewestPoints: return at == 0 ? line[0] : at == last ? line[1] : line[0] + line[1];
    case 4:
        if (at == 0) return 2 * line.front();
        return at == last ? 2 * line.back() : filterAt(at == 1 ? 1 : -1, false, line);
    case 6: return filterOfSix(e, line);
    default: return filterOfEight(e, line);
    }
}

Expr winogradIntegerData(const WinogradAxis& axis, const Expr& e, const LineFn& line)
{
    switch (axis.points()) {
    case 1: return line(0);
    case kFewestPoints: return choose(e, {line(0) - line(1), line(1), line(2) - line(1)});
    case 4:
        return choose(e,
                      {line(0) - line(2), line(1) + line(2), line(2) - line(1), line(3) - line(1)});
    case 6: return dataOfSix(e, line);
    default: return dataOfEight(e, line);
    }
}

Expr winogradIntegerResult(const WinogradAxis& axis, const Expr& e, const LineFn& line)
{
    const int64_t points = axis.points();
    if (points == 1) return line(0);
    if (points == kFewestPoints) return choose(e, {line(0) + line(1), line(1) + line(2)});
    Exprs values;
    for (int64_t j = 0; j < axis.tile; ++j) {
        Expr sum = j == 0 ? line(0) : Expr();
        for (int64_t pair = 0; pair < (points - 2) / 2; ++pair) {
            const int64_t k = 2 * pair + 1;
            const Expr both = j % 2 == 0 ? line(k) + line(k + 1) : line(k) - line(k + 1);
            const Expr term = scaled(powerOf(axis, pair, j), both);
            sum = sum.get() ? sum + term : term;
        }
        // The last filter of 6 points lacks a factor of 2.
        if (j + 1 == axis.tile) sum = sum + scaled(points == 6 ? 2 : 1, line(points - 1));
        values.push_back(sum);
    }
    return choose(e, values);
}

Expr winogradIntegerQuotient(int64_t factor, const Expr& sum)
{
    const int shift = std::countr_zero(static_cast<uint64_t>(factor));
    const auto odd = static_cast<uint32_t>(factor >> shift);
    // Newton's steps double the bits that are right: odd * inverse is 1 modulo 2^32.
    uint32_t inverse = odd;
    for (int step = 0; step < 4; ++step) inverse *= 2 - odd * inverse;
    Expr out = odd == 1 ? sum : sum * tir::intImm(static_cast<int32_t>(inverse), kInt32);
    if (shift == 0) return out;
    return tir::call(tir::Intrinsic::ShiftRight, kInt32, {out, tir::intImm(shift, kInt32)});
}

int64_t winogradIntegerLimit(int64_t factor)
{
    return (int64_t{1} << 31) >> std::countr_zero(static_cast<uint64_t>(factor));
}

} // namespace tenon::compiler
