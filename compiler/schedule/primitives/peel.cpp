// SPDX-License-Identifier: Apache-2.0
// peel: the iterations of a loop from `count` on get a loop of their own after it.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

constexpr const char* kName = "peel";

using tir::Expr;
using tir::Stmt;
using tir::StmtKind;

/// A copy with fresh loops and blocks, so that both halves can be named.
class Copy
{
public:
    explicit Copy(const Stmt& root)
        : m_root(root)
    {
    }

    Stmt visit(const Stmt& stmt)
    {
        if (!stmt) return stmt;
        tir::StmtNode copy = *stmt;
        tir::VarMap renamed;
        if (copy.kind == StmtKind::For) {
            const std::string name = freshLoopName(m_root, copy.loop.var->name + "_tail");
            copy.loop.var = tir::makeVar(name, copy.loop.var->dtype);
            renamed[stmt->loop.var.get()] = Expr(copy.loop.var);
        }
        if (copy.kind == StmtKind::Block) {
            copy.block.name = freshBlockName(m_root, copy.block.name + "_tail");
            for (tir::IterVar& iter : copy.block.iters) {
                const tir::VarNode* old = iter.var.get();
                iter.var = tir::makeVar(old->name, old->dtype);
                renamed[old] = Expr(iter.var);
            }
        }
        copy.block.predicate = tir::substitute(copy.block.predicate, renamed);
        for (Stmt& child : copy.stmts) child = visit(child);
        copy.init = tir::substitute(visit(copy.init), renamed);
        copy.body = tir::substitute(visit(copy.body), renamed);
        copy.orElse = visit(copy.orElse);
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

private:
    const Stmt& m_root;
};

} // namespace

Result<std::string> Primitives::peel(std::string loop, int64_t count)
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(kName, loop);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of loop " + quoted(loop) + ": " + why);
    };
    const tir::Loop old = site->stmt->loop;
    const int64_t extent = extentOf(loop);
    if (old.kind != tir::LoopKind::Serial) return refuse("it is no serial loop");
    if (count < 1 || count >= extent)
        return refuse("it has " + std::to_string(extent) + " iterations, which " +
                      std::to_string(count) + " do not split in two");
    for (const Stmt& block : blocksIn(site->stmt))
        for (const tir::IterVar& iter : block->block.iters)
            if (block->init && iter.kind == tir::IterKind::Reduce &&
                usesVar(iter.binding, old.var.get()))
                return refuse("block " + quoted(block->block.name) + " still has its init in it");

    const std::string name = freshLoopName(m_function.body, loop + "_tail");
    const tir::Var var = tir::makeVar(name, old.var->dtype);
    tir::Loop head = old, rest = old;
    head.extent = count;
    rest.var = var;
    rest.extent = extent - count;
    const Stmt copied = Copy(m_function.body).visit(site->stmt->body);
    const Stmt shifted = tir::substitute(copied, {{old.var.get(), Expr(var) + count}});
    m_function.body = tir::replaceStmt(
        m_function.body, site->stmt.get(),
        tir::seq({tir::forLoop(head, site->stmt->body), tir::forLoop(rest, shifted)}));
    record(kName, {loop}, {{"count", count}}, {name});
    return name;
}

} // namespace tenon::compiler
