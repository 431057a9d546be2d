// SPDX-License-Identifier: Apache-2.0
// From the last block to the first: which rows and columns of each buffer somebody reads, as far as
// the results inside the image need them.
#include "compiler/schedule/beyond_images.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <unordered_set>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

constexpr const char* kSidesAttr = "patch_sides";
constexpr const char* kStepsAttr = "patch_steps";
constexpr const char* kCountAttr = "patch_count";
constexpr int kPatchSizes = 3;
constexpr size_t kRow = 2;

Expr ceilDiv(const Expr& value, int64_t divisor)
{
    return divisor == 1 ? value : tir::floorDiv(value + Expr(divisor - 1), Expr(divisor));
}

/// Where indices end; nothing: nobody knows of an end before the extent.
using End = std::optional<Expr>;

class PatchReader
{
public:
    explicit PatchReader(const tir::PrimFunc& function)
        : m_function(function)
        , m_limits{.ends = {},
                   .rows = tir::makeVar("rows_here"),
                   .columns = tir::makeVar("columns_here")}
    {
    }

    LoopLimits run()
    {
        if (!takeResults()) return m_limits;
        const std::vector<Stmt> blocks = blocksIn(m_function.body);
        for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) visit(*block);
        if (m_isConsistent)
            for (const auto& [loop, end] : m_loops)
                if (end) m_limits.ends.emplace(loop, *end);
        return m_limits;
    }

