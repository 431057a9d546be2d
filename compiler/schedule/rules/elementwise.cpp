// SPDX-License-Identifier: Apache-2.0
// Loops for blocks without reduction: trailing axes that every access walks contiguously are fused
// and vectorized, the others are fused and parallel.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/axis_runs.h"
#include "compiler/schedule/rules/crossing.h"
#include "compiler/schedule/rules/interleave.h"
#include "compiler/schedule/rules/open_run.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

/// Single divisions take a few cycles each, and so does one of a whole vector; a rounded number is
/// converted and limited as well.
bool dividesOrRounds(const tir::Stmt& block)
{
    bool found = false;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        found =
            found || (expr->kind == tir::ExprKind::Div && expr->dtype.isFloat()) ||
            (expr->kind == tir::ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::Round);
        return !found;
    });
    return found;
}

/// The axes of a longer run where that of `contiguous` axes is too short for a vector: its stores
/// are contiguous and its loads become gathers, which cost less than functions of single numbers.
size_t gatheredAxes(const tir::Stmt& block, size_t contiguous, int64_t lanes)
{
    const std::vector<tir::IterVar>& iters = block->block.iters;
    const AxisSteps steps = stepsOf(block);
    if (!steps.isKnown || steps.access.empty() || !(callsMath(block) || dividesOrRounds(block)))
        return contiguous;
    int64_t run = 1;
    for (size_t axis = iters.size(); axis-- > 0;) {
        const size_t count = iters.size() - axis;
        if (count > contiguous && run >= 4) return contiguous;
        if (steps.access[0][axis] != run || branchesAlong(block, iters[axis].var))
            return contiguous;
        run *= iters[axis].extent->integer;
        if (run >= lanes) return std::max(count, contiguous);
    }
    return contiguous;
}

/// Where nothing is contiguous, the last axis whose stores are: its loads become gathers.
bool storesContiguously(const tir::Stmt& block)
{
    const std::vector<tir::IterVar>& iters = block->block.iters;
    const AxisSteps steps = stepsOf(block);
    if (iters.empty() || !steps.isKnown || steps.access.empty()) return false;
    const size_t last = iters.size() - 1;
    for (const std::vector<int64_t>& access : steps.access)
        if (access[last] == kUnknownStep) return false;
    return steps.access[0][last] == 1 && !branchesAlong(block, iters[last].var);
}

/// Lanes along the last axis, of so many elements, read each where it wants, or not at all.
bool choosesAlongLast(const tir::Stmt& block, int64_t extent, int64_t lanes,
                      const TargetFacts& facts)
{
    return (extent >= lanes && gathersAlongLast(block, lanes)) ||
           (extent >= std::min(lanes, kFewestMasked) && readsUnderMasks(block, facts));
}

/// How many neighbours along the last axis lie side by side where loads take it apart into blocks
/// and what is inside them, as blocked layouts do; 0 where a load does something else with it.
int64_t elementsPerBlock(const tir::Stmt& block)
{
    const tir::VarNode* axis = block->block.iters.back().var.get();
    int64_t elements = 0;
    bool isBlocked = true;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::Load) return true;
        for (const tir::Expr& index : expr->args) {
            if (!usesVar(index, axis)) continue;
            const bool isInside = &index == &expr->args.back();
            const int64_t found =
                divisorOfVar(index, isInside ? tir::ExprKind::FloorMod : tir::ExprKind::FloorDiv);
            isBlocked = isBlocked && found != 0 && (elements == 0 || elements == found);
            if (found != 0) elements = found;
        }
        return isBlocked;
    });
    return isBlocked ? elements : 0;
}

/// Lanes of vectors along the last axis that stay within blocks of what is loaded; 0: there are
/// none.
int64_t lanesInBlocks(const tir::Stmt& block, int64_t lanes)
{
    const std::vector<tir::IterVar>& iters = block->block.iters;
    const AxisSteps steps = stepsOf(block);
    if (iters.empty() || !steps.isKnown || steps.access.empty() ||
        steps.access[0][iters.size() - 1] != 1 || branchesAlong(block, iters.back().var))
        return 0;
    const int64_t extent = iters.back().extent->integer;
    const int64_t elements = elementsPerBlock(block);
    if (extent <= elements) return lanes;
    const int64_t within = std::min(lanes, elements);
    return within >= 4 && elements % within == 0 && extent % within == 0 ? within : 0;
}

