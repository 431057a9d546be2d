// SPDX-License-Identifier: Apache-2.0
// cache_words: a sum of dot products of bytes works on a copy of its data as whole words.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Intrinsic;
using tir::Stmt;

bool isDot(const Expr& expr)
{
    return expr->kind == ExprKind::Intrinsic &&
           (expr->intrinsic == Intrinsic::DotI8I8 || expr->intrinsic == Intrinsic::DotI8Narrow ||
            expr->intrinsic == Intrinsic::DotU8I8);
}

/// The only dot product of a statement; nothing where there are none or several.
Expr dotIn(const Stmt& stmt)
{
    Expr found;
    int count = 0;
    tir::visitExprsIn(stmt, [&](const Expr& expr) {
        if (!isDot(expr)) return true;
        found = expr;
        ++count;
        return false;
    });
    return count == 1 ? found : Expr();
}

/// The axes of a block that an expression uses, those of sums first, so that what one step reads
/// for several results lies side by side, or last.
std::vector<tir::IterVar> axesUsedBy(const tir::Block& block, const Expr& expr, bool areSumsLast)
{
    std::vector<tir::IterVar> used;
    for (const tir::IterVar& iter : block.iters) {
        bool isUsed = false;
        tir::visitExprs(expr, [&](const Expr& e) {
            isUsed = isUsed || (e->kind == ExprKind::VarRef && e->var == iter.var);
            return !isUsed;
        });
        if (isUsed) used.push_back(iter);
    }
    std::stable_partition(used.begin(), used.end(), [areSumsLast](const tir::IterVar& iter) {
        return (iter.kind == tir::IterKind::Spatial) == areSumsLast;
    });
    return used;
}

/// Loops and a block named `name` that store `word` of each step of the axes.
Stmt wordNest(const Stmt& root, const std::string& name, const std::vector<tir::IterVar>& axes,
              const Expr& word, const Buffer& to)
{
    tir::Block block{.name = name};
    std::vector<tir::Loop> loops;
    std::vector<Expr> indices;
    tir::VarMap own;
    for (size_t dim = 0; dim < axes.size(); ++dim) {
        const std::string loop = freshLoopName(root, name + "_" + std::to_string(dim));
        loops.push_back({.var = tir::makeVar(loop), .extent = axes[dim].extent});
        const tir::Var var = tir::makeVar("v" + std::to_string(dim));
        block.iters.push_back(
            {.var = var, .extent = axes[dim].extent, .binding = loops.back().var});
        indices.emplace_back(var);
        own[axes[dim].var.get()] = Expr(var);
    }
    Stmt nest =
        tir::block(std::move(block), nullptr, tir::store(to, indices, tir::substitute(word, own)));
    for (size_t i = loops.size(); i-- > 0;) nest = tir::forLoop(loops[i], nest);
    return nest;
}

} // namespace

Result<std::string> Primitives::cacheWords(std::string block, tir::Scope scope, bool areSumsLast)
{
    constexpr const char* kName = "cache_words";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + ": " + why);
    };
    const Expr dot = dotIn(site->stmt->body);
    if (!dot.get()) return refuse("it does not compute one dot product of bytes");
    const Expr word = dot->args[1];
    const std::vector<tir::IterVar> axes = axesUsedBy(site->stmt->block, word, areSumsLast);
    std::vector<Expr> shape, indices;
    for (const tir::IterVar& axis : axes) {
        shape.push_back(axis.extent);
        indices.emplace_back(axis.var);
    }
    const Buffer to = tir::makeBuffer(freshBufferName(m_function, "words"), shape, kInt32, scope);
    const std::string name = freshBlockName(m_function.body, to->name);
    const Stmt nest = nestOf(*site);
    const Stmt body = tir::rewriteStmt(
        site->stmt->body, [](const Stmt& stmt) { return stmt; },
        [&](const Expr& expr) {
            if (!isDot(expr)) return expr;
            return tir::withArgs(expr, {expr->args[0], tir::load(to, indices), expr->args[2]});
        });
    const Stmt reading = tir::replaceStmt(nest, site->stmt.get(),
                                          tir::block(site->stmt->block, site->stmt->init, body));
    const Stmt copy = wordNest(m_function.body, name, axes, word, to);
    const Stmt root = tir::replaceStmt(m_function.body, nest.get(), tir::seq({copy, reading}));
    m_function.body = withAlloc(root, to);
    Attrs attrs{{"scope", std::string(tir::scopeText(scope))}};
    if (areSumsLast) attrs.set("sums_last", 1);
    record(kName, {block}, std::move(attrs), {name});
    return name;
}

} // namespace tenon::compiler
