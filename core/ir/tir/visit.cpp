// SPDX-License-Identifier: Apache-2.0
// Walks, bottom-up rewrites and substitution of loop-IR trees.
#include "core/ir/tir/visit.h"

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

/// A copy-on-write statement: fields that come back unchanged leave the original untouched.
class Edit
{
public:
    Edit(const Stmt& original, const RewriteExpr& rewrite)
        : m_original(original)
        , m_copy(*original)
        , m_rewrite(rewrite)
    {
    }

    void expr(Expr& field)
    {
        if (!m_rewrite || field.get() == nullptr) return;
        Expr after = rewriteExpr(field, m_rewrite);
        if (after.get() == field.get()) return;
        field = std::move(after);
        m_changed = true;
    }
    void stmt(Stmt& field, const RewriteStmt& rewrite)
    {
        if (!field) return;
        Stmt after = rewriteStmt(field, rewrite, m_rewrite);
        if (after == field) return;
        field = std::move(after);
        m_changed = true;
    }
    StmtNode& node() { return m_copy; }
    Stmt finish()
    {
        if (!m_changed) return m_original;
        if (m_copy.kind == StmtKind::Seq) return seq(std::move(m_copy.stmts));
        return std::make_shared<const StmtNode>(std::move(m_copy));
    }

private:
    const Stmt& m_original;
    StmtNode m_copy;
    const RewriteExpr& m_rewrite;
    bool m_changed = false;
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
    StmtNode copy = *stmt;
    bool changed = false;
    const auto replace = [&](Buffer& buffer) {
        if (!buffer) return;
        const Buffer after = mapped(buffer, buffers);
        changed = changed || after != buffer;
        buffer = after;
    };
    replace(copy.buffer);
    for (Buffer& buffer : copy.block.allocs) replace(buffer);
    return changed ? std::make_shared<const StmtNode>(std::move(copy)) : stmt;
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
    Edit edit(root, rewriteExpr);
    StmtNode& node = edit.node();
    if (node.kind == StmtKind::For) {
        edit.expr(node.loop.min);
        edit.expr(node.loop.extent);
    }
    for (IterVar& iter : node.block.iters) {
        edit.expr(iter.extent);
        edit.expr(iter.binding);
    }
    edit.expr(node.block.predicate);
    for (Expr& index : node.indices) edit.expr(index);
    edit.expr(node.value);
    edit.expr(node.condition);
    for (Stmt& stmt : node.stmts) edit.stmt(stmt, rewrite);
    edit.stmt(node.init, rewrite);
    edit.stmt(node.body, rewrite);
    edit.stmt(node.orElse, rewrite);
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
    StmtNode copy = *root;
    bool changed = false;
    const auto replace = [&](Stmt& field) {
        const Stmt after = replaceStmt(field, target, replacement);
        changed = changed || after != field;
        field = after;
    };
    for (Stmt& stmt : copy.stmts) replace(stmt);
    replace(copy.init);
    replace(copy.body);
    replace(copy.orElse);
    if (!changed) return root;
    if (copy.kind == StmtKind::Seq) return seq(std::move(copy.stmts));
    return std::make_shared<const StmtNode>(std::move(copy));
}

} // namespace tenon::tir
