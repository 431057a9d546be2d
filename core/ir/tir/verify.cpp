// SPDX-License-Identifier: Apache-2.0
// Structural rules of the loop IR.
#include "core/base/text.h"
#include "core/ir/tir/text.h"

#include <optional>
#include <unordered_set>

namespace tenon::tir {
namespace {

class Verifier
{
public:
    std::optional<Diagnostic> run(const PrimFunc& function)
    {
        for (const Var& size : function.sizes) m_bound.insert(size.get());
        for (const Buffer& param : function.params) declare(param);
        if (function.outputCount > function.params.size())
            fail("function has more outputs than parameters");
        visit(function.body);
        return m_error;
    }

private:
    std::optional<Diagnostic> m_error;
    std::unordered_set<const void*> m_bound;

    void fail(std::string message)
    {
        if (!m_error) m_error = makeError(DiagnosticCode::InvalidIr, std::move(message));
    }

    void declare(const Buffer& buffer)
    {
        for (const Expr& dim : buffer->shape) visit(dim);
        if (!buffer->strides.empty() && buffer->strides.size() != buffer->shape.size())
            fail("buffer " + quoted(buffer->name) + " has strides of another rank");
        m_bound.insert(buffer.get());
    }

    void access(const BufferNode& buffer, const std::vector<Expr>& indices)
    {
        if (!m_bound.contains(&buffer)) fail("buffer " + quoted(buffer.name) + " is not declared");
        if (indices.size() != buffer.shape.size())
            fail("buffer " + quoted(buffer.name) + " of rank " +
                 std::to_string(buffer.shape.size()) + " is accessed with " +
                 std::to_string(indices.size()) + " indices");
        for (const Expr& index : indices) {
            visit(index);
            if (!index->dtype.isInt()) fail("index of " + quoted(buffer.name) + " is no integer");
        }
    }

    void condition(const Expr& expr)
    {
        visit(expr);
        if (!expr->dtype.isBool()) fail("condition " + quoted(print(expr)) + " is not bool");
    }

    void visit(const Expr& expr)
    {
        if (expr.get() == nullptr) return fail("expression is missing");
        switch (expr->kind) {
        case ExprKind::VarRef:
            if (!m_bound.contains(expr->var.get()))
                fail("variable " + quoted(expr->var->name) + " is not bound");
            return;
        case ExprKind::Load: return access(*expr->buffer, expr->args);
        default: break;
        }
        for (const Expr& arg : expr->args) visit(arg);
        if (expr->args.size() == 2 && expr->kind < ExprKind::Not &&
            expr->args[0]->dtype != expr->args[1]->dtype)
            fail("operands of " + quoted(print(expr)) + " differ in type");
    }

    void inside(const std::vector<const void*>& names, const Stmt& body)
    {
        for (const void* name : names)
            if (!m_bound.insert(name).second) fail("a variable or buffer is bound twice");
        visit(body);
        for (const void* name : names) m_bound.erase(name);
    }

    void block(const StmtNode& stmt)
    {
        const Block& block = stmt.block;
        std::vector<const void*> names;
        bool reduces = false;
        for (const IterVar& iter : block.iters) {
            visit(iter.extent);
            visit(iter.binding);
            names.push_back(iter.var.get());
            reduces = reduces || iter.kind == IterKind::Reduce;
            if (iter.binding.get() && iter.binding->dtype != iter.var->dtype)
                fail("binding of " + quoted(iter.var->name) + " has another type");
        }
        if (stmt.init && !reduces)
            fail("block " + quoted(block.name) + " has an init but no reduce axis");
        for (const Buffer& buffer : block.allocs) {
            declare(buffer);
            m_bound.erase(buffer.get());
            names.push_back(buffer.get());
        }
        // The predicate may use the block's own variables.
        if (block.predicate) inside(names, evaluate(block.predicate));
        if (block.predicate.get() && !block.predicate->dtype.isBool())
            fail("predicate of block " + quoted(block.name) + " is not bool");
        if (stmt.init) inside(names, stmt.init);
        inside(names, stmt.body);
    }

    void visit(const Stmt& stmt)
    {
        if (!stmt || m_error) return;
        switch (stmt->kind) {
        case StmtKind::Seq:
            for (const Stmt& child : stmt->stmts) visit(child);
            return;
        case StmtKind::For:
            visit(stmt->loop.min);
            visit(stmt->loop.extent);
            return inside({stmt->loop.var.get()}, stmt->body);
        case StmtKind::Block: return block(*stmt);
        case StmtKind::Store: {
            access(*stmt->buffer, stmt->indices);
            visit(stmt->value);
            if (stmt->value.get() && stmt->value->dtype.scalar() != stmt->buffer->dtype.scalar())
                fail("stores " + stmt->value->dtype.text() + " into " + quoted(stmt->buffer->name) +
                     " of " + stmt->buffer->dtype.text());
            return;
        }
        case StmtKind::If:
            condition(stmt->condition);
            visit(stmt->body);
            return visit(stmt->orElse);
        case StmtKind::While: condition(stmt->condition); return visit(stmt->body);
        case StmtKind::Let: visit(stmt->value); return inside({stmt->var.get()}, stmt->body);
        case StmtKind::Allocate:
            for (const Expr& dim : stmt->buffer->shape) visit(dim);
            return inside({stmt->buffer.get()}, stmt->body);
        case StmtKind::Evaluate: return visit(stmt->value);
        }
    }
};

} // namespace

Status verify(const PrimFunc& function)
{
    if (auto error = Verifier().run(function)) return *error;
    return kDone;
}

} // namespace tenon::tir
