// SPDX-License-Identifier: Apache-2.0
// pad: the loops of a block grow to multiples, so that later splits divide them.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;

Status Primitives::pad(std::string block, std::vector<int64_t> multiples)
{
    constexpr const char* kName = "pad";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + ": " + why);
    };
    tir::Block changed = site->stmt->block;
    if (multiples.size() != changed.iters.size())
        return refuse("it has " + std::to_string(changed.iters.size()) + " axes, not " +
                      std::to_string(multiples.size()));
    Expr predicate = changed.predicate.get() ? changed.predicate : tir::intImm(1, kBool);
    std::vector<std::pair<std::string, int64_t>> extents;
    for (size_t i = 0; i < multiples.size(); ++i) {
        const tir::IterVar& iter = changed.iters[i];
        if (multiples[i] == 1) continue;
        if (multiples[i] < 1 || iter.extent->kind != ExprKind::IntImm ||
            iter.binding->kind != ExprKind::VarRef)
            return refuse("axis " + quoted(iter.var->name) +
                          " is not bound to one loop of constant extent");
        const int64_t padded =
            (iter.extent->integer + multiples[i] - 1) / multiples[i] * multiples[i];
        if (padded == iter.extent->integer) continue;
        const auto loop = siteOfLoop(m_function.body, iter.binding->var->name);
        if (!loop || blocksIn(loop->stmt).size() != 1)
            return refuse("the loop of axis " + quoted(iter.var->name) + " holds other blocks");
        extents.emplace_back(iter.binding->var->name, padded);
        predicate = predicate && (iter.binding < iter.extent);
    }
    changed.predicate = predicate.isConstInt(1) ? Expr() : predicate;
    tir::Stmt root = tir::replaceStmt(m_function.body, site->stmt.get(),
                                      withBlock(site->stmt, std::move(changed)));
    for (const auto& [name, extent] : extents) {
        const auto site2 = siteOfLoop(root, name);
        tir::Loop loop = site2->stmt->loop;
        loop.extent = extent;
        root = tir::replaceStmt(root, site2->stmt.get(), tir::forLoop(loop, site2->stmt->body));
    }
    m_function.body = root;
    record(kName, {block}, {{"multiples", multiples}});
    return kDone;
}

} // namespace tenon::compiler
