// SPDX-License-Identifier: Apache-2.0
// Construction and questions; the primitives have a file each.
#include "compiler/schedule/primitives.h"

#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <set>

namespace tenon::compiler {
namespace {

using tir::Stmt;

/// Later loops of a name already used get a suffix.
Stmt withUniqueLoops(const Stmt& body)
{
    std::set<std::string> used;
    tir::VarMap renamed;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind != tir::StmtKind::For) return true;
        const std::string& base = stmt->loop.var->name;
        std::string name = base;
        for (int suffix = 1; !used.insert(name).second; ++suffix)
            name = base + "_" + std::to_string(suffix);
        if (name != base)
            renamed[stmt->loop.var.get()] = tir::Expr(tir::makeVar(name, stmt->loop.var->dtype));
        return true;
    });
    const Stmt loops = tir::rewriteStmt(body, [&](const Stmt& stmt) {
        if (stmt->kind != tir::StmtKind::For) return stmt;
        const auto found = renamed.find(stmt->loop.var.get());
        if (found == renamed.end()) return stmt;
        tir::Loop loop = stmt->loop;
        loop.var = found->second->var;
        return tir::forLoop(loop, stmt->body);
    });
    return tir::substitute(loops, renamed);
}

} // namespace

Primitives::Primitives(tir::PrimFunc function)
    : m_function(std::move(function))
{
    m_function.body = withUniqueLoops(m_function.body);
}

std::vector<std::string> Primitives::blocks() const
{
    std::vector<std::string> names;
    for (const Stmt& block : blocksIn(m_function.body)) names.push_back(block->block.name);
    return names;
}

std::vector<std::string> Primitives::loopsOf(std::string_view block) const
{
    std::vector<std::string> names;
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return names;
    for (const Stmt& loop : loopsAbove(*site)) names.push_back(loop->loop.var->name);
    return names;
}

int64_t Primitives::extentOf(std::string_view loop) const
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site || site->stmt->loop.extent->kind != tir::ExprKind::IntImm) return -1;
    return site->stmt->loop.extent->integer;
}

void Primitives::record(std::string primitive, std::vector<std::string> operands, Attrs attrs,
                        std::vector<std::string> results)
{
    m_trace.push_back(
        {std::move(primitive), std::move(operands), std::move(attrs), std::move(results)});
}

} // namespace tenon::compiler
