// SPDX-License-Identifier: Apache-2.0
// Looks at conditions and indices of one axis; whoever splits the axis there reads plain runs.
#include "compiler/schedule/rules/axis_runs.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/rule.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <cstdlib>

namespace tenon::compiler {
namespace {

constexpr size_t kMostBorders = 8, kMostJoined = 64;

/// Where comparisons of the axis, `axis < c` and `axis >= c` joined by "and", change their answer;
/// false where they ask for anything else.
bool addBorders(const tir::Expr& condition, const tir::IterVar& axis, std::vector<int64_t>& borders)
{
    if (!usesVar(condition, axis.var.get())) return true;
    if (condition->kind == tir::ExprKind::And)
        return addBorders(condition->args[0], axis, borders) &&
               addBorders(condition->args[1], axis, borders);
    const bool compares = (condition->kind == tir::ExprKind::Less ||
                           condition->kind == tir::ExprKind::GreaterEqual) &&
                          condition->args[0]->kind == tir::ExprKind::VarRef &&
                          condition->args[1]->kind == tir::ExprKind::IntImm;
    if (!compares) return false;
    const int64_t border = condition->args[1]->integer;
    if (border > 0 && border < axis.extent->integer) borders.push_back(border);
    return true;
}

/// What the index is at each place of the axis; empty where it depends on anything else.
std::vector<int64_t> placesAlong(const tir::Expr& index, const tir::IterVar& axis)
{
    constexpr int64_t kLongestAxis = 4096; // of each place a copy of the index is simplified
    std::vector<int64_t> places;
    if (axis.extent->integer > kLongestAxis) return places;
    for (int64_t at = 0; at < axis.extent->integer; ++at) {
        const tir::Expr place =
            tir::simplify(tir::substitute(index, {{axis.var.get(), tir::Expr(at)}}));
        if (place->kind != tir::ExprKind::IntImm) return {};
        places.push_back(place->integer);
    }
    return places;
}

/// Adds where even steps end; false where one skips elements or nothing is known.
bool addBends(const std::vector<int64_t>& places, std::vector<int64_t>& bends)
{
    if (places.empty()) return false;
    int64_t begin = 0;
    for (size_t at = 1; at < places.size(); ++at) {
        const int64_t step = places[at] - places[at - 1];
        const bool isFirst = static_cast<int64_t>(at) == begin + 1;
        if (!isFirst && step != places[at - 1] - places[at - 2]) {
            begin = static_cast<int64_t>(at);
            bends.push_back(begin);
        } else if (std::abs(step) > 1) {
            return false;
        }
    }
    return true;
}

/// Notes the period of `axis % period` in a condition; false where the axis stands elsewhere, or
/// with another period.
bool notePeriod(const tir::Expr& condition, const tir::IterVar& axis, int64_t& period)
{
    if (!usesVar(condition, axis.var.get())) return true;
    const int64_t found = divisorOfVar(condition, tir::ExprKind::FloorMod);
    const bool isPart = found != 0 && (period == 0 || period == found);
    if (isPart) period = found;
    return isPart ||
           (condition->kind != tir::ExprKind::VarRef &&
            std::all_of(condition->args.begin(), condition->args.end(),
                        [&](const tir::Expr& part) { return notePeriod(part, axis, period); }));
}

/// Calls `look` with each index that the axis is part of, and whether it is the last of its load,
/// until that returns false; false then.
template <class Look>
bool eachIndexOf(const tir::Stmt& block, const tir::IterVar& axis, const Look& look)
{
    bool goesOn = true;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::Load) return goesOn;
        for (const tir::Expr& index : expr->args)
            if (goesOn && usesVar(index, axis.var.get()))
                goesOn = look(index, &index == &expr->args.back());
        return goesOn;
    });
    return goesOn;
}

/// Neighbours along the axis are neighbours in memory.
bool runsAlong(const tir::ExprNode& load, const tir::VarNode* axis)
{
    for (size_t i = 0; i + 1 < load.args.size(); ++i)
        if (usesVar(load.args[i], axis)) return false;
    int64_t step = 0;
    for (const AffineTerm& term : affineOf(load.args.back()).terms) {
        if (!usesVar(term.atom, axis)) continue;
        if (term.atom->kind != tir::ExprKind::VarRef) return false;
        step += term.coefficient;
    }
    return step == 1;
}

} // namespace

