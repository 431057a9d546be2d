// SPDX-License-Identifier: Apache-2.0
// decompose_reduction: the init of a reduction becomes a block of its own before a loop.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <functional>
#include <span>

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

/// Why a reduction cannot be taken apart.
using Refusal = std::function<Diagnostic(const std::string& why)>;

/// Loops around the init: copies of those inside that do not only reduce.
struct InitLoops
{
    std::vector<tir::Loop> loops;
    tir::VarMap copies;   ///< by the old loops' variables
    tir::Ranges reducing; ///< what the init has nothing of
};

Result<InitLoops> initLoops(const Stmt& root, const tir::Block& block, std::span<const Stmt> loops,
                            const Refusal& refuse)
{
    InitLoops init;
    for (const Stmt& loop : loops) {
        tir::Loop copy = loop->loop;
        const tir::VarNode* old = copy.var.get();
        const bool reduces = isUsedBy(block, IterKind::Reduce, old);
        if (reduces && isUsedBy(block, IterKind::Spatial, old))
            return refuse("loop " + quoted(copy.var->name) + " mixes spatial and reduce axes");
        if (reduces) init.reducing[old] = {0, 0};
        if (reduces || !isUsedBy(block, IterKind::Spatial, old)) continue;
        copy.var = tir::makeVar(freshLoopName(root, copy.var->name + "_init"));
        init.copies[old] = Expr(copy.var);
        init.loops.push_back(std::move(copy));
    }
    return init;
}

/// The init of `update` as a block of its own in its loops.
Stmt initNest(const Stmt& update, InitLoops init, std::string name)
{
    tir::Block block{.name = std::move(name)};
    tir::VarMap axes;
    for (const tir::IterVar& iter : update->block.iters) {
        if (iter.kind == IterKind::Reduce) {
            init.reducing[iter.var.get()] = {0, 0};
            continue;
        }
        tir::IterVar copy = iter;
        copy.var = tir::makeVar(iter.var->name);
        copy.binding = tir::substitute(iter.binding, init.copies);
        axes[iter.var.get()] = Expr(copy.var);
        block.iters.push_back(std::move(copy));
    }
    const auto isSpatial = [&](const Expr& term) { return !usesAny(term, init.reducing); };
    tir::VarMap all = init.copies;
    all.insert(axes.begin(), axes.end());
    block.predicate = tir::substitute(termsWhere(update->block.predicate, isSpatial), all);
    Stmt nest = tir::block(std::move(block), nullptr, tir::substitute(update->init, axes));
    for (size_t i = init.loops.size(); i-- > 0;) nest = tir::forLoop(init.loops[i], nest);
    return nest;
}

} // namespace

Result<std::string> Primitives::decomposeReduction(std::string block, std::string loop)
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

    const std::string initName = freshBlockName(m_function.body, block + "_init");
    auto around = initLoops(m_function.body, old, std::span(loops).subspan(first), refuse);
    if (!around) return around.error();
    const Stmt nest = initNest(site->stmt, std::move(*around), initName);
    const Stmt update = tir::block(old, nullptr, site->stmt->body);
    const Stmt inner = tir::replaceStmt(loops[first], site->stmt.get(), update);
    m_function.body =
        tir::replaceStmt(m_function.body, loops[first].get(), tir::seq({nest, inner}));
    record(kName, {block, loop}, {}, {initName});
    return initName;
}

} // namespace tenon::compiler
