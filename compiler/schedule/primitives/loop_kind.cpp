// SPDX-License-Identifier: Apache-2.0
// vectorize, unroll, parallel, bind: how the iterations of a loop run.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

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

/// True when two iterations write the same element: the loop counts the tiles of splitOverlap.
bool overlaps(const tir::Stmt& loop)
{
    bool found = false;
    tir::visitExprsIn(loop->body, [&](const tir::Expr& expr) {
        found = found || (expr->kind == tir::ExprKind::Min && usesVar(expr, loop->loop.var.get()));
        return !found;
    });
    return found;
}

} // namespace

Status Schedule::setKind(std::string primitive, std::string loop, LoopKind kind, Attrs attrs)
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

Status Schedule::vectorize(std::string loop)
{
    return setKind("vectorize", std::move(loop), LoopKind::Vectorized, {});
}

Status Schedule::unroll(std::string loop)
{
    return setKind("unroll", std::move(loop), LoopKind::Unrolled, {});
}

Status Schedule::parallel(std::string loop)
{
    return setKind("parallel", std::move(loop), LoopKind::Parallel, {});
}

Status Schedule::bind(std::string loop, std::string threadTag)
{
    return setKind("bind", std::move(loop), LoopKind::Thread, {{"thread", std::move(threadTag)}});
}

} // namespace tenon::compiler
