// SPDX-License-Identifier: Apache-2.0
// decompose_reduction: the init of a reduction becomes a block of its own before a loop.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

constexpr const char* kName = "decompose_reduction";

using tir::Expr;
using tir::IterKind;
using tir::Stmt;

bool isUsedBy(const tir::Block& block, IterKind kind, const tir::VarNode* var)
{
    for (const tir::IterVar& iter : block.iters)
        if (iter.kind == kind && usesVar(iter.binding, var)) return true;
    return false;
}

} // namespace

Result<std::string> Schedule::decomposeReduction(std::string block, std::string loop)
{
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + " at " + quoted(loop) + ": " + why);
    };
    if (!site->stmt->init) return refuse("it has no init");
    const std::vector<Stmt> loops = loopsAbove(*site);
    size_t first = 0;
    while (first < loops.size() && loops[first]->loop.var->name != loop) ++first;
    if (first == loops.size()) return refuse("the loop is not around the block");
    const tir::Block& old = site->stmt->block;
    for (size_t i = 0; i < first; ++i)
        if (isUsedBy(old, IterKind::Reduce, loops[i]->loop.var.get()))
            return refuse("reduction loop " + quoted(loops[i]->loop.var->name) + " is outside it");

    // Loops inside that only reduce do not run for the init.
    tir::VarMap loopVars, blockVars;
    tir::Ranges reducing;
    std::vector<tir::Loop> kept;
    Stmt named = m_function.body;
    const std::string initName = freshBlockName(named, block + "_init");
    for (size_t i = first; i < loops.size(); ++i) {
        tir::Loop copy = loops[i]->loop;
        const bool reduces = isUsedBy(old, IterKind::Reduce, copy.var.get());
        if (reduces && isUsedBy(old, IterKind::Spatial, copy.var.get()))
            return refuse("loop " + quoted(copy.var->name) + " mixes spatial and reduce axes");
        if (reduces) reducing[copy.var.get()] = {0, 0};
        if (reduces || !isUsedBy(old, IterKind::Spatial, copy.var.get())) continue;
        const tir::Var var = tir::makeVar(freshLoopName(named, copy.var->name + "_init"));
        loopVars[copy.var.get()] = Expr(var);
        copy.var = var;
        kept.push_back(std::move(copy));
    }
    tir::Block init{.name = initName};
    for (const tir::IterVar& iter : old.iters) {
        if (iter.kind == IterKind::Reduce) {
            reducing[iter.var.get()] = {0, 0};
            continue;
        }
        tir::IterVar copy = iter;
        copy.var = tir::makeVar(iter.var->name);
        copy.binding = tir::substitute(iter.binding, loopVars);
        blockVars[iter.var.get()] = Expr(copy.var);
        init.iters.push_back(std::move(copy));
    }
    const auto isSpatial = [&](const Expr& term) { return !usesAny(term, reducing); };
    loopVars.insert(blockVars.begin(), blockVars.end());
    init.predicate = tir::substitute(termsWhere(old.predicate, isSpatial), loopVars);
    Stmt nest = tir::block(std::move(init), nullptr, tir::substitute(site->stmt->init, blockVars));
    for (size_t i = kept.size(); i-- > 0;) nest = tir::forLoop(kept[i], nest);

    const Stmt update = tir::block(old, nullptr, site->stmt->body);
    const Stmt inner = tir::replaceStmt(loops[first], site->stmt.get(), update);
    m_function.body = tir::replaceStmt(named, loops[first].get(), tir::seq({nest, inner}));
    record(kName, {block, loop}, {}, {initName});
    return initName;
}

} // namespace tenon::compiler
