// SPDX-License-Identifier: Apache-2.0
// Structural equality of loop-IR trees up to renaming of bound variables and buffers.
#include "core/ir/tir/visit.h"

#include <bit>

namespace tenon::tir {
namespace {

/// Compares two trees side by side; definitions met on the way are paired one to one.
class Comparer
{
public:
    bool expr(const Expr& a, const Expr& b)
    {
        if (a.get() == nullptr || b.get() == nullptr) return a.get() == b.get();
        if (a->kind != b->kind || a->dtype != b->dtype || a->args.size() != b->args.size())
            return false;
        switch (a->kind) {
        case ExprKind::IntImm: return a->integer == b->integer;
        case ExprKind::FloatImm:
            return std::bit_cast<uint64_t>(a->number) == std::bit_cast<uint64_t>(b->number);
        case ExprKind::VarRef: return var(a->var, b->var);
        case ExprKind::Load:
            if (!buffer(a->buffer, b->buffer)) return false;
            break;
        case ExprKind::Intrinsic:
            if (a->intrinsic != b->intrinsic) return false;
            break;
        default: break;
        }
        return exprs(a->args, b->args);
    }

    bool exprs(const std::vector<Expr>& a, const std::vector<Expr>& b)
    {
        if (a.size() != b.size()) return false;
        for (size_t i = 0; i < a.size(); ++i)
            if (!expr(a[i], b[i])) return false;
        return true;
    }

    bool stmt(const Stmt& a, const Stmt& b)
    {
        if (!a || !b) return !a && !b;
        if (a->kind != b->kind || a->stmts.size() != b->stmts.size()) return false;
        if (!header(*a, *b)) return false;
        for (size_t i = 0; i < a->stmts.size(); ++i)
            if (!stmt(a->stmts[i], b->stmts[i])) return false;
        return exprs(a->indices, b->indices) && expr(a->value, b->value) &&
               expr(a->condition, b->condition) && stmt(a->init, b->init) &&
               stmt(a->body, b->body) && stmt(a->orElse, b->orElse);
    }

    void define(const Var& a, const Var& b)
    {
        m_vars[a.get()] = b.get();
        m_varsBack[b.get()] = a.get();
    }

    bool defineBuffer(const Buffer& a, const Buffer& b)
    {
        if (a->dtype != b->dtype || a->scope != b->scope || a->alignment != b->alignment)
            return false;
        if (!exprs(a->shape, b->shape) || !exprs(a->strides, b->strides)) return false;
        m_buffers[a.get()] = b.get();
        m_buffersBack[b.get()] = a.get();
        return true;
    }

private:
    bool header(const StmtNode& a, const StmtNode& b)
    {
        switch (a.kind) {
        case StmtKind::For: return loop(a.loop, b.loop);
        case StmtKind::Block: return block(a.block, b.block);
        case StmtKind::Store: return buffer(a.buffer, b.buffer);
        case StmtKind::Allocate: return defineBuffer(a.buffer, b.buffer);
        case StmtKind::Let:
            if (a.var->dtype != b.var->dtype) return false;
            define(a.var, b.var);
            return true;
        default: return true;
        }
    }

    bool loop(const Loop& a, const Loop& b)
    {
        if (a.kind != b.kind || a.threadTag != b.threadTag || a.var->dtype != b.var->dtype)
            return false;
        if (!expr(a.min, b.min) || !expr(a.extent, b.extent)) return false;
        define(a.var, b.var);
        return true;
    }

    bool block(const Block& a, const Block& b)
    {
        if (a.name != b.name || a.iters.size() != b.iters.size() ||
            a.allocs.size() != b.allocs.size() || !(a.annotations == b.annotations))
            return false;
        for (size_t i = 0; i < a.iters.size(); ++i) {
            const IterVar& x = a.iters[i];
            const IterVar& y = b.iters[i];
            if (x.kind != y.kind || !expr(x.extent, y.extent) || !expr(x.binding, y.binding))
                return false;
        }
        for (size_t i = 0; i < a.iters.size(); ++i) define(a.iters[i].var, b.iters[i].var);
        for (size_t i = 0; i < a.allocs.size(); ++i)
            if (!defineBuffer(a.allocs[i], b.allocs[i])) return false;
        return expr(a.predicate, b.predicate);
    }

    template <class Node>
    static bool paired(const std::unordered_map<const Node*, const Node*>& forward,
                       const std::unordered_map<const Node*, const Node*>& back, const Node* a,
                       const Node* b)
    {
        const auto found = forward.find(a);
        if (found != forward.end()) return found->second == b;
        return a == b && !back.contains(b);
    }
    bool var(const Var& a, const Var& b) { return paired(m_vars, m_varsBack, a.get(), b.get()); }
    bool buffer(const Buffer& a, const Buffer& b)
    {
        return paired(m_buffers, m_buffersBack, a.get(), b.get());
    }

    std::unordered_map<const VarNode*, const VarNode*> m_vars, m_varsBack;
    std::unordered_map<const BufferNode*, const BufferNode*> m_buffers, m_buffersBack;
};

} // namespace

bool structuralEqual(const Expr& a, const Expr& b) { return Comparer().expr(a, b); }

bool structuralEqual(const PrimFunc& a, const PrimFunc& b)
{
    if (a.params.size() != b.params.size() || a.sizes.size() != b.sizes.size() ||
        a.outputCount != b.outputCount || !(a.attrs == b.attrs))
        return false;
    Comparer comparer;
    for (size_t i = 0; i < a.sizes.size(); ++i) comparer.define(a.sizes[i], b.sizes[i]);
    for (size_t i = 0; i < a.params.size(); ++i)
        if (!comparer.defineBuffer(a.params[i], b.params[i])) return false;
    return comparer.stmt(a.body, b.body);
}

} // namespace tenon::tir
