// SPDX-License-Identifier: Apache-2.0
// Vectors along columns: of all of a window's elements, or, where the operator makes rows of what a
// window's rows hold together, of those rows first, each in the first-level cache.
#include "compiler/schedule/rules/plain_pool.h"

#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

/// Windows of so many elements are unrolled.
constexpr int64_t kFewTaps = 9;
constexpr int64_t kShortestVector = 4;

/// Lanes of vectors along `extent` columns; the last ones overlap.
int64_t lanesAlong(const Schedule& schedule, const std::string& block, int64_t extent,
                   const TargetFacts& facts)
{
    int64_t lanes = lanesOf(schedule, block, facts);
    while (lanes > extent) lanes /= 2;
    return lanes;
}

/// Vectors along the columns of plain images [.., H, W]; each image is padded right before it is
/// read. Images of fewer columns than the shortest vector stay loops over single numbers.
void scheduleWindows(Schedule& schedule, const std::string& pool, const TargetFacts& facts)
{
    const std::vector<std::string> pads = blocksBefore(schedule, pool);
    std::vector<std::string> keep = pads;
    keep.push_back(pool);
    inlineElementwise(schedule, keep);
    accumulateInRegisters(schedule, pool);
    std::vector<std::string> outer, window;
    int64_t taps = 1;
    for (const AxisView& axis : axesOf(schedule, pool)) {
        (axis.isReduce ? window : outer).push_back(axis.loop);
        if (axis.isReduce) taps *= axis.extent;
    }
    const std::vector<std::string> images{outer[0], outer[1]};
    const int64_t lanes = lanesAlong(schedule, pool, schedule.extentOf(outer.back()), facts);
    const auto runs = schedule.splitOverlap(outer.back(), lanes);
    outer.back() = runs[0];
    std::vector<std::string> order = outer;
    order.insert(order.end(), window.begin(), window.end());
    order.push_back(runs[1]);
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, pool, outer.back(), lanes);
    initialiseTile(schedule, pool, window[0], 1, lanes);
    if (taps <= kFewTaps)
        for (const std::string& loop : window) schedule.unroll(loop);
    schedule.vectorize(runs[1]);
    // Where the images have depth, columns stand elsewhere than padding one image expects.
    const bool isFlat = window.size() == 2;
    for (const std::string& pad : pads)
        isFlat ? schedulePad(schedule, pad, images[1], facts) : scheduleBlock(schedule, pad, facts);
    for (const std::string& block : left) scheduleBlock(schedule, block, facts);
    return parallelise(schedule, images, facts);
}

/// A plain pool, [N, C, .., H, W] with a window over all but the first two, of columns enough.
bool isOfWindows(const Schedule& schedule, const std::string& pool, const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, pool);
    const size_t dims = static_cast<size_t>(
        std::count_if(axes.begin(), axes.end(), [](const AxisView& a) { return a.isReduce; }));
    if (dims < 1 || axes.size() != 2 + 2 * dims || blocksBefore(schedule, pool).size() > 1)
        return false;
    const tir::Stmt block = blockOf(schedule, pool);
    return schedule.function().attrs.string("kind", "") == "pool" && block->init &&
           axes[1 + dims].extent >= kShortestVector && !axes[1 + dims].isReduce &&
           lanesOf(schedule, pool, facts) >= kShortestVector;
}

/// What a pool by way of rows consists of; the pads only where there is something to be padded.
struct PoolOfRows
{
    std::string rowPad;    ///< of the data, above and below, or what widens it
    std::string rows;      ///< combined along the window's rows
    std::string columnPad; ///< of `rows`
};

std::optional<PoolOfRows> poolOfRows(const Schedule& schedule, const std::string& pool)
{
    PoolOfRows found;
    const std::vector<AxisView> own = axesOf(schedule, pool);
    const bool isAcross = own.size() == 6 && own[4].isReduce && own[4].extent == 1;
    if (schedule.function().attrs.string("kind", "") != "pool" || !isAcross) return std::nullopt;
    for (const std::string& name : blocksBefore(schedule, pool)) {
        const std::vector<AxisView> axes = axesOf(schedule, name);
        const bool isPool = axes.size() == 6 && axes[5].isReduce;
        std::string& place = isPool               ? found.rows
                             : found.rows.empty() ? found.rowPad
                                                  : found.columnPad;
        const bool isPad = !isPool && axes.size() == 4;
        if (!place.empty() || !(isPool || isPad)) return std::nullopt;
        place = name;
    }
    const bool isInlined = found.rowPad.empty() || isPlainPad(schedule, found.rowPad) ||
                           isWidening(schedule, found.rowPad);
    if (found.rows.empty() || !isInlined) return std::nullopt;
    return found;
}

