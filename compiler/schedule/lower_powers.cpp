// SPDX-License-Identifier: Apache-2.0
// Lowering step: small constant powers, and divisions by constants inside functions that round
// anyway, become products.
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

#include <cmath>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;

/// Binary64 powers by products: exact where the result is, which exp(y log x) misses by units in
/// the last place. Binary32 powers come from binary64 and have none to miss.
Expr wholePower(const Expr& base, double exponent, const Expr& otherwise)
{
    constexpr double kMost = 16; // as many copies of the base
    if (exponent != std::floor(exponent) || exponent < 3 || exponent > kMost) return otherwise;
    Expr square = base, out;
    for (auto rest = static_cast<int64_t>(exponent);;) {
        if (rest & 1) out = out.get() ? out * square : square;
        rest >>= 1;
        if (rest == 0) return out;
        square = square * square;
    }
}

/// x^2 as x * x is exact to the last bit of pow; x^3 is off by at most one rounding.
Expr product(const Expr& expr)
{
    if (expr->kind != ExprKind::Intrinsic || expr->intrinsic != tir::Intrinsic::Pow) return expr;
    const Expr& base = expr->args[0];
    const Expr& exponent = expr->args[1];
    if (!expr->dtype.isFloat() || exponent->kind != ExprKind::FloatImm) return expr;
    if (exponent->number == 1) return base;
    if (exponent->number == 2) return base * base;
    if (exponent->number == 3) return base * base * base;
    return expr->dtype.scalar() == kFloat64 ? wholePower(base, exponent->number, expr) : expr;
}

/// erf(x / c) as erf(x * (1 / c)): the argument is off by at most one rounding, which moves these
/// functions by no more than their own error. A vector division takes as long as ten products.
Expr scaledArgument(const Expr& expr)
{
    if (expr->kind != ExprKind::Intrinsic || expr->dtype.scalar() != kFloat32) return expr;
    const bool isSmooth = expr->intrinsic == tir::Intrinsic::Erf ||
                          expr->intrinsic == tir::Intrinsic::Tanh ||
                          expr->intrinsic == tir::Intrinsic::Sigmoid;
    if (!isSmooth || expr->args[0]->kind != ExprKind::Div) return expr;
    const Expr& divisor = expr->args[0]->args[1];
    if (divisor->kind != ExprKind::FloatImm || !std::isnormal(1 / divisor->number)) return expr;
    return tir::call(expr->intrinsic,
                     expr->args[0]->args[0] * tir::floatImm(1 / divisor->number, kFloat32));
}

} // namespace

tir::Stmt lowerPowers(const tir::Stmt& body)
{
    return tir::rewriteStmt(body, {},
                            [](const Expr& expr) { return scaledArgument(product(expr)); });
}

} // namespace tenon::compiler
