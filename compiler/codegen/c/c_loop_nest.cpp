// SPDX-License-Identifier: Apache-2.0
// What an index does along all loops, by what it does along each.
#include "compiler/codegen/c/c_loop_nest.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

std::optional<LoopNest> nestOf(const Stmt& root)
{
    LoopNest nest;
    const Stmt* at = &root;
    while ((*at)->kind == StmtKind::For) {
        const tir::Loop& loop = (*at)->loop;
        if (!loop.min.isConstInt(0) || loop.extent->kind != ExprKind::IntImm) return std::nullopt;
        nest.loops.push_back(loop);
        at = &(*at)->body;
    }
    if ((*at)->kind != StmtKind::Store) return std::nullopt;
    nest.store = *at;
    return nest;
}

std::optional<int64_t> stepOf(const Expr& index, const tir::Var& var)
{
    const Expr next = tir::substitute(index, {{var.get(), Expr(var) + Expr(1)}});
    const Expr distance = tir::simplify(next - index);
    if (distance->kind != ExprKind::IntImm) return std::nullopt;
    return distance->integer;
}

std::optional<int64_t> stepOfAll(const Expr& index, const std::vector<tir::Loop>& loops)
{
    std::optional<int64_t> innermost;
    int64_t expected = 0;
    for (size_t i = loops.size(); i-- > 0;) {
        const auto step = stepOf(index, loops[i].var);
        if (!step) return std::nullopt;
        if (!innermost) innermost = expected = *step;
        if (*step != expected) return std::nullopt;
        expected *= loops[i].extent->integer;
    }
    return innermost.value_or(0);
}

Expr firstOf(const Expr& index, const std::vector<tir::Loop>& loops)
{
    tir::VarMap zeros;
    for (const tir::Loop& loop : loops) zeros[loop.var.get()] = Expr(0);
    return tir::simplify(tir::substitute(index, zeros));
}

std::optional<LoopNest> scalarNestOf(const Stmt& root)
{
    auto nest = nestOf(root);
    if (!nest || nest->store->indices.size() != 1) return std::nullopt;
    const Stmt store = nest->store;
    const int lanes = store->indices[0]->dtype.lanes;
    if (lanes == 1) return nest;
    const tir::Var lane = tir::makeVar("lane");
    nest->loops.push_back({lane, 0, Expr(lanes)});
    nest->store =
        tir::store(store->buffer, {laneOf(store->indices[0], lane)}, laneOf(store->value, lane));
    return nest;
}

} // namespace tenon::compiler
