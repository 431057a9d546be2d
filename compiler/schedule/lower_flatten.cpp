// SPDX-License-Identifier: Apache-2.0
// Lowering step: every buffer gets one dimension.
#include "compiler/schedule/lower.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

Expr strideOf(const tir::BufferNode& buffer, size_t dim)
{
    if (!buffer.strides.empty()) return buffer.strides[dim];
    Expr stride = 1;
    for (size_t inner = dim + 1; inner < buffer.shape.size(); ++inner)
        stride = stride * buffer.shape[inner];
    return stride;
}

std::vector<Expr> flatIndex(const tir::BufferNode& buffer, const std::vector<Expr>& indices)
{
    Expr sum = 0;
    for (size_t dim = 0; dim < indices.size(); ++dim)
        sum = sum + indices[dim] * strideOf(buffer, dim);
    return {sum};
}

class Flattener
{
public:
    Buffer flat(const Buffer& buffer)
    {
        const auto known = m_flat.find(buffer.get());
        if (known != m_flat.end()) return known->second;
        tir::BufferNode node = *buffer;
        const Expr size = buffer->shape.empty() ? Expr(1) : buffer->shape[0] * strideOf(*buffer, 0);
        node.shape = {size};
        node.strides.clear();
        return m_flat[buffer.get()] = std::make_shared<const tir::BufferNode>(std::move(node));
    }

    Stmt visit(const Stmt& body)
    {
        return tir::rewriteStmt(
            body,
            [&](const Stmt& stmt) {
                if (stmt->kind == StmtKind::Allocate)
                    return tir::allocate(flat(stmt->buffer), stmt->body);
                if (stmt->kind != StmtKind::Store) return stmt;
                return tir::store(flat(stmt->buffer), flatIndex(*stmt->buffer, stmt->indices),
                                  stmt->value);
            },
            [&](const Expr& expr) {
                if (expr->kind != ExprKind::Load) return expr;
                return tir::load(flat(expr->buffer), flatIndex(*expr->buffer, expr->args));
            });
    }

private:
    tir::BufferMap m_flat;
};

} // namespace

tir::PrimFunc flattenBuffers(const tir::PrimFunc& function)
{
    Flattener flattener;
    tir::PrimFunc out = function;
    for (Buffer& param : out.params) param = flattener.flat(param);
    out.body = flattener.visit(function.body);
    return out;
}

} // namespace tenon::compiler
