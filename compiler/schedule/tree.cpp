// SPDX-License-Identifier: Apache-2.0
// Finding and editing loops, blocks and buffers by name.
#include "compiler/schedule/tree.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/region.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

using Wanted = std::function<bool(const Stmt&)>;

bool find(const Stmt& stmt, const Wanted& wanted, std::vector<Stmt>& path)
{
    if (!stmt) return false;
    path.push_back(stmt);
    if (wanted(stmt)) return true;
    for (const Stmt& child : stmt->stmts)
        if (find(child, wanted, path)) return true;
    for (const Stmt* child : {&stmt->init, &stmt->body, &stmt->orElse})
        if (find(*child, wanted, path)) return true;
    path.pop_back();
    return false;
}

std::optional<Site> siteOf(const Stmt& root, const Wanted& wanted)
{
    std::vector<Stmt> path;
    if (!find(root, wanted, path)) return std::nullopt;
    Stmt stmt = path.back();
    path.pop_back();
    return Site{std::move(stmt), std::move(path)};
}

std::string fresh(const std::set<std::string>& used, const std::string& base)
{
    std::string name = base;
    for (int suffix = 1; used.contains(name); ++suffix) name = base + "_" + std::to_string(suffix);
    return name;
}

size_t blockCount(const Stmt& stmt) { return blocksIn(stmt).size(); }

Stmt editAllocs(const Stmt& root, const std::function<void(std::vector<Buffer>&)>& edit)
{
    tir::Block block = root->block;
    edit(block.allocs);
    return withBlock(root, std::move(block));
}

/// Variables that stand in a Min of a binding: where the tiles of an overlapping split begin.
void overlapVars(const Expr& binding, tir::Ranges& out)
{
    tir::visitExprs(binding, [&](const Expr& expr) {
        if (expr->kind != ExprKind::Min) return true;
        tir::visitExprs(expr, [&](const Expr& e) {
            if (e->kind == ExprKind::VarRef) out[e->var.get()] = {0, 0};
            return true;
        });
        return false;
    });
}

} // namespace

std::optional<Site> siteOfLoop(const Stmt& root, std::string_view name)
{
    return siteOf(root, [&](const Stmt& stmt) {
        return stmt->kind == StmtKind::For && stmt->loop.var->name == name;
    });
}

std::optional<Site> siteOfBlock(const Stmt& root, std::string_view name)
{
    return siteOf(root, [&](const Stmt& stmt) {
        return stmt->kind == StmtKind::Block && stmt != root && stmt->block.name == name;
    });
}

std::vector<Stmt> loopsAbove(const Site& site)
{
    std::vector<Stmt> loops;
    for (const Stmt& stmt : site.above) {
        if (stmt->kind == StmtKind::Block) loops.clear();
        if (stmt->kind == StmtKind::For) loops.push_back(stmt);
    }
    return loops;
}

tir::Ranges rangesAbove(const Site& site)
{
    tir::Ranges ranges;
    for (const Stmt& stmt : site.above)
        if (stmt->kind == StmtKind::For)
            if (const auto range = rangeOf(stmt->loop)) ranges[stmt->loop.var.get()] = *range;
    return ranges;
}

std::vector<Stmt> blocksIn(const Stmt& stmt)
{
    std::vector<Stmt> blocks;
    tir::visitStmts(stmt, [&](const Stmt& s) {
        if (s->kind == StmtKind::Block && s->block.name != "root") blocks.push_back(s);
        return true;
    });
    return blocks;
}

std::vector<Buffer> writtenIn(const Stmt& stmt)
{
    std::vector<Buffer> out;
    tir::visitStmts(stmt, [&](const Stmt& s) {
        if (s->kind == StmtKind::Store && std::find(out.begin(), out.end(), s->buffer) == out.end())
            out.push_back(s->buffer);
        return true;
    });
    return out;
}

std::vector<Buffer> readIn(const Stmt& stmt)
{
    std::vector<Buffer> out;
    tir::visitExprsIn(stmt, [&](const Expr& e) {
        if (e->kind == ExprKind::Load && std::find(out.begin(), out.end(), e->buffer) == out.end())
            out.push_back(e->buffer);
        return true;
    });
    return out;
}

