// SPDX-License-Identifier: Apache-2.0
// Joins the axes of neighbouring results and splits them into tiles of few vectors.
#include "compiler/schedule/rules/result_runs.h"

#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Vectors that do not wait for each other, and read whole lines of what lies rows apart.
constexpr int64_t kMostVectors = 4;

struct Run
{
    size_t first = 0, last = 0; ///< axes
    int64_t extent = 0;         ///< -1: nobody knows
};

bool isSideBySide(const tir::Stmt& block, const std::vector<AxisView>& axes, size_t outer)
{
    const int64_t inner = axes[outer + 1].extent;
    const AxisSteps steps = stepsOf(block);
    return inner > 0 && !axes[outer].isReduce &&
           !branchesAlong(block, block->block.iters[outer].var) &&
           std::all_of(steps.access.begin(), steps.access.end(), [&](const auto& access) {
               return access[outer] != kUnknownStep && access[outer + 1] != kUnknownStep &&
                      access[outer] == access[outer + 1] * inner;
           });
}

/// The run that the last axis of results ends, of `most` elements where others are as good; no
/// extent where there is none.
Run runOf(const tir::Stmt& block, const std::vector<AxisView>& axes, int64_t most)
{
    const auto reduced =
        std::find_if(axes.begin(), axes.end(), [](const AxisView& axis) { return axis.isReduce; });
    Run run{.last = static_cast<size_t>(reduced - axes.begin())};
    const bool isPlain =
        reduced != axes.end() &&
        std::all_of(reduced, axes.end(), [](const AxisView& axis) { return axis.isReduce; }) &&
        std::none_of(axes.begin(), axes.end(),
                     [](const AxisView& axis) { return axis.loop.empty(); });
    while (isPlain && run.last > 0 && axes[run.last - 1].extent == 1) --run.last;
    if (!isPlain || run.last == 0 || !isContiguousAlong(block, --run.last)) return {};
    run.first = run.last;
    run.extent = axes[run.last].extent;
    while (run.first > 0 && isSideBySide(block, axes, run.first - 1)) {
        const int64_t more = axes[run.first - 1].extent;
        if (more > 0 && run.extent > most / more) break;
        run.extent = more < 0 || run.extent < 0 ? -1 : run.extent * more;
        --run.first;
    }
    return run;
}

/// What is reduced lies in other pages, step by step: each vector of results by itself would read a
/// piece of every page.
bool readsFarApart(const tir::Stmt& block, const std::vector<AxisView>& axes)
{
    constexpr int64_t kPageBytes = 4096;
    const AxisSteps steps = stepsOf(block);
    const int64_t bytes = writtenIn(block)[0]->dtype.bytes();
    return steps.isKnown &&
           std::any_of(steps.access.begin(), steps.access.end(), [&](const auto& access) {
               for (size_t i = 0; i < axes.size(); ++i)
                   if (axes[i].isReduce && axes[i].extent > 1)
                       return access[i] != kUnknownStep && access[i] * bytes >= kPageBytes;
               return false;
           });
}

/// Tiles of vectors, and in them: {tiles, tile}. Only results that are all reduced before the next
/// tile may overlap.
std::vector<std::string> tilesOf(Schedule& schedule, const std::string& run, int64_t lanes,
                                 bool areRows)
{
    const int64_t extent = schedule.extentOf(run);
    if (extent < 0) return schedule.split(run, {-1, kMostVectors * lanes});
    const int64_t even = extent % lanes == 0 ? divisorUpTo(extent / lanes, kMostVectors) : 1;
    const int64_t vectors = even > 1 ? even : std::min(kMostVectors, extent / lanes);
    if (extent == vectors * lanes) return {"", run};
    return areRows ? schedule.split(run, {-1, vectors * lanes})
                   : schedule.splitOverlap(run, vectors * lanes);
}

/// Joins the axes of the run; the loop over all of them.
std::string joinRun(Schedule& schedule, const std::string& block, const Run& run)
{
    for (size_t i = run.first; i < run.last; ++i)
        schedule.fuseAxes(block, static_cast<int64_t>(run.first));
    return axesOf(schedule, block)[run.first].loop;
}

} // namespace

bool reduceResultRuns(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    constexpr int64_t kFewestLanes = 4;
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const int64_t lanes = lanesOf(schedule, block, facts);
    const bool isOpen =
        std::any_of(axes.begin(), axes.end(), [](const AxisView& axis) { return axis.extent < 0; });
    if (!stmt->init || lanes < kFewestLanes || (!isOpen && !readsFarApart(stmt, axes)))
        return false;
    // Results that every step walks along stay in the second-level cache.
    const Run run = runOf(stmt, axes, facts.l2Bytes / 2 / writtenIn(stmt)[0]->dtype.bytes());
    if (run.extent >= 0 && run.extent < lanes) return false;

    const bool areRows = run.extent < 0 || !isOpen;
    const std::string joined = joinRun(schedule, block, run);
    const auto tiles = tilesOf(schedule, joined, lanes, areRows);
    std::vector<std::string> order, reduce;
    for (const AxisView& axis : axesOf(schedule, block))
        if (axis.isReduce)
            reduce.push_back(axis.loop);
        else if (!axis.loop.empty() && axis.loop != joined)
            order.push_back(axis.loop);
    const std::vector<std::string> outer = order;
    const std::string firstReduced = reduce[0];
    if (!tiles[0].empty()) reduce.insert(areRows ? reduce.end() : reduce.begin(), tiles[0]);
    order.insert(order.end(), reduce.begin(), reduce.end());
    order.push_back(tiles[1]);
    schedule.reorder(order);
    initialiseTile(schedule, block, firstReduced, 1, lanes);
    vectorizeInParts(schedule, tiles[1], lanes);
    parallelise(schedule, outer, facts);
    return true;
}

} // namespace tenon::compiler