/// The vector loop; returns the loop over vectors when it is safe to run in parallel, else "".
std::string vectorizeRun(Schedule& schedule, const std::string& run, int64_t lanes)
{
    const int64_t extent = schedule.extentOf(run);
    std::string vector = run, around;
    if (extent > lanes && lanes > 1) {
        const bool divides = extent % lanes == 0;
        const auto parts =
            divides ? schedule.split(run, {-1, lanes}) : schedule.splitOverlap(run, lanes);
        vector = parts[1];
        if (divides) around = parts[0];
    }
    // Without vectors the loop stays one: as a vector of any length it would be unrolled whole.
    if (extent >= 4 && lanes > 1) schedule.vectorize(vector);
    return around;
}

/// Takes a loop apart at the borders; the blocks of all parts.
std::vector<std::string> blocksOfParts(Schedule& schedule, const std::string& block,
                                       const std::string& loop, const std::vector<int64_t>& borders)
{
    std::vector<std::string> blocks{block};
    std::string rest = loop;
    int64_t begin = 0;
    for (const int64_t border : borders) {
        const std::vector<std::string> before = schedule.blocks();
        const auto tail = schedule.peel(rest, border - begin);
        for (const std::string& name : blocksSince(schedule, before)) blocks.push_back(name);
        rest = tail;
        begin = border;
    }
    return blocks;
}

/// A loop for what is read of each of several joined tensors; each then is copied by vectors.
void scheduleParts(Schedule& schedule, const std::string& block,
                   const std::vector<int64_t>& borders, const TargetFacts& facts)
{
    const std::vector<AxisView> axes = axesOf(schedule, block);
    std::vector<std::string> outer;
    for (size_t i = 0; i + 1 < axes.size(); ++i) outer.push_back(axes[i].loop);
    for (const std::string& name : blocksOfParts(schedule, block, axes.back().loop, borders)) {
        const std::string loop = schedule.loopsOf(name).back();
        if (schedule.extentOf(loop) < 4) {
            schedule.unroll(loop);
            continue;
        }
        vectorizeRun(schedule, loop, lanesOf(schedule, name, facts));
    }
    return parallelise(schedule, outer, facts);
}

/// Where tensors are joined along the axis around short runs: the borders between them, if what is
/// read of each is one run and threads are not what shares that axis.
std::vector<int64_t> bordersOfRows(const Schedule& schedule, const tir::Stmt& block,
                                   const std::vector<AxisView>& axes, size_t contiguous,
                                   int64_t lanes, const TargetFacts& facts)
{
    constexpr int64_t kFewVectors = 32; // of more a branch around them costs nothing
    if (contiguous == 0 || contiguous >= axes.size()) return {};
    const size_t joined = axes.size() - contiguous - 1;
    int64_t run = 1, shared = 1;
    for (size_t i = 0; i < axes.size(); ++i)
        if (i != joined) (i < joined ? shared : run) *= axes[i].extent;
    const AxisSteps steps = stepsOf(block);
    const int64_t inner = axes[joined + 1].extent;
    bool isRun = steps.isKnown && run > 0 && run < kFewVectors * lanes;
    for (const std::vector<int64_t>& access : steps.access)
        isRun = isRun && access[joined] == access[joined + 1] * inner;
    if (!isRun || (shared % facts.threads != 0 && isWorthSharing(schedule, "", facts))) return {};
    return bordersOf(block, block->block.iters[joined]);
}

/// One loop of vectors for the rows of each of the joined tensors.
void scheduleJoinedRows(Schedule& schedule, const std::string& block,
                        const std::vector<AxisView>& axes, size_t contiguous,
                        const std::vector<int64_t>& borders, int64_t lanes,
                        const TargetFacts& facts)
{
    const size_t joined = axes.size() - contiguous - 1;
    std::vector<std::string> outer;
    for (size_t i = 0; i < joined; ++i) outer.push_back(axes[i].loop);
    for (const std::string& name : blocksOfParts(schedule, block, axes[joined].loop, borders)) {
        const std::vector<std::string> loops = schedule.loopsOf(name);
        const auto rows = static_cast<long>(contiguous + 1);
        vectorizeRun(schedule, schedule.fuse({loops.end() - rows, loops.end()}), lanes);
    }
    return parallelise(schedule, outer, facts);
}

