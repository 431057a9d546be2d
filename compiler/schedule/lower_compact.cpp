// SPDX-License-Identifier: Apache-2.0
// Lowering step: allocated buffers shrink to what is accessed while they live.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/region.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

using Indices = std::vector<tir::Expr>;
using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Ranges;
using tir::Stmt;
using tir::StmtKind;

using MapIndices = std::function<Indices(const Indices&)>;

Stmt replaceBuffer(const Stmt& body, const Buffer& from, const Buffer& to, const MapIndices& map)
{
    return tir::rewriteStmt(
        body,
        [&](const Stmt& stmt) {
            if (stmt->kind != StmtKind::Store || stmt->buffer != from) return stmt;
            return tir::store(to, map(stmt->indices), stmt->value);
        },
        [&](const Expr& expr) {
            if (expr->kind != ExprKind::Load || expr->buffer != from) return expr;
            return tir::load(to, map(expr->args));
        });
}

bool hasDivision(const Expr& expr)
{
    bool found = false;
    tir::visitExprs(expr, [&](const Expr& e) {
        found = found || e->kind == ExprKind::FloorDiv || e->kind == ExprKind::FloorMod;
        return !found;
    });
    return found;
}

/// Rows that were spaced apart stay so, by as much.
void restride(tir::BufferNode& node, const tir::BufferNode& before)
{
    if (before.strides.empty()) return;
    for (size_t dim = node.shape.size() - 1; dim-- > 0;) {
        const Expr between = before.strides[dim] - before.strides[dim + 1] * before.shape[dim + 1];
        node.strides[dim] = tir::simplify(node.strides[dim + 1] * node.shape[dim + 1] + between);
    }
}

class Compactor
{
public:
    Stmt visit(const Stmt& stmt)
    {
        if (!stmt) return stmt;
        if (stmt->kind == StmtKind::For) {
            if (const auto range = rangeOf(stmt->loop)) m_outer[stmt->loop.var.get()] = *range;
            return tir::forLoop(stmt->loop, visit(stmt->body));
        }
        if (stmt->kind == StmtKind::Allocate) return allocation(stmt);
        if (stmt->kind == StmtKind::Seq) {
            std::vector<Stmt> out;
            for (const Stmt& child : stmt->stmts) out.push_back(visit(child));
            return tir::seq(std::move(out));
        }
        if (!stmt->body) return stmt;
        tir::StmtNode copy = *stmt;
        copy.body = visit(copy.body);
        copy.orElse = visit(copy.orElse);
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

private:
    Ranges m_outer;

    Stmt allocation(const Stmt& stmt)
    {
        Stmt current = stmt;
        std::vector<Access> found = accessesOf(current->body, current->buffer);
        for (size_t dim = 0; dim + 1 < current->buffer->shape.size();) {
            const Stmt merged = mergeDims(current, dim, found);
            if (merged == current) {
                ++dim;
                continue;
            }
            current = merged;
            found = accessesOf(current->body, current->buffer);
        }
        current = heldInRegisters(shrink(current, found));
        return tir::allocate(current->buffer, visit(current->body));
    }

    /// Register buffers that no register file could hold become ordinary memory.
    static Stmt heldInRegisters(const Stmt& stmt)
    {
        constexpr int64_t kLargestFile = 8192;
        if (stmt->buffer->scope != tir::Scope::Register) return stmt;
        int64_t bytes = stmt->buffer->dtype.bytes();
        for (const Expr& extent : stmt->buffer->shape)
            bytes *= extent->kind == ExprKind::IntImm ? extent->integer : kLargestFile + 1;
        if (bytes <= kLargestFile) return stmt;
        tir::BufferNode node = *stmt->buffer;
        node.scope = tir::Scope::Local;
        const auto local = std::make_shared<const tir::BufferNode>(std::move(node));
        return tir::allocate(local, tir::substitute(stmt->body, {}, {{stmt->buffer.get(), local}}));
    }

    /// Joins dimensions `dim` and `dim + 1` when the accesses come from one fused loop, so that
    /// e // n and e % n are again the affine e.
    Stmt mergeDims(const Stmt& stmt, size_t dim, const std::vector<Access>& found)
    {
        const Buffer& buffer = stmt->buffer;
        if (buffer->shape[dim + 1]->kind != ExprKind::IntImm || !buffer->strides.empty())
            return stmt;
        const int64_t width = buffer->shape[dim + 1]->integer;
        const bool isUseful = std::any_of(found.begin(), found.end(), [&](const Access& access) {
            return hasDivision(access.indices[dim + 1]);
        });
        if (!isUseful) return stmt;
        const auto joinedIndex = [&](const Indices& indices, const Ranges& inner) {
            Ranges ranges = m_outer;
            ranges.insert(inner.begin(), inner.end());
            return tir::simplify(indices[dim] * width + indices[dim + 1], ranges);
        };
        for (const Access& access : found)
            if (!access.isKnown || hasDivision(joinedIndex(access.indices, access.inner)))
                return stmt;
        tir::BufferNode node = *buffer;
        node.shape[dim] = tir::simplify(node.shape[dim] * width);
        node.shape.erase(node.shape.begin() + static_cast<long>(dim) + 1);
        const auto merged = std::make_shared<const tir::BufferNode>(std::move(node));
        Ranges all = m_outer;
        for (const Access& access : found) all.insert(access.inner.begin(), access.inner.end());
        const Stmt body = replaceBuffer(stmt->body, buffer, merged, [&](const Indices& indices) {
            Indices out = indices;
            out[dim] = joinedIndex(indices, all);
            out.erase(out.begin() + static_cast<long>(dim) + 1);
            return out;
        });
        return tir::allocate(merged, body);
    }

    Stmt shrink(const Stmt& stmt, const std::vector<Access>& found)
    {
        const Buffer& buffer = stmt->buffer;
        tir::BufferNode node = *buffer;
        Indices offsets(node.shape.size(), Expr(0));
        std::vector<int64_t> steps(node.shape.size(), 1);
        Ranges all = m_outer;
        for (const Access& access : found) all.insert(access.inner.begin(), access.inner.end());
        bool shrinks = false;
        for (size_t dim = 0; dim < node.shape.size(); ++dim) {
            const auto region = steppedRegionOf(found, dim, m_outer);
            const Expr& extent = node.shape[dim];
            if (!region || (extent->kind == ExprKind::IntImm && extent->integer <= region->extent))
                continue;
            node.shape[dim] = region->extent;
            offsets[dim] = region->min;
            steps[dim] = region->step;
            shrinks = true;
        }
        if (!shrinks) return stmt;
        restride(node, *buffer);
        const auto small = std::make_shared<const tir::BufferNode>(std::move(node));
        const Stmt body = replaceBuffer(stmt->body, buffer, small, [&](const Indices& indices) {
            Indices out;
            for (size_t dim = 0; dim < indices.size(); ++dim) {
                Affine offset = affineOf(indices[dim] - offsets[dim]);
                if (steps[dim] > 1) offset = affineOf(tir::simplify(exprOf(offset), all));
                offset.constant /= steps[dim];
                for (AffineTerm& term : offset.terms) term.coefficient /= steps[dim];
                out.push_back(exprOf(offset));
            }
            return out;
        });
        return tir::allocate(small, body);
    }
};

} // namespace

tir::Stmt compactBuffers(const tir::Stmt& body) { return Compactor().visit(body); }

} // namespace tenon::compiler
