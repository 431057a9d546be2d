// SPDX-License-Identifier: Apache-2.0
// skip_zero_terms: a sum leaves out what the padding makes zero, by a branch in place of a choice
// per term. Conditions that all columns share then leave the loops over those.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

/// The factor that a condition makes zero; null when there is none.
Expr conditionalFactor(const Expr& term)
{
    if (term->kind == ExprKind::Mul) {
        const Expr first = conditionalFactor(term->args[0]);
        return first.get() ? first : conditionalFactor(term->args[1]);
    }
    const bool isConditional = term->kind == ExprKind::Intrinsic &&
                               term->intrinsic == tir::Intrinsic::IfThenElse &&
                               isNumber(term->args[2], 0);
    return isConditional ? term : Expr();
}

/// What is added to the sum in `store`; null for another reduction.
Expr termOf(const Stmt& store)
{
    if (store->kind != tir::StmtKind::Store || store->value->kind != ExprKind::Add) return {};
    const Expr& sum = store->value->args[0];
    if (sum->kind != ExprKind::Load || sum->buffer != store->buffer) return {};
    for (size_t i = 0; i < sum->args.size(); ++i)
        if (!tir::structuralEqual(sum->args[i], store->indices[i])) return {};
    return store->value->args[1];
}

} // namespace

Status Primitives::skipZeroTerms(std::string block, int64_t axis)
{
    constexpr const char* kName = "skip_zero_terms";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + ": " + why);
    };
    tir::Block changed = site->stmt->block;
    const auto at = static_cast<size_t>(axis);
    if (axis < 0 || at >= changed.iters.size()) return refuse("it has no such axis");
    if (site->stmt->init) return refuse("it also initialises the sums");
    const Expr term = termOf(site->stmt->body);
    if (!term.get()) return refuse("it adds to no sum");
    const Expr factor = conditionalFactor(term);
    if (!factor.get()) return refuse("no condition makes what it adds zero");
    const tir::VarNode* const var = changed.iters[at].var.get();
    const auto isShared = [&](const Expr& condition) { return !usesVar(condition, var); };
    const Expr shared = termsWhere(factor->args[0], isShared);
    if (!shared.get()) return refuse("every condition depends on the axis");
    const Expr own = termsWhere(factor->args[0], [&](const Expr& c) { return !isShared(c); });

    const Expr kept = own.get() ? tir::call(tir::Intrinsic::IfThenElse, factor->dtype,
                                            {own, factor->args[1], factor->args[2]})
                                : factor->args[1];
    const Stmt body = tir::rewriteStmt(
        site->stmt->body, [](const Stmt& stmt) { return stmt; },
        [&](const Expr& expr) { return expr.get() == factor.get() ? kept : expr; });
    changed.predicate = changed.predicate.get() ? changed.predicate && shared : shared;
    m_function.body = tir::replaceStmt(m_function.body, site->stmt.get(),
                                       tir::block(std::move(changed), nullptr, body));
    record(kName, {std::move(block)}, {{"axis", axis}});
    return kDone;
}

} // namespace tenon::compiler