/// Vectors of columns, each combined from all rows of the window and then stored.
void combineRows(Schedule& schedule, const std::string& rows, const std::string& copy,
                 const TargetFacts& facts)
{
    const std::string columns = ownLoopsOf(schedule, copy).back();
    const int64_t lanes = lanesAlong(schedule, rows, schedule.extentOf(columns), facts);
    const auto runs = schedule.splitOverlap(columns, lanes);
    schedule.computeAt(rows, runs[0]);
    if (lanes > 1) schedule.vectorize(runs[1]);
    const std::vector<std::string> own = ownLoopsOf(schedule, rows);
    schedule.reorder({own[4], own[5], own[3]});
    initialiseTile(schedule, rows, own[4], 1, lanes);
    if (schedule.extentOf(own[4]) <= kFewTaps) schedule.unroll(own[4]);
    if (lanes > 1) schedule.vectorize(own[3]);
}

/// Rows that are combined before they are read: what was just stored, and is read across two
/// stores, comes out of the cache late.
int64_t rowsTogether(int64_t rows, int64_t columns, const TargetFacts& facts)
{
    constexpr int64_t kBytes = 4, kMost = 16;
    const int64_t held =
        std::clamp<int64_t>(facts.l1Bytes / 4 / std::max<int64_t>(1, columns * kBytes), 1, kMost);
    const int64_t steps = (rows + held - 1) / held;
    return (rows + steps - 1) / steps;
}

void scheduleRows(Schedule& schedule, const std::string& pool, const PoolOfRows& blocks,
                  const TargetFacts& facts)
{
    std::vector<std::string> keep = blocksBefore(schedule, pool);
    keep.push_back(pool);
    inlineElementwise(schedule, keep);
    accumulateInRegisters(schedule, pool);
    schedule.cacheWrite(blocks.rows, tir::Scope::Register);
    const std::string copy = readerOf(schedule, blocks.rows);
    if (!blocks.rowPad.empty()) schedule.computeInline(blocks.rowPad);
    const std::vector<std::string> own = ownLoopsOf(schedule, pool);
    const int64_t lanes = lanesAlong(schedule, pool, schedule.extentOf(own[3]), facts);
    const auto runs = schedule.splitOverlap(own[3], lanes);
    const int64_t columns = axesOf(schedule, blocks.rows)[3].extent;
    const auto steps =
        schedule.splitOverlap(own[2], rowsTogether(schedule.extentOf(own[2]), columns, facts));
    schedule.reorder({own[0], own[1], steps[0], steps[1], runs[0], own[4], own[5], runs[1]});
    const auto left = attachEpilogue(schedule, pool, runs[0], lanes);
    initialiseTile(schedule, pool, own[4], 1, lanes);
    if (schedule.extentOf(own[5]) <= kFewTaps) schedule.unroll(own[5]);
    if (lanes > 1) schedule.vectorize(runs[1]);

    if (!blocks.columnPad.empty()) schedulePad(schedule, blocks.columnPad, steps[0], facts);
    schedule.computeAt(copy, steps[0]);
    combineRows(schedule, blocks.rows, copy, facts);
    for (const std::string& block : left) scheduleBlock(schedule, block, facts);
    return parallelise(schedule, {own[0], own[1]}, facts);
}

} // namespace

/// An element of a smaller type.
static bool isWidened(const tir::Expr& value)
{
    return value->kind == tir::ExprKind::Cast && value->args[0]->kind == tir::ExprKind::Load &&
           value->dtype.bytes() > value->args[0]->dtype.bytes();
}

/// True when the block copies elements of a parameter or fills in a constant.
/// False where it depends on sizes that are known at run time, too: then no loop is free of it.
static bool asksOwnAxes(const tir::Stmt& block, const tir::Expr& condition)
{
    bool isOwn = true;
    tir::visitExprs(condition, [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::VarRef)
            isOwn = isOwn && std::any_of(block->block.iters.begin(), block->block.iters.end(),
                                         [&](const auto& iter) { return iter.var == expr->var; });
        return isOwn;
    });
    return isOwn;
}

bool isPlainPad(const Schedule& schedule, const std::string& pad)
{
    const tir::Stmt block = blockOf(schedule, pad), body = block->body;
    if (body->kind != tir::StmtKind::Store) return false;
    const tir::Expr& value = body->value;
    return value->kind == tir::ExprKind::Intrinsic &&
           value->intrinsic == tir::Intrinsic::IfThenElse &&
           (value->args[1]->kind == tir::ExprKind::Load || isWidened(value->args[1])) &&
           asksOwnAxes(block, value->args[0]);
}

bool isWidening(const Schedule& schedule, const std::string& block)
{
    const tir::Stmt body = blockOf(schedule, block)->body;
    return body->kind == tir::StmtKind::Store && isWidened(body->value);
}

bool schedulePlainPool(Schedule& schedule, const std::string& pool, const TargetFacts& facts)
{
    if (const auto blocks = poolOfRows(schedule, pool)) {
        scheduleRows(schedule, pool, *blocks, facts);
        return true;
    }
    if (!isOfWindows(schedule, pool, facts)) return false;
    scheduleWindows(schedule, pool, facts);
    return true;
}

} // namespace tenon::compiler
