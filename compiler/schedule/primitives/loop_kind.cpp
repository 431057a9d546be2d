// SPDX-License-Identifier: Apache-2.0
// vectorize, unroll, parallel, bind: how the iterations of a loop run.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::compiler {
namespace {

using tir::LoopKind;

/// The first block whose reduction the loop takes part in, or "".
std::string reducedBlock(const tir::Stmt& loop)
{
    for (const tir::Stmt& block : blocksIn(loop))
        for (const tir::IterVar& iter : block->block.iters)
            if (iter.kind == tir::IterKind::Reduce && usesVar(iter.binding, loop->loop.var.get()))
                return block->block.name;
    return {};
}

using Extents = std::unordered_map<const tir::VarNode*, int64_t>;

/// Constant extents of the loop and of those in it that begin at 0.
Extents extentsIn(const tir::Stmt& loop)
{
    Extents extents;
    tir::visitStmts(loop, [&](const tir::Stmt& stmt) {
        const bool isCounted = stmt->kind == tir::StmtKind::For && stmt->loop.min.isConstInt(0) &&
                               stmt->loop.extent->kind == tir::ExprKind::IntImm;
        if (isCounted) extents[stmt->loop.var.get()] = stmt->loop.extent->integer;
        return true;
    });
    return extents;
}

/// Number of values of a loop variable, or of its quotient or remainder; 0: unknown.
int64_t valuesOf(const tir::Expr& atom, const Extents& extents)
{
    const bool isPart =
        atom->kind == tir::ExprKind::FloorDiv || atom->kind == tir::ExprKind::FloorMod;
    if (isPart && atom->args[1]->kind == tir::ExprKind::IntImm) {
        const int64_t all = valuesOf(atom->args[0], extents), by = atom->args[1]->integer;
        return atom->kind == tir::ExprKind::FloorMod ? std::min(all, by) : (all + by - 1) / by;
    }
    const auto found =
        atom->kind == tir::ExprKind::VarRef ? extents.find(atom->var.get()) : extents.end();
    return found == extents.end() ? 0 : found->second;
}

/// Of the tiles that `clamped` begins, only the last one overlaps another: the one before. True
/// when `loop` has both in one iteration.
bool keepsOverlapTogether(const tir::Expr& clamped, const tir::VarNode* loop,
                          const Extents& extents)
{
    if (clamped->args[1]->kind != tir::ExprKind::IntImm) return false;
    const Affine begin = affineOf(clamped->args[0]);
    int64_t last = begin.constant, step = INT64_MAX, innerStep = INT64_MAX;
    for (const AffineTerm& term : begin.terms) {
        const int64_t values = valuesOf(term.atom, extents);
        if (values < 1 || term.coefficient < 1) return false;
        last += (values - 1) * term.coefficient;
        step = std::min(step, term.coefficient);
        if (values > 1 && !usesVar(term.atom, loop))
            innerStep = std::min(innerStep, term.coefficient);
    }
    return innerStep == step && last - step <= clamped->args[1]->integer;
}

/// True when two iterations write the same element: the loop counts tiles of splitOverlap of which
/// some overlap across iterations.
bool overlaps(const tir::Stmt& loop)
{
    const tir::VarNode* var = loop->loop.var.get();
    const Extents extents = extentsIn(loop);
    bool found = false;
    tir::visitExprsIn(loop->body, [&](const tir::Expr& expr) {
        found = found || (expr->kind == tir::ExprKind::Min && usesVar(expr, var) &&
                          !keepsOverlapTogether(expr, var, extents));
        return !found;
    });
    return found;
}

} // namespace

Status Primitives::setKind(std::string primitive, std::string loop, LoopKind kind, Attrs attrs)
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(primitive, loop);
    tir::Loop changed = site->stmt->loop;
    const std::string what = "of loop " + quoted(loop) + ": ";
    if (changed.kind != LoopKind::Serial)
        return badSchedule(primitive, what + "it is already " + tir::loopKindText(changed.kind));
    const bool isConst = changed.extent->kind == tir::ExprKind::IntImm;
    if ((kind == LoopKind::Vectorized || kind == LoopKind::Unrolled) && !isConst)
        return badSchedule(primitive, what + "its extent is not constant");
    if (kind != LoopKind::Unrolled) {
        const std::string reduced = reducedBlock(site->stmt);
        if (!reduced.empty())
            return badSchedule(primitive, what + "block " + quoted(reduced) + " reduces along it");
    }
    if (kind != LoopKind::Unrolled && overlaps(site->stmt))
        return badSchedule(primitive, what + "its iterations overlap");
    changed.kind = kind;
    changed.threadTag = attrs.string("thread", "");
    m_function.body = tir::replaceStmt(m_function.body, site->stmt.get(),
                                       tir::forLoop(changed, site->stmt->body));
    record(std::move(primitive), {std::move(loop)}, std::move(attrs));
    return kDone;
}

Status Primitives::vectorize(std::string loop)
{
    return setKind("vectorize", std::move(loop), LoopKind::Vectorized, {});
}

Status Primitives::unroll(std::string loop)
{
    return setKind("unroll", std::move(loop), LoopKind::Unrolled, {});
}

Status Primitives::parallel(std::string loop)
{
    return setKind("parallel", std::move(loop), LoopKind::Parallel, {});
}

Status Primitives::bind(std::string loop, std::string threadTag)
{
    return setKind("bind", std::move(loop), LoopKind::Thread, {{"thread", std::move(threadTag)}});
}

} // namespace tenon::compiler