private:
    using Ends = std::unordered_map<const tir::VarNode*, End>;

    /// False where some result has no rows and columns of patches.
    bool takeResults()
    {
        const auto results =
            m_function.params.end() - static_cast<std::ptrdiff_t>(m_function.outputCount);
        for (auto result = results; result != m_function.params.end(); ++result) {
            const std::vector<Expr>& shape = (*result)->shape;
            std::vector<End>& ends = m_demand[result->get()];
            ends.resize(shape.size());
            for (size_t i = 0; i < 2; ++i) {
                if (shape.size() <= kRow + i || shape[kRow + i]->kind != ExprKind::IntImm)
                    return false;
                ends[kRow + i] = endOfResult(shape[kRow + i]->integer, i);
                if (!ends[kRow + i]) return false;
            }
        }
        return true;
    }

    /// Of results that have so many rows or columns for each patch.
    End endOfResult(int64_t extent, size_t axis) const
    {
        const int64_t side = m_function.attrs.integers(kSidesAttr, {})[axis];
        const std::vector<int64_t> steps = m_function.attrs.integers(kStepsAttr, {});
        const Expr inside(axis == 0 ? m_limits.rows : m_limits.columns);
        // A tile of Winograd's method mixes all that it reads: a result inside the image would take
        // what was never written with one beyond it.
        constexpr int64_t kMostOfTile = 7;
        if (!steps.empty()) {
            const int64_t stride = (steps[axis] + side - 1) / side;
            return Expr(extent + stride * (kMostOfTile - 1)) -
                   tir::floorDiv((Expr(side) - inside) * Expr(steps[axis]), Expr(side));
        }
        if (extent % side != 0) return {};
        return inside * Expr(extent / side);
    }

    void visit(const Stmt& stmt)
    {
        for (const tir::IterVar& iter : stmt->block.iters)
            m_extents.insert_or_assign(iter.var.get(), iter.extent);
        const Ends ends = endsOf(stmt);
        limitLoops(stmt, ends);
        tir::visitExprsIn(stmt, [&](const Expr& expr) {
            if (expr->kind == ExprKind::Load) demand(*expr, ends);
            return true;
        });
        tir::visitStmts(stmt, [&](const Stmt& inner) {
            if (inner->kind == StmtKind::Store) m_written.insert(inner->buffer.get());
            return true;
        });
    }

    /// Of the block's variables: what is asked of the places that they are the indices of.
    Ends endsOf(const Stmt& stmt) const
    {
        Ends ends;
        bool isFirst = true;
        tir::visitStmts(stmt, [&](const Stmt& inner) {
            if (inner->kind == StmtKind::Block && inner != stmt) ends.clear();
            if (inner->kind != StmtKind::Store) return true;
            Ends own;
            const auto demand = m_demand.find(inner->buffer.get());
            for (size_t i = 0; demand != m_demand.end() && i < inner->indices.size(); ++i)
                if (demand->second[i]) addVars(inner->indices[i], *demand->second[i], own);
            ends = isFirst ? own : common(ends, own);
            isFirst = false;
            return true;
        });
        for (const tir::IterVar& iter : stmt->block.iters)
            if (iter.kind == tir::IterKind::Reduce) ends.erase(iter.var.get());
        return ends;
    }

    /// The variable that is an index, or whose quotient is one.
    static void addVars(const Expr& index, const Expr& end, Ends& ends)
    {
        if (index->kind == ExprKind::VarRef) ends.emplace(index->var.get(), end);
        if (const int64_t by = divisorOfVar(index, ExprKind::FloorDiv); by > 0)
            ends.emplace(index->args[0]->var.get(), end * Expr(by));
    }

    static Ends common(const Ends& a, const Ends& b)
    {
        Ends out;
        for (const auto& [var, end] : a)
            if (const auto other = b.find(var); other != b.end())
                out.emplace(var, later(end, other->second));
        return out;
    }

    /// The later of two ends; nothing when either is.
    static End later(const End& a, const End& b)
    {
        if (!a || !b) return {};
        return tir::structuralEqual(*a, *b) ? a : tir::maximum(*a, *b);
    }

    /// The loops around a block end where all blocks inside agree to.
    void limitLoops(const Stmt& stmt, const Ends& ends)
    {
        Ends own;
        for (const tir::IterVar& iter : stmt->block.iters)
            if (const auto end = ends.find(iter.var.get()); end != ends.end())
                addLoops(iter.binding, *end->second, own);
        const auto site = siteOfBlock(m_function.body, stmt->block.name);
        if (!site) return fail();
        for (const Stmt& above : site->above) {
            if (above->kind != StmtKind::For) continue;
            const tir::VarNode* var = above->loop.var.get();
            const auto found = own.find(var);
            const bool isLimited = found != own.end() && above->loop.min.isConstInt(0) &&
                                   above->loop.kind == tir::LoopKind::Serial;
            const End end = isLimited ? found->second : End();
            const auto [known, isNew] = m_loops.try_emplace(var, end);
            if (!isNew) known->second = later(known->second, end);
        }
    }

    /// Loops that may end because a sum of them, none of which is negative, does.
    static void addLoops(const Expr& binding, const Expr& end, Ends& loops)
    {
        const Affine sum = affineOf(binding);
        if (sum.constant < 0 ||
            std::any_of(sum.terms.begin(), sum.terms.end(),
                        [](const AffineTerm& term) { return term.coefficient < 0; }))
            return;
        for (const AffineTerm& term : sum.terms) {
            const Expr own = ceilDiv(end, term.coefficient);
            const Expr& atom = term.atom;
            if (atom->kind == ExprKind::VarRef)
                loops.try_emplace(atom->var.get(), own);
            else if (atom->kind == ExprKind::FloorDiv && atom->args[1]->kind == ExprKind::IntImm &&
                     atom->args[1]->integer > 0)
                addLoops(atom->args[0], own * atom->args[1], loops);
            else if (atom->kind == ExprKind::Min && atom->args[1]->kind == ExprKind::IntImm)
                addLoops(atom->args[0], own, loops); // the last part overlaps the one before
        }
    }

    void demand(const tir::ExprNode& load, const Ends& ends)
    {
        if (isParameterRead(load)) return;
        std::vector<End> wanted;
        for (const Expr& index : load.args) wanted.push_back(endOf(index, ends));
        const auto [known, isNew] = m_demand.try_emplace(load.buffer.get(), wanted);
        if (isNew) return isWritten(load) ? fail() : void();
        for (size_t i = 0; i < wanted.size(); ++i) {
            const End end = later(known->second[i], wanted[i]);
            if (isSame(end, known->second[i])) continue;
            if (isWritten(load)) return fail(); // who writes it was told of less
            known->second[i] = end;
        }
    }

    static bool isSame(const End& a, const End& b)
    {
        return a.has_value() == b.has_value() && (!a || tir::structuralEqual(*a, *b));
    }

    bool isParameterRead(const tir::ExprNode& load) const
    {
        return isParameter(m_function, load.buffer) && !m_demand.contains(load.buffer.get());
    }
    bool isWritten(const tir::ExprNode& load) const
    {
        return m_written.contains(load.buffer.get());
    }

    /// The first number that the index does not reach while its variables stay within `ends`;
    /// nothing where none of them ends before its extent.
    End endOf(const Expr& index, const Ends& ends) const
    {
        const std::optional<Expr> last = lastOf(index, ends);
        return last && usesEnd(index, ends) ? *last + Expr(1) : End();
    }

    static bool usesEnd(const Expr& index, const Ends& ends)
    {
        bool found = false;
        tir::visitExprs(index, [&](const Expr& expr) {
            found = found || (expr->kind == ExprKind::VarRef && ends.contains(expr->var.get()));
            return !found;
        });
        return found;
    }

    /// Of expressions that grow with each of their variables.
    std::optional<Expr> lastOf(const Expr& index, const Ends& ends) const
    {
        switch (index->kind) {
        case ExprKind::IntImm: return index;
        case ExprKind::VarRef: {
            const auto end = ends.find(index->var.get());
            if (end != ends.end()) return *end->second - Expr(1);
            const auto extent = m_extents.find(index->var.get());
            return extent == m_extents.end() ? End() : extent->second - Expr(1);
        }
        case ExprKind::FloorMod: // at most the whole of it, and less than the divisor
            if (index->args[1]->kind != ExprKind::IntImm || index->args[1]->integer < 1)
                return std::nullopt;
            return Expr(index->args[1]->integer - 1);
        case ExprKind::Add:
        case ExprKind::Mul:
        case ExprKind::FloorDiv: break;
        default: return std::nullopt;
        }
        const auto a = lastOf(index->args[0], ends), b = lastOf(index->args[1], ends);
        if (!a || !b) return std::nullopt;
        if (index->kind == ExprKind::Add) return *a + *b;
        if (index->args[1]->kind != ExprKind::IntImm || index->args[1]->integer < 1)
            return std::nullopt;
        return index->kind == ExprKind::Mul ? *a * *b : tir::floorDiv(*a, *b);
    }

    void fail() { m_isConsistent = false; }

    const tir::PrimFunc& m_function;
    LoopLimits m_limits;
    std::unordered_map<const tir::BufferNode*, std::vector<End>> m_demand;
    std::unordered_set<const tir::BufferNode*> m_written;
    std::unordered_map<const tir::VarNode*, Expr> m_extents; ///< of blocks' variables
    Ends m_loops;
    bool m_isConsistent = true;
};