/// Takes each place of a period by itself, where conditions look at outer axes so: none is left
/// then. Of those axes, the loop over periods stays in `axes`.
void unrollPeriods(Schedule& schedule, const tir::Stmt& block, std::vector<AxisView>& axes,
                   size_t contiguous)
{
    constexpr int64_t kLongestPeriod = 8, kFewestPeriods = 4;
    std::vector<std::string> order, places;
    for (size_t i = 0; i + contiguous < axes.size(); ++i) {
        const int64_t period = periodOf(block, block->block.iters[i]);
        if (period < 2 || period > kLongestPeriod) continue;
        if (axes[i].extent % period != 0 && axes[i].extent < kFewestPeriods * period) continue;
        const auto parts = schedule.split(axes[i].loop, {-1, period});
        axes[i].loop = parts[0];
        axes[i].extent = (axes[i].extent + period - 1) / period;
        places.push_back(parts[1]);
    }
    if (places.empty()) return;
    for (size_t i = 0; i + contiguous < axes.size(); ++i) order.push_back(axes[i].loop);
    order.insert(order.end(), places.begin(), places.end());
    schedule.reorder(order);
    for (const std::string& place : places) schedule.unroll(place);
}

/// Unrolls a few steps of the axis around runs of bytes that are shorter than a register: what they
/// store is then narrowed and stored together. Of that axis, the loop over such steps stays.
void unrollShortRuns(Schedule& schedule, const tir::Stmt& block, std::vector<AxisView>& axes,
                     size_t contiguous, const TargetFacts& facts)
{
    constexpr int64_t kMostSteps = 8;
    bool isOfBytes = false;
    tir::visitStmts(block->body, [&](const tir::Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Store) isOfBytes = stmt->buffer->dtype.bytes() == 1;
        return true;
    });
    if (!isOfBytes || facts.vectorBytes < 16 || axes.size() <= contiguous) return;
    int64_t run = 1;
    for (size_t i = axes.size() - contiguous; i < axes.size(); ++i) run *= axes[i].extent;
    AxisView& around = axes[axes.size() - contiguous - 1];
    if (run < 4 || run >= facts.vectorBytes || around.extent < 2) return;
    int64_t together = std::min(facts.vectorBytes / run, kMostSteps);
    if (around.extent % together != 0)
        for (together = kMostSteps; around.extent % together != 0;) --together;
    if (together == 1) return;
    const auto parts = schedule.split(around.loop, {-1, together});
    schedule.unroll(parts[1]);
    around.loop = parts[0];
    around.extent /= together;
}

/// The last `contiguous` axes as one loop of vectors, the others around it.
void scheduleRun(Schedule& schedule, const std::vector<AxisView>& axes, size_t contiguous,
                 int64_t lanes, const TargetFacts& facts)
{
    std::vector<std::string> outer, inner;
    for (size_t i = 0; i < axes.size(); ++i) {
        // Without constant extents only the outer loops are known to be worth it.
        const bool isInner = i + contiguous >= axes.size() && axes[i].extent >= 0;
        (isInner ? inner : outer).push_back(axes[i].loop);
    }
    if (const std::string open = openRunOf(schedule, axes, contiguous, lanes); !open.empty()) {
        std::erase(outer, open);
        vectorizeOpenRun(schedule, open, std::move(inner), lanes);
    } else if (!inner.empty()) {
        std::string run = inner[0];
        if (inner.size() > 1) {
            const auto fused = schedule.fuse(inner);
            run = fused;
        }
        const auto vectors = vectorizeRun(schedule, run, lanes);
        if (!vectors.empty() && outer.empty()) outer.push_back(vectors);
    }
    return parallelise(schedule, outer, facts);
}

/// Vectors of several parts at once, whose elements take turns.
void scheduleInTurns(Schedule& schedule, const tir::Stmt& block, std::vector<AxisView>& axes,
                     const Interleaving& turns, int64_t lanes, const TargetFacts& facts)
{
    unrollPeriods(schedule, block, axes, turns.ownAxes);
    std::vector<std::string> outer, own;
    for (size_t i = 0; i < axes.size(); ++i)
        (i + turns.ownAxes < axes.size() ? outer : own).push_back(axes[i].loop);
    if (turns.whole > 0) {
        const auto parts = blocksOfParts(schedule, block->block.name, own.back(), {turns.whole});
        own.back() = schedule.loopsOf(parts[0]).back();
        schedule.unroll(schedule.loopsOf(parts[1]).back());
    }
    interleave(schedule, turns, own, lanes);
    return parallelise(schedule, outer, facts);
}

