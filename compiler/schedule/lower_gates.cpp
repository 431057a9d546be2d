// SPDX-License-Identifier: Apache-2.0
// Lowering step: gates that models spell in several functions and that are one exponential.
// tanh(log(1 + e^x)) (Mish, arXiv:1908.08681) is a quotient of polynomials in e^x, and 1 + tanh(u)
// (GELU by tanh, arXiv:1606.08415) is twice the sigmoid of 2 u; both lose fewer digits so.
#include "compiler/schedule/lower.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <optional>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Intrinsic;

bool isCallOf(const Expr& expr, Intrinsic which)
{
    return expr->kind == ExprKind::Intrinsic && expr->intrinsic == which;
}

/// The other operand of a commutative `kind` with this number.
std::optional<Expr> besideNumber(const Expr& expr, ExprKind kind, int number)
{
    if (expr->kind != kind) return std::nullopt;
    if (isNumber(expr->args[1], number)) return expr->args[0];
    if (isNumber(expr->args[0], number)) return expr->args[1];
    return std::nullopt;
}

/// x of log(1 + e^-|x|).
std::optional<Expr> ofSoftplusTail(const Expr& expr)
{
    if (!isCallOf(expr, Intrinsic::Log)) return std::nullopt;
    const auto decay = besideNumber(expr->args[0], ExprKind::Add, 1);
    if (!decay || !isCallOf(*decay, Intrinsic::Exp)) return std::nullopt;
    const auto magnitude = besideNumber((*decay)->args[0], ExprKind::Mul, -1);
    if (!magnitude || !isCallOf(*magnitude, Intrinsic::Abs)) return std::nullopt;
    return (*magnitude)->args[0];
}

/// x of max(x, 0) + log(1 + e^-|x|), as the importers write log(1 + e^x).
std::optional<Expr> ofSoftplus(const Expr& expr)
{
    if (expr->kind != ExprKind::Add) return std::nullopt;
    for (const size_t tail : {0U, 1U}) {
        const auto x = ofSoftplusTail(expr->args[tail]);
        const auto above = besideNumber(expr->args[1 - tail], ExprKind::Max, 0);
        if (x && above && tir::structuralEqual(*x, *above)) return x;
    }
    return std::nullopt;
}

/// tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2), which is 1 from x = 20 on.
Expr tanhOfSoftplus(const Expr& x)
{
    constexpr double kIsOne = 20;
    const auto number = [&](double value) { return tir::floatImm(value, x->dtype); };
    const Expr power = tir::call(Intrinsic::Exp, minimum(x, number(kIsOne)));
    const Expr n = power * (power + number(2));
    return n / (n + number(2));
}

Expr gate(const Expr& expr)
{
    if (expr->dtype.scalar() != kFloat32) return expr;
    if (isCallOf(expr, Intrinsic::Tanh)) {
        const auto x = ofSoftplus(expr->args[0]);
        return x ? tanhOfSoftplus(*x) : expr;
    }
    const auto tanh = besideNumber(expr, ExprKind::Add, 1);
    if (!tanh || !isCallOf(*tanh, Intrinsic::Tanh)) return expr;
    const Expr two = tir::floatImm(2, expr->dtype);
    return two * tir::call(Intrinsic::Sigmoid, two * (*tanh)->args[0]);
}

} // namespace

tir::Stmt lowerGates(const tir::Stmt& body) { return tir::rewriteStmt(body, {}, gate); }

} // namespace tenon::compiler