/// Rows or columns of the patch that are those of the image.
Expr inside(const Expr& extent, int64_t side, const Expr& patch)
{
    return tir::minimum(Expr(side), extent - patch * Expr(side));
}

/// The variable of that value among `known`, or a new one.
Expr named(const Expr& value, std::vector<std::pair<tir::Var, Expr>>& known)
{
    for (const auto& [var, other] : known)
        if (tir::structuralEqual(value, other)) return var;
    known.emplace_back(tir::makeVar("end_" + std::to_string(known.size())), value);
    return known.back().first;
}

} // namespace

void setPatches(tir::PrimFunc& function, const PatchSpan& span)
{
    function.attrs.set(kSidesAttr, span.sides);
    if (!span.steps.empty()) function.attrs.set(kStepsAttr, span.steps);
    function.attrs.set(kCountAttr, span.count);
}

int patchSizeCount(const tir::PrimFunc& function)
{
    return function.attrs.has(kSidesAttr) ? kPatchSizes : 0;
}

std::optional<LoopLimits> limitsInPatches(const tir::PrimFunc& scheduled)
{
    if (patchSizeCount(scheduled) == 0) return std::nullopt;
    return PatchReader(scheduled).run();
}

tir::PrimFunc withLimits(tir::PrimFunc lowered, const LoopLimits& limits)
{
    const std::vector<int64_t> sides = lowered.attrs.integers(kSidesAttr, {});
    const tir::Var rows = tir::makeVar("image_rows"), columns = tir::makeVar("image_columns");
    const tir::Var first = tir::makeVar("first_patch");
    lowered.sizes.insert(lowered.sizes.end(), {rows, columns, first});
    std::vector<std::pair<tir::Var, Expr>> extents; // computed once, in front of all loops
    lowered.body = tir::rewriteStmt(lowered.body, [&](const Stmt& stmt) {
        if (stmt->kind != StmtKind::For || stmt->loop.kind != tir::LoopKind::Serial) return stmt;
        const auto end = limits.ends.find(stmt->loop.var.get());
        if (end == limits.ends.end() || !stmt->loop.min.isConstInt(0)) return stmt;
        tir::Loop loop = stmt->loop;
        loop.extent = named(tir::minimum(loop.extent, end->second), extents);
        return tir::forLoop(std::move(loop), stmt->body);
    });
    if (extents.empty()) return lowered;
    for (const auto& [var, value] : extents) lowered.body = tir::let(var, value, lowered.body);
    // Of several patches, the first is the largest.
    Expr row = 0, column = 0;
    if (lowered.attrs.integer(kCountAttr, 1) == 1) {
        const Expr across = ceilDiv(Expr(columns), sides[1]);
        row = tir::floorMod(tir::floorDiv(Expr(first), across), ceilDiv(Expr(rows), sides[0]));
        column = tir::floorMod(Expr(first), across);
    }
    lowered.body = tir::let(limits.columns, inside(Expr(columns), sides[1], column), lowered.body);
    lowered.body = tir::let(limits.rows, inside(Expr(rows), sides[0], row), lowered.body);
    return lowered;
}

} // namespace tenon::compiler
