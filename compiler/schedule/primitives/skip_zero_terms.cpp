// SPDX-License-Identifier: Apache-2.0
// skip_zero_terms: a sum leaves out what the padding makes zero, by a branch in place of a choice
// per term. Conditions that all columns share then leave the loops over those. Of a padded copy the
// branch reads only the rows with data in them; columns of zeros stay terms.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <functional>
#include <optional>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

/// A factor that is zero unless a condition holds.
struct ConditionalFactor
{
    Expr condition;
    Expr choice; ///< the choice in the term itself; null where a padded copy holds the zeros
};

bool choosesZero(const Expr& expr)
{
    return expr->kind == ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse &&
           isNumber(expr->args[2], 0);
}

/// Where `load`, of a copy with padding, reads data; null where no single block pads it with zeros.
Expr dataConditionOf(const Stmt& root, const Expr& load)
{
    std::vector<Stmt> writers;
    for (const Stmt& block : blocksIn(root))
        if (writes(block, load->buffer)) writers.push_back(block);
    if (writers.size() != 1 || writers[0]->init) return {};
    const Stmt& store = writers[0]->body;
    if (store->kind != tir::StmtKind::Store || !choosesZero(store->value)) return {};
    tir::VarMap at;
    for (size_t i = 0; i < store->indices.size(); ++i) {
        if (store->indices[i]->kind != ExprKind::VarRef) return {};
        at[store->indices[i]->var.get()] = load->args[i];
    }
    return tir::substitute(store->value->args[0], at);
}

std::optional<ConditionalFactor> conditionalFactor(const Stmt& root, const Expr& term)
{
    if (term->kind == ExprKind::Mul) {
        auto first = conditionalFactor(root, term->args[0]);
        return first ? first : conditionalFactor(root, term->args[1]);
    }
    if (term->kind == ExprKind::Cast) return conditionalFactor(root, term->args[0]);
    if (choosesZero(term)) return ConditionalFactor{term->args[0], term};
    if (term->kind != ExprKind::Load) return std::nullopt;
    const Expr condition = dataConditionOf(root, term);
    if (!condition.get()) return std::nullopt;
    return ConditionalFactor{condition, {}};
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

/// The body where `choice` depends on the kept conditions alone.
Stmt withChoiceOf(const Stmt& body, const Expr& choice,
                  const std::function<bool(const Expr&)>& keep)
{
    if (!choice.get()) return body;
    const Expr own = termsWhere(choice->args[0], keep);
    const Expr kept = own.get() ? tir::call(tir::Intrinsic::IfThenElse, choice->dtype,
                                            {own, choice->args[1], choice->args[2]})
                                : choice->args[1];
    return tir::rewriteStmt(
        body, [](const Stmt& stmt) { return stmt; },
        [&](const Expr& expr) { return expr.get() == choice.get() ? kept : expr; });
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
    const auto factor = conditionalFactor(m_function.body, term);
    if (!factor) return refuse("no condition makes what it adds zero");
    const tir::VarNode* const var = changed.iters[at].var.get();
    const auto isShared = [&](const Expr& condition) { return !usesVar(condition, var); };
    const Expr shared = termsWhere(factor->condition, isShared);
    if (!shared.get()) return refuse("every condition depends on the axis");
    const Stmt body = withChoiceOf(site->stmt->body, factor->choice,
                                   [&](const Expr& condition) { return !isShared(condition); });
    changed.predicate = changed.predicate.get() ? changed.predicate && shared : shared;
    m_function.body = tir::replaceStmt(m_function.body, site->stmt.get(),
                                       tir::block(std::move(changed), nullptr, body));
    record(kName, {std::move(block)}, {{"axis", axis}});
    return kDone;
}

} // namespace tenon::compiler