bool reads(const Stmt& stmt, const Buffer& buffer)
{
    const std::vector<Buffer> buffers = readIn(stmt);
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

bool writes(const Stmt& stmt, const Buffer& buffer)
{
    const std::vector<Buffer> buffers = writtenIn(stmt);
    return std::find(buffers.begin(), buffers.end(), buffer) != buffers.end();
}

Buffer bufferNamed(const tir::PrimFunc& function, std::string_view name)
{
    for (const Buffer& param : function.params)
        if (param->name == name) return param;
    Buffer found;
    tir::visitStmts(function.body, [&](const Stmt& stmt) {
        for (const Buffer& buffer : stmt->block.allocs)
            if (buffer->name == name) found = buffer;
        return true;
    });
    return found;
}

bool isParameter(const tir::PrimFunc& function, const Buffer& buffer)
{
    return std::find(function.params.begin(), function.params.end(), buffer) !=
           function.params.end();
}

std::string freshLoopName(const Stmt& root, const std::string& base)
{
    std::set<std::string> used;
    tir::visitStmts(root, [&](const Stmt& stmt) {
        if (stmt->kind == StmtKind::For) used.insert(stmt->loop.var->name);
        return true;
    });
    return fresh(used, base);
}

std::string freshBlockName(const Stmt& root, const std::string& base)
{
    std::set<std::string> used{"root"};
    for (const Stmt& stmt : blocksIn(root)) used.insert(stmt->block.name);
    return fresh(used, base);
}

std::string freshBufferName(const tir::PrimFunc& function, const std::string& base)
{
    std::set<std::string> used;
    for (const Buffer& param : function.params) used.insert(param->name);
    tir::visitStmts(function.body, [&](const Stmt& stmt) {
        for (const Buffer& buffer : stmt->block.allocs) used.insert(buffer->name);
        return true;
    });
    return fresh(used, base);
}

Stmt withAlloc(const Stmt& root, const Buffer& buffer)
{
    return editAllocs(root, [&](std::vector<Buffer>& allocs) { allocs.push_back(buffer); });
}

Stmt withoutAlloc(const Stmt& root, const Buffer& buffer)
{
    return editAllocs(root, [&](std::vector<Buffer>& allocs) { std::erase(allocs, buffer); });
}

Stmt nestOf(const Site& block)
{
    Stmt nest = block.stmt;
    const size_t own = blockCount(nest);
    for (size_t i = block.above.size(); i-- > 0;) {
        const Stmt& stmt = block.above[i];
        if (stmt->kind != StmtKind::For || blockCount(stmt) != own) break;
        nest = stmt;
    }
    return nest;
}

Stmt withoutBlock(const Stmt& root, const Site& block)
{
    return tir::replaceStmt(root, nestOf(block).get(), nullptr);
}

Stmt withBlock(const Stmt& stmt, tir::Block block)
{
    return tir::block(std::move(block), stmt->init, stmt->body);
}

Stmt guarded(const Stmt& stmt, const Expr& condition)
{
    if (!stmt) return stmt;
    if (stmt->kind == StmtKind::Block) {
        tir::Block block = stmt->block;
        block.predicate = block.predicate ? block.predicate && condition : condition;
        return withBlock(stmt, std::move(block));
    }
    tir::StmtNode copy = *stmt;
    for (Stmt& child : copy.stmts) child = guarded(child, condition);
    copy.body = guarded(copy.body, condition);
    copy.orElse = guarded(copy.orElse, condition);
    return std::make_shared<const tir::StmtNode>(std::move(copy));
}

Expr termsWhere(const Expr& predicate, const std::function<bool(const Expr&)>& keep)
{
    if (predicate.get() == nullptr) return {};
    if (predicate->kind != ExprKind::And) return keep(predicate) ? predicate : Expr();
    const Expr a = termsWhere(predicate->args[0], keep);
    const Expr b = termsWhere(predicate->args[1], keep);
    if (a.get() && b.get()) return a && b;
    return a.get() ? a : b;
}

bool repeatsReduction(const Stmt& root)
{
    for (const Stmt& block : blocksIn(root)) {
        tir::Ranges overlapping;
        for (const tir::IterVar& iter : block->block.iters) overlapVars(iter.binding, overlapping);
        if (overlapping.empty()) continue;
        const auto site = siteOf(root, [&](const Stmt& stmt) { return stmt == block; });
        bool reduces = false;
        for (const Stmt& loop : loopsAbove(*site)) {
            if (reduces && overlapping.contains(loop->loop.var.get())) return true;
            for (const tir::IterVar& iter : block->block.iters)
                reduces = reduces || (iter.kind == tir::IterKind::Reduce &&
                                      usesVar(iter.binding, loop->loop.var.get()));
        }
    }
    return false;
}

bool isNumber(const Expr& expr, int number)
{
    return expr.isConstInt(number) || (expr->kind == ExprKind::FloatImm && expr->number == number);
}

Diagnostic badSchedule(std::string_view primitive, const std::string& message)
{
    return makeError(DiagnosticCode::BadSchedule, quoted(primitive) + " " + message);
}

Diagnostic unknownLoop(std::string_view primitive, std::string_view loop)
{
    return badSchedule(primitive, "names loop " + quoted(loop) + " which does not exist");
}

Diagnostic unknownBlock(std::string_view primitive, std::string_view block)
{
    return badSchedule(primitive, "names block " + quoted(block) + " which does not exist");
}

} // namespace tenon::compiler
