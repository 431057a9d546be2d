// SPDX-License-Identifier: Apache-2.0
// Sums along rows in strands, one per lane, and other blocks of rows in vectors.
#include "compiler/schedule/rules/rows.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Strands are summed four by four, and the four sums in turn: sums of single values wait for each
/// other. So few steps stay in registers.
constexpr int64_t kStrandsTogether = 4;

constexpr int64_t kMostUnrolled = 8;
constexpr int64_t kFewestMasked = 4; ///< elements of a last vector that are worth a mask

/// So many rows advance together, step by step: what each step needs beside them is made once, and
/// none waits for its own last step.
constexpr int64_t kMostRowsTogether = 8;

/// True when the block leaves out some iterations of the loop.
bool isGuarded(const Schedule& schedule, const std::string& block, const std::string& loop)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    if (!stmt->block.predicate.get()) return false;
    bool depends = false;
    const auto seeks = [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::VarRef && expr->var->name == loop) depends = true;
        return true;
    };
    for (const tir::IterVar& iter : stmt->block.iters)
        if (usesVar(stmt->block.predicate, iter.var.get())) tir::visitExprs(iter.binding, seeks);
    tir::visitExprs(stmt->block.predicate, seeks);
    return depends;
}

bool isAround(const Schedule& schedule, const std::string& loop, const std::string& block)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

/// True when `rows` is a loop over few rows, all of which the block computes, and no other does.
bool canGoTogether(const Schedule& schedule, const std::string& block, const std::string& rows)
{
    for (const std::string& other : schedule.blocks())
        if (other != block && isAround(schedule, rows, other)) return false;
    const int64_t extent = schedule.extentOf(rows);
    return extent > 1 && extent <= kMostRowsTogether && !isGuarded(schedule, block, rows);
}

/// Vectorizes the block's innermost loop where its accesses are contiguous.
void vectorizeRow(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const tir::Stmt stmt = blockOf(schedule, block);
    const size_t rank = stmt->block.iters.size();
    const int64_t lanes = lanesOf(schedule, block, facts);
    const int64_t extent = schedule.extentOf(loops.back());
    if (extent < 4 || !isContiguousAlong(stmt, rank - 1)) return;
    if (extent <= lanes) return schedule.vectorize(loops.back());
    const auto parts = schedule.splitOverlap(loops.back(), lanes);
    const std::string rows = rank > 1 ? loops[loops.size() - 2] : "";
    if (!rows.empty() && canGoTogether(schedule, block, rows)) {
        schedule.reorder({parts[0], rows, parts[1]});
        schedule.unroll(rows);
    }
    return schedule.vectorize(parts[1]);
}

/// Number of the block's first reduced axis; of its axes when it reduces none.
size_t reducedAxis(const std::vector<AxisView>& axes)
{
    const auto found =
        std::find_if(axes.begin(), axes.end(), [](const AxisView& axis) { return axis.isReduce; });
    return static_cast<size_t>(found - axes.begin());
}

/// A row's sums, one per lane.
struct Strands
{
    int64_t extent;     ///< elements of a row
    int64_t lanes;      ///< of all its vectors
    bool areRowsInside; ///< the loop over rows is in the one over steps
};

/// The last, partial step of strands has masks and gets a loop of its own. Vectors too short for
/// masks become single elements.
void peelPartialStep(Schedule& schedule, const std::string& block, const std::string& steps,
                     const Strands& strands, int64_t lanes)
{
    const int64_t whole = strands.extent / strands.lanes;
    if (!blockOf(schedule, block)->block.predicate.get() || whole >= schedule.extentOf(steps))
        return;
    const auto tail = schedule.peel(steps, whole);
    const std::vector<std::string> loops = schedule.loopsOf(blockIn(schedule, tail));
    if (strands.areRowsInside) schedule.unroll(loops[loops.size() - 2]);
    const int64_t rest = strands.extent % strands.lanes;
    if (rest < kFewestMasked && !strands.areRowsInside) schedule.peel(loops.back(), rest);
    if (strands.lanes <= 4 || rest < kFewestMasked) return schedule.unroll(loops.back());
    return vectorizeInParts(schedule, loops.back(), lanes);
}

} // namespace

void makeRowStrands(Schedule& schedule, const std::string& block, const TargetFacts& facts,
                    int64_t vectors)
{
    if (hasOrderedSums(schedule.function())) return;
    const std::vector<AxisView> own = axesOf(schedule, block);
    const int64_t lanes = lanesOf(schedule, block, facts);
    if (own.empty() || !own.back().isReduce || own.back().extent < lanes || lanes < 4) return;
    const auto parts = schedule.split(own.back().loop, {-1, lanes >= 8 ? vectors * lanes : lanes});
    const auto rank = static_cast<int64_t>(own.size()) - 1;
    schedule.rfactor(parts[1], rank);
    if (lanes < 8) return;
    const auto fours = schedule.split(axesOf(schedule, block).back().loop, {-1, kStrandsTogether});
    schedule.rfactor(fours[1], rank);
}

void vectorizeRows(Schedule& schedule, const std::string& block, int64_t extent,
                   const TargetFacts& facts)
{
    const std::vector<AxisView> own = axesOf(schedule, block);
    const size_t reduce = reducedAxis(own);
    if (reduce == own.size()) return vectorizeRow(schedule, block, facts);
    // The strand axis of a factored reduction comes after the reduced one and goes inside.
    const int64_t lanes = lanesOf(schedule, block, facts);
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const size_t first = loops.size() - own.size();
    const std::string steps = loops[first + reduce];
    const std::string vector = reduce + 1 < own.size() ? loops.back() : "";
    const std::string rows = !vector.empty() && reduce > 0 ? loops[first + reduce - 1] : "";
    // So few steps as of sums of strands gain nothing.
    const bool areTogether =
        schedule.extentOf(steps) > kStrandsTogether && canGoTogether(schedule, block, rows);
    std::vector<std::string> order{steps, areTogether ? rows : "", vector};
    std::erase(order, "");
    if (order.size() > 1) schedule.reorder(order);
    initialiseTile(schedule, block, steps, order.size() - 1, lanes);
    if (!vector.empty()) {
        peelPartialStep(schedule, block, steps, {extent, schedule.extentOf(vector), areTogether},
                        lanes);
        vectorizeInParts(schedule, vector, lanes);
    }
    if (areTogether) schedule.unroll(rows);
    // Sums of few steps stay in registers; in a loop they would be stored, and read in other
    // pieces.
    const int64_t count = schedule.extentOf(steps);
    if (count > 1 && count <= kMostUnrolled) schedule.unroll(steps);
}

std::string blockIn(const Schedule& schedule, const std::string& loop)
{
    for (const std::string& block : schedule.blocks())
        if (isAround(schedule, loop, block)) return block;
    CHECK(false) << "no block in loop " << loop;
    return {};
}

} // namespace tenon::compiler