size_t contiguousAxes(const tir::Stmt& block)
{
    const std::vector<tir::IterVar>& iters = block->block.iters;
    if (iters.empty()) return 0;
    size_t last = iters.size() - 1; // what is behind it counts one element
    while (last > 0 && iters[last].extent.isConstInt(1)) --last;
    if (!isContiguousAlong(block, last)) return 0;
    const AxisSteps steps = stepsOf(block);
    size_t count = iters.size() - last;
    for (size_t axis = last; axis-- > 0; ++count) {
        if (iters[axis + 1].extent->kind != tir::ExprKind::IntImm) break;
        const int64_t inner = iters[axis + 1].extent->integer;
        bool fits = !branchesAlong(block, iters[axis].var);
        for (const std::vector<int64_t>& access : steps.access)
            fits = fits && access[axis] != kUnknownStep && access[axis] == access[axis + 1] * inner;
        if (!fits) break;
    }
    return count;
}

std::vector<int64_t> bordersOf(const tir::Stmt& block, const tir::IterVar& axis)
{
    std::vector<int64_t> borders;
    bool isPlain = axis.extent->kind == tir::ExprKind::IntImm;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse)
            isPlain = isPlain && addBorders(expr->args[0], axis, borders);
        return isPlain;
    });
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    return isPlain && borders.size() <= kMostJoined ? borders : std::vector<int64_t>{};
}

std::vector<int64_t> repeatsOf(const tir::Stmt& block)
{
    constexpr int64_t kMostRepeats = 8, kShortestPart = 4;
    const tir::IterVar& axis = block->block.iters.back();
    int64_t period = 0;
    bool isPlain = axis.extent->kind == tir::ExprKind::IntImm;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        const bool wraps =
            (expr->kind == tir::ExprKind::FloorMod || expr->kind == tir::ExprKind::FloorDiv) &&
            usesVar(expr, axis.var.get());
        if (!wraps) return isPlain;
        const int64_t found = divisorOfVar(expr, expr->kind);
        isPlain = isPlain && found != 0 && (period == 0 || period == found);
        if (isPlain) period = found;
        return isPlain;
    });
    std::vector<int64_t> borders;
    if (!isPlain || period < kShortestPart || axis.extent->integer % period != 0 ||
        axis.extent->integer / period > kMostRepeats)
        return borders;
    for (int64_t at = period; at < axis.extent->integer; at += period) borders.push_back(at);
    return borders;
}

std::vector<int64_t> bendsOf(const tir::Stmt& block)
{
    const tir::IterVar& axis = block->block.iters.back();
    std::vector<int64_t> bends;
    if (axis.extent->kind != tir::ExprKind::IntImm) return bends;
    const bool isEven = eachIndexOf(block, axis, [&](const tir::Expr& index, bool isLast) {
        return isLast && bends.size() <= kMostBorders && addBends(placesAlong(index, axis), bends);
    });
    std::sort(bends.begin(), bends.end());
    bends.erase(std::unique(bends.begin(), bends.end()), bends.end());
    return isEven && bends.size() <= kMostBorders ? bends : std::vector<int64_t>{};
}

int64_t periodOf(const tir::Stmt& block, const tir::IterVar& axis)
{
    int64_t period = 0;
    bool isPeriodic = true;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse)
            isPeriodic = isPeriodic && notePeriod(expr->args[0], axis, period);
        return isPeriodic;
    });
    return isPeriodic ? period : 0;
}

int64_t lanesOfRepeatedElements(const tir::Stmt& block, int64_t lanes)
{
    constexpr int64_t kFewestLanes = 4;
    const tir::IterVar& axis = block->block.iters.back();
    if (axis.extent->kind != tir::ExprKind::IntImm) return 0;
    int64_t fitting = lanes;
    while (fitting > 1 && axis.extent->integer % fitting != 0) fitting /= 2;
    bool isRead = false;
    const bool isNear = eachIndexOf(block, axis, [&](const tir::Expr& index, bool isLast) {
        const int64_t repetition = divisorOfVar(index, tir::ExprKind::FloorDiv);
        isRead = true;
        return isLast && repetition > 1 && fitting % repetition == 0;
    });
    return isRead && isNear && fitting >= kFewestLanes ? fitting : 0;
}

bool gathersAlongLast(const tir::Stmt& block, int64_t lanes)
{
    constexpr int64_t kFewestLanes = 16; // of 8 they take as long as single loads
    const std::vector<tir::IterVar>& iters = block->block.iters;
    const AxisSteps steps = stepsOf(block);
    if (lanes < kFewestLanes || iters.empty() || steps.access.empty() ||
        steps.access[0][iters.size() - 1] != 1 || branchesAlong(block, iters.back().var))
        return false;
    bool isPlain = true;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::Load)
            isPlain = isPlain && !expr->args.empty() &&
                      (expr->dtype.bytes() == 4 || runsAlong(*expr, iters.back().var.get()));
        return isPlain;
    });
    return isPlain;
}

} // namespace tenon::compiler
