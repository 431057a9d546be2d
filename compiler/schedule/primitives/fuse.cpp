// SPDX-License-Identifier: Apache-2.0
// fuse: several perfectly nested loops become one.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

constexpr const char* kName = "fuse";

} // namespace

Result<std::string> Primitives::fuse(std::vector<std::string> loops)
{
    if (loops.empty()) return badSchedule(kName, "needs a loop");
    const auto site = siteOfLoop(m_function.body, loops[0]);
    if (!site) return unknownLoop(kName, loops[0]);

    std::vector<tir::Loop> old;
    tir::Stmt at = site->stmt;
    for (const std::string& name : loops) {
        if (!siteOfLoop(m_function.body, name)) return unknownLoop(kName, name);
        if (at->kind != tir::StmtKind::For || at->loop.var->name != name)
            return badSchedule(kName, "of " + quoted(name) + ": it is not the only statement in " +
                                          quoted(loops[old.size() - 1]));
        if (at->loop.kind != tir::LoopKind::Serial || !at->loop.min.isConstInt(0))
            return badSchedule(kName, "of " + quoted(name) + ": it is no serial loop from 0");
        for (const tir::Loop& outer : old)
            if (usesVar(at->loop.extent, outer.var.get()))
                return badSchedule(kName, "of " + quoted(name) + ": its extent depends on " +
                                              quoted(outer.var->name));
        old.push_back(at->loop);
        at = at->body;
    }

    const std::string fused = freshLoopName(m_function.body, join(loops, "_") + "_fused");
    const tir::Var var = tir::makeVar(fused);
    tir::VarMap values;
    tir::Expr inside = 1;
    for (size_t i = old.size(); i-- > 0;) {
        const tir::Expr quotient = floorDiv(tir::Expr(var), inside);
        values[old[i].var.get()] = i == 0 ? quotient : floorMod(quotient, old[i].extent);
        inside = tir::simplify(old[i].extent * inside);
    }
    const tir::Stmt body = tir::substitute(at, values);
    m_function.body = tir::replaceStmt(m_function.body, site->stmt.get(),
                                       tir::forLoop({.var = var, .extent = inside}, body));
    record(kName, loops, {}, {fused});
    return fused;
}

} // namespace tenon::compiler
