// SPDX-License-Identifier: Apache-2.0
// Walks, bottom-up rewrites and substitution of loop-IR trees.
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

namespace tenon::tir {
namespace {

bool isSame(const std::vector<Expr>& a, const std::vector<Expr>& b)
{
    for (size_t i = 0; i < a.size(); ++i)
        if (a[i].get() != b[i].get()) return false;
    return true;
}

int widest(const std::vector<Expr>& args)
{
    int lanes = 1;
    for (const Expr& arg : args) lanes = std::max<int>(lanes, arg->dtype.lanes);
    return lanes;
}

using RewriteExpr = std::function<Expr(const Expr&)>;
using RewriteStmt = std::function<Stmt(const Stmt&)>;

/// A copy-on-write statement: it is copied when the first field changes. `at` gives a field of a
/// statement, of the original or of the copy.
class Edit
{
public:
    explicit Edit(const Stmt& original)
        : m_original(original)
    {
    }

    template <class At>
    void expr(At at, const RewriteExpr& rewrite)
    {
        const Expr& field = at(*m_original);
        if (!rewrite || field.get() == nullptr) return;
        Expr after = rewriteExpr(field, rewrite);
        if (after.get() != field.get()) at(copy()) = std::move(after);
    }
    template <class At, class Rewrite>
    void stmt(At at, Rewrite rewrite)
    {
        const Stmt& field = at(*m_original);
        if (!field) return;
        Stmt after = rewrite(field);
        if (after != field) at(copy()) = std::move(after);
    }
    /// Of all statements inside.
    template <class Rewrite>
    void stmts(Rewrite rewrite)
    {
        for (size_t i = 0; i < m_original->stmts.size(); ++i)
            stmt(
                [i](auto& node) -> auto& { return node.stmts[i]; }, rewrite);
        stmt(
            [](auto& node) -> auto& { return node.init; }, rewrite);
        stmt(
            [](auto& node) -> auto& { return node.body; }, rewrite);
        stmt(
            [](auto& node) -> auto& { return node.orElse; }, rewrite);
    }
    Stmt finish()
    {
        if (!m_copy) return m_original;
        if (m_copy->kind == StmtKind::Seq) return seq(std::move(m_copy->stmts));
        return std::make_shared<const StmtNode>(*std::move(m_copy));
    }

private:
    StmtNode& copy()
    {
        if (!m_copy) m_copy.emplace(*m_original);
        return *m_copy;
    }
    const Stmt& m_original;
    std::optional<StmtNode> m_copy;
};

/// Calls `visit` for the expressions that stand directly in the statement.
void eachExpr(const StmtNode& stmt, const std::function<void(const Expr&)>& visit)
{
    const auto field = [&](const Expr& expr) {
        if (expr) visit(expr);
    };
    if (stmt.kind == StmtKind::For) {
        field(stmt.loop.min);
        field(stmt.loop.extent);
    }
    for (const IterVar& iter : stmt.block.iters) {
        field(iter.extent);
        field(iter.binding);
    }
    field(stmt.block.predicate);
    for (const Expr& index : stmt.indices) field(index);
    field(stmt.value);
    field(stmt.condition);
}

Buffer mapped(const Buffer& buffer, const BufferMap& buffers)
{
    const auto found = buffers.find(buffer.get());
    return found == buffers.end() ? buffer : found->second;
}

Expr substituteOne(const Expr& expr, const VarMap& values, const BufferMap& buffers)
{
    if (expr->kind == ExprKind::VarRef) {
        const auto found = values.find(expr->var.get());
        return found == values.end() ? expr : found->second;
    }
    if (expr->kind != ExprKind::Load) return expr;
    const Buffer buffer = mapped(expr->buffer, buffers);
    return buffer == expr->buffer ? expr : load(buffer, expr->args);
}

Stmt substituteBuffers(const Stmt& stmt, const BufferMap& buffers)
{
    const std::vector<Buffer>& allocs = stmt->block.allocs;
    const auto changes = [&](const Buffer& buffer) { return buffers.count(buffer.get()) > 0; };
    if (!changes(stmt->buffer) && std::none_of(allocs.begin(), allocs.end(), changes)) return stmt;
    StmtNode copy = *stmt;
    copy.buffer = mapped(copy.buffer, buffers);
    for (Buffer& buffer : copy.block.allocs) buffer = mapped(buffer, buffers);
    return std::make_shared<const StmtNode>(std::move(copy));
}

} // namespace

Expr withArgs(const Expr& expr, std::vector<Expr> args)
{
    switch (expr->kind) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::VarRef: return expr;
    case ExprKind::Not: return !args[0];
    case ExprKind::Select: return select(args[0], args[1], args[2]);
    case ExprKind::Cast: return cast(expr->dtype.withLanes(args[0]->dtype.lanes), args[0]);
    case ExprKind::Load: return load(expr->buffer, std::move(args));
    case ExprKind::Ramp: return ramp(args[0], args[1], expr->dtype.lanes);
    case ExprKind::Broadcast: return broadcast(args[0], expr->dtype.lanes);
    case ExprKind::Intrinsic: {
        const DataType dtype = expr->dtype.withLanes(widest(args));
        return call(expr->intrinsic, dtype, std::move(args));
    }
    default: return binary(expr->kind, args[0], args[1]);
    }
}