/// Joined patches along an axis that nobody counted yet; false for anything else.
bool scheduleOpenPatches(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const bool isBound = std::none_of(axes.begin(), axes.end(),
                                      [](const AxisView& axis) { return axis.loop.empty(); });
    if (axes.empty() || !isBound || contiguousAxes(stmt) > 0) return false;
    const int64_t lanes = openLanesInBlocks(stmt, lanesOf(schedule, block, facts));
    if (lanes > 0) scheduleRun(schedule, axes, 1, lanes, facts);
    return lanes > 0;
}

/// The loops around tiles that cross in registers, of open or of known sizes.
std::optional<std::vector<std::string>> tileAnyCrossing(Schedule& schedule,
                                                        const std::string& block, int64_t lanes,
                                                        const TargetFacts& facts)
{
    if (lanes >= 4)
        if (const auto tiled = tileOpenCrossing(schedule, block, lanes)) return tiled;
    if (!storesContiguously(blockOf(schedule, block))) return std::nullopt;
    return tileCrossing(schedule, block, lanes, facts);
}

/// Axes of one element behind others hide what the axis before them walks: pixels that become
/// planes in blocks of one channel, which a convolution of three wants, were moved one by one.
void dropUnitsBehind(Schedule& schedule, const std::string& block)
{
    for (;;) {
        const tir::Stmt stmt = blockOf(schedule, block);
        const std::vector<tir::IterVar>& iters = stmt->block.iters;
        if (iters.size() < 2 || !iters.back().extent.isConstInt(1) || contiguousAxes(stmt) > 0)
            return;
        if (!schedule.tries().fuseAxes(block, static_cast<int64_t>(iters.size()) - 2)) return;
    }
}

} // namespace

void scheduleElementwise(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    dropUnitsBehind(schedule, block);
    const tir::Stmt stmt = blockOf(schedule, block);
    std::vector<AxisView> axes = axesOf(schedule, block);
    const auto isBound = [](const AxisView& axis) { return !axis.loop.empty(); };
    if (axes.empty() || !std::all_of(axes.begin(), axes.end(), isBound)) return;
    size_t contiguous = contiguousAxes(stmt);
    int64_t lanes = lanesOf(schedule, block, facts);
    if (contiguous == 0 && lanes >= 4)
        if (const auto turns = interleavingOf(stmt, facts))
            return scheduleInTurns(schedule, stmt, axes, *turns, lanes, facts);
    if (contiguous == 0 && axes.back().extent > 0) {
        const std::vector<int64_t> borders = bordersOf(stmt, stmt->block.iters.back());
        if (!borders.empty()) return scheduleParts(schedule, block, borders, facts);
        if (const int64_t inBlocks = lanesInBlocks(stmt, lanes); inBlocks > 0) {
            contiguous = 1;
            lanes = inBlocks;
        } else if (const std::vector<int64_t> repeats = repeatsOf(stmt); !repeats.empty()) {
            return scheduleParts(schedule, block, repeats, facts);
        } else if (const std::vector<int64_t> ends = endsOfRuns(stmt, facts); !ends.empty()) {
            return scheduleParts(schedule, block, ends, facts);
        } else if (const int64_t repeated = lanesOfRepeatedElements(stmt, lanes); repeated > 0) {
            contiguous = 1;
            lanes = repeated;
        }
    }
    if (contiguous == 0) {
        if (const auto tiled = tileAnyCrossing(schedule, block, lanes, facts))
            return parallelise(schedule, *tiled, facts);
        if (storesContiguously(stmt)) contiguous = 1;
    }
    if (contiguous == 0 && choosesAlongLast(stmt, axes.back().extent, lanes, facts)) contiguous = 1;
    const auto borders = bordersOfRows(schedule, stmt, axes, contiguous, lanes, facts);
    if (!borders.empty())
        return scheduleJoinedRows(schedule, block, axes, contiguous, borders, lanes, facts);
    contiguous = gatheredAxes(stmt, contiguous, lanes);
    if (contiguous > 0) {
        unrollPeriods(schedule, stmt, axes, contiguous);
        unrollShortRuns(schedule, stmt, axes, contiguous, facts);
    }
    return scheduleRun(schedule, axes, contiguous, lanes, facts);
}

void scheduleBlock(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    for (const AxisView& axis : axesOf(schedule, block))
        if (axis.isReduce) return scheduleReduction(schedule, block, facts);
    if (scheduleOpenPatches(schedule, block, facts)) return;
    return scheduleElementwise(schedule, block, facts);
}

void scheduleEach(Schedule& schedule, const TargetFacts& facts)
{
    for (const std::string& block : schedule.blocks()) scheduleBlock(schedule, block, facts);
}

} // namespace tenon::compiler
