// SPDX-License-Identifier: Apache-2.0
// Finds the accesses of a buffer and the region that they cover together.
#include "compiler/schedule/region.h"

#include "core/ir/tir/visit.h"

#include <numeric>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

class Collector
{
public:
    Collector(const tir::Buffer& buffer, AccessKind kind)
        : m_buffer(buffer)
        , m_kind(kind)
    {
    }

    std::vector<Access> accesses;

    void visit(const Stmt& stmt)
    {
        if (!stmt) return;
        const bool stores = stmt->kind == StmtKind::Store && stmt->buffer == m_buffer;
        if (stores && m_kind != AccessKind::Reads) add(stmt->indices);
        for (const Expr* expr : {&stmt->value, &stmt->condition}) loads(*expr);
        for (const Expr& index : stmt->indices) loads(index);
        const tir::VarNode* var = stmt->kind == StmtKind::For ? stmt->loop.var.get() : nullptr;
        if (var) {
            loads(stmt->loop.min);
            loads(stmt->loop.extent);
            const auto range = rangeOf(stmt->loop);
            if (range)
                m_inner[var] = *range;
            else
                m_unknown.push_back(var);
        }
        if (stmt->kind == StmtKind::Let) m_unknown.push_back(stmt->var.get());
        for (const Stmt& child : stmt->stmts) visit(child);
        visit(stmt->init);
        visit(stmt->body);
        visit(stmt->orElse);
        if (var) m_inner.erase(var);
    }

private:
    const tir::Buffer& m_buffer;
    AccessKind m_kind;
    tir::Ranges m_inner;
    std::vector<const tir::VarNode*> m_unknown; ///< identities are unique, so none is removed

    void add(const std::vector<Expr>& indices)
    {
        bool isKnown = true;
        for (const Expr& index : indices)
            for (const tir::VarNode* var : m_unknown) isKnown = isKnown && !usesVar(index, var);
        accesses.push_back({indices, m_inner, isKnown});
    }

    void loads(const Expr& root)
    {
        if (m_kind == AccessKind::Writes) return;
        tir::visitExprs(root, [&](const Expr& expr) {
            if (expr->kind == ExprKind::Load && expr->buffer == m_buffer) add(expr->args);
            return true;
        });
    }
};

} // namespace

std::optional<tir::IntRange> rangeOf(const tir::Loop& loop)
{
    if (loop.min->kind != ExprKind::IntImm || loop.extent->kind != ExprKind::IntImm)
        return std::nullopt;
    return tir::IntRange{loop.min->integer, loop.min->integer + loop.extent->integer - 1};
}

std::vector<Access> accessesOf(const Stmt& stmt, const tir::Buffer& buffer, AccessKind kind)
{
    Collector collector(buffer, kind);
    collector.visit(stmt);
    return std::move(collector.accesses);
}

std::optional<Interval> regionOf(const std::vector<Access>& accesses, size_t dim,
                                 const tir::Ranges& outer)
{
    std::optional<Interval> region;
    for (const Access& access : accesses) {
        if (!access.isKnown) return std::nullopt;
        const auto interval = intervalOf(access.indices[dim], access.inner, outer);
        if (!interval) return std::nullopt;
        region = region ? unionOf(*region, *interval) : interval;
        if (!region) return std::nullopt;
    }
    return region;
}

std::optional<Interval> steppedRegionOf(const std::vector<Access>& accesses, size_t dim,
                                        const tir::Ranges& outer)
{
    auto region = regionOf(accesses, dim, outer);
    if (!region) return region;
    int64_t step = 0;
    for (const Access& access : accesses) {
        tir::Ranges ranges = outer;
        ranges.insert(access.inner.begin(), access.inner.end());
        const Affine offset = affineOf(tir::simplify(access.indices[dim] - region->min, ranges));
        step = std::gcd(step, offset.constant);
        for (const AffineTerm& term : offset.terms) step = std::gcd(step, term.coefficient);
        if (step == 1) return region;
    }
    if (step < 2) return region;
    region->step = step;
    region->extent = (region->extent - 1) / step + 1;
    return region;
}

} // namespace tenon::compiler
