// SPDX-License-Identifier: Apache-2.0
// Steps of loops and requests for elements.
#include "compiler/schedule/row_walk.h"

#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

int64_t stepAlong(const Affine& index, const tir::Var& var)
{
    int64_t step = 0;
    for (const AffineTerm& term : index.terms) {
        if (term.atom->kind == ExprKind::VarRef && term.atom->var == var)
            step += term.coefficient;
        else if (term.atom->kind == ExprKind::Min && usesVar(term.atom, var.get()))
            step += term.coefficient * stepAlong(affineOf(term.atom->args[0]), var);
    }
    return step;
}

bool isOfLoops(const Expr& atom, const std::vector<Stmt>& loops)
{
    bool found = true;
    tir::visitExprs(atom, [&](const Expr& expr) {
        if (expr->kind == ExprKind::VarRef)
            found = found && std::any_of(loops.begin(), loops.end(), [&](const Stmt& loop) {
                        return loop->loop.var == expr->var;
                    });
        return true;
    });
    return found;
}

Stmt requestAt(const tir::Buffer& buffer, const Affine& index, const std::vector<Stmt>& loops,
               int64_t offset)
{
    Expr at = index.constant + offset;
    for (const AffineTerm& term : index.terms)
        if (isOfLoops(term.atom, loops)) at = at + term.atom * term.coefficient;
    return tir::evaluate(tir::load(buffer, {tir::simplify(at)}));
}

} // namespace tenon::compiler