void visitExprs(const Expr& root, const std::function<bool(const Expr&)>& visit)
{
    if (root.get() == nullptr || !visit(root)) return;
    for (const Expr& arg : root->args) visitExprs(arg, visit);
}

void visitStmts(const Stmt& root, const std::function<bool(const Stmt&)>& visit)
{
    if (!root || !visit(root)) return;
    for (const Stmt& stmt : root->stmts) visitStmts(stmt, visit);
    visitStmts(root->init, visit);
    visitStmts(root->body, visit);
    visitStmts(root->orElse, visit);
}

void visitExprsIn(const Stmt& root, const std::function<bool(const Expr&)>& visit)
{
    visitStmts(root, [&](const Stmt& stmt) {
        eachExpr(*stmt, [&](const Expr& expr) { visitExprs(expr, visit); });
        return true;
    });
}

Expr rewriteExpr(const Expr& root, const std::function<Expr(const Expr&)>& rewrite)
{
    if (root->args.empty()) return rewrite(root);
    std::vector<Expr> args;
    args.reserve(root->args.size());
    for (const Expr& arg : root->args) args.push_back(rewriteExpr(arg, rewrite));
    if (isSame(args, root->args)) return rewrite(root);
    return rewrite(withArgs(root, std::move(args)));
}

Stmt rewriteStmt(const Stmt& root, const std::function<Stmt(const Stmt&)>& rewrite,
                 const std::function<Expr(const Expr&)>& rewriteExpr)
{
    Edit edit(root);
    const auto expr = [&](auto at) { edit.expr(at, rewriteExpr); };
    if (root->kind == StmtKind::For) {
        expr([](auto& node) -> auto& { return node.loop.min; });
        expr([](auto& node) -> auto& { return node.loop.extent; });
    }
    for (size_t i = 0; i < root->block.iters.size(); ++i) {
        expr([i](auto& node) -> auto& { return node.block.iters[i].extent; });
        expr([i](auto& node) -> auto& { return node.block.iters[i].binding; });
    }
    expr([](auto& node) -> auto& { return node.block.predicate; });
    for (size_t i = 0; i < root->indices.size(); ++i)
        expr([i](auto& node) -> auto& { return node.indices[i]; });
    expr([](auto& node) -> auto& { return node.value; });
    expr([](auto& node) -> auto& { return node.condition; });
    edit.stmts([&](const Stmt& stmt) { return rewriteStmt(stmt, rewrite, rewriteExpr); });
    const Stmt after = edit.finish();
    return rewrite ? rewrite(after) : after;
}

Expr substitute(const Expr& root, const VarMap& values)
{
    if (root.get() == nullptr || values.empty()) return root;
    return rewriteExpr(root, [&](const Expr& expr) { return substituteOne(expr, values, {}); });
}

Stmt substitute(const Stmt& root, const VarMap& values, const BufferMap& buffers)
{
    if (!root || (values.empty() && buffers.empty())) return root;
    return rewriteStmt(
        root,
        [&](const Stmt& stmt) { return buffers.empty() ? stmt : substituteBuffers(stmt, buffers); },
        [&](const Expr& expr) { return substituteOne(expr, values, buffers); });
}

Stmt replaceStmt(const Stmt& root, const StmtNode* target, const Stmt& replacement)
{
    if (!root) return root;
    if (root.get() == target) return replacement;
    Edit edit(root);
    edit.stmts([&](const Stmt& stmt) { return replaceStmt(stmt, target, replacement); });
    return edit.finish();
}

} // namespace tenon::tir
