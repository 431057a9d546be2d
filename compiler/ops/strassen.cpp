// SPDX-License-Identifier: Apache-2.0
// The original form rather than Winograd's with three sums less: its sums have fewer terms, and the
// root mean square error is 2 times that of a plain product, not 2.65 times.
#include "compiler/ops/strassen.h"

namespace tenon::compiler {

using tir::Expr;

Expr halvedWeight(const Expr& e, const QuarterFn& quarter)
{
    const Expr a = quarter(0, 0), b = quarter(0, 1), c = quarter(1, 0), d = quarter(1, 1);
    return choose(e, {a + d, c + d, a, d, a + b, c - a, b - d});
}

Expr halvedData(const Expr& e, const QuarterFn& quarter)
{
    const Expr a = quarter(0, 0), b = quarter(0, 1), c = quarter(1, 0), d = quarter(1, 1);
    return choose(e, {a + d, a, b - d, c - a, d, a + b, c + d});
}

Expr halvedResult(const Expr& row, const Expr& column, const LineFn& product)
{
    const Expr first = choose(
        column, {(product(0) + product(3)) + (product(6) - product(4)), product(2) + product(4)});
    const Expr second = choose(
        column, {product(1) + product(3), (product(0) + product(2)) + (product(5) - product(1))});
    return choose(row, {first, second});
}

int64_t halfOf(int64_t positions)
{
    const int64_t half = (positions + 1) / 2;
    const int64_t multiple = half >= 1024 ? 36 : half >= 192 ? 12 : half >= 48 ? 2 : 1;
    return (half + multiple - 1) / multiple * multiple;
}

} // namespace tenon::compiler
