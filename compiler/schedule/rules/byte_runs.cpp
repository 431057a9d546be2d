// SPDX-License-Identifier: Apache-2.0
// Sums of products of bytes side by side: four filters share the run of data that is loaded, and
// what follows is computed for all four as one vector. Layers of few channels have no runs: theirs
// multiply one byte of data with a vector of filters, for several columns.
#include "compiler/schedule/rules/byte_runs.h"

#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Sums that a core has registers for beside addresses; as many lanes has a vector of them.
constexpr int64_t kFilters = 4;
/// Words of bytes that one instruction takes.
constexpr int64_t kRunWords = 4;
/// Rows that are padded at a time, for all filters.
constexpr int64_t kPaddedRows = 2;

/// Loops around the filters of one vector; the second is where rows may be padded, or "".
struct ConvOutside
{
    std::vector<std::string> loops;
    std::string padLoop;
};

ConvOutside loopsOutside(Schedule& schedule, const ConvSite& site, const std::string& filters,
                         bool isFlat, bool isPadded)
{
    const auto& [shape, loops] = site;
    if (isFlat) return {{loops.n, loops.outBlock, filters}, ""};
    if (!isPadded) return {{loops.n, loops.outBlock, filters, loops.row}, ""};
    const auto rows = schedule.split(loops.row, {-1, divisorUpTo(shape.rows, kPaddedRows)});
    return {{loops.n, rows[0], loops.outBlock, filters, rows[1]}, rows[0]};
}

/// Few steps are written out: their addresses become offsets.
void unrollFew(Schedule& schedule, const std::vector<std::string>& inner, int64_t most)
{
    int64_t steps = 1;
    for (size_t i = inner.size(); i-- > 0;) {
        const int64_t extent = schedule.extentOf(inner[i]);
        steps *= extent;
        if (steps > most) return;
        if (extent > 1) schedule.unroll(inner[i]);
    }
}

void scheduleRuns(Schedule& schedule, const std::string& conv, const ConvSite& site,
                  const ConvOutside& outside, const std::string& filters)
{
    const ConvLoops& loops = site.loops;
    std::vector<std::string> order = outside.loops;
    order.insert(order.end(), {loops.column, loops.inBlock, loops.kernelRow, loops.kernelColumn,
                               filters, loops.inLane});
    schedule.reorder(order);
    initialiseTile(schedule, conv, loops.inBlock, 1, 1);
    schedule.unroll(filters);
    // Of larger kernels, GCC keeps an address for each run on the stack (ResNet-8: 0.61 in place of
    // 0.51 instructions per multiply-add).
    constexpr int64_t kFewRuns = 4;
    if (site.shape.kernelRows * site.shape.kernelColumns > 1) return;
    return unrollFew(schedule, {loops.inBlock}, kFewRuns);
}

/// Sums of as many columns as there are registers for, beside weights, data and products.
void scheduleFewChannels(Schedule& schedule, const std::string& conv, const ConvSite& site,
                         const ConvOutside& outside, const std::string& filters,
                         const std::string& column)
{
    const ConvLoops& loops = site.loops;
    std::vector<std::string> order = outside.loops;
    order.insert(order.end(), {loops.column, loops.inBlock, loops.kernelRow, loops.kernelColumn,
                               loops.inLane, column, filters});
    schedule.reorder(order);
    initialiseTile(schedule, conv, loops.inBlock, 2, kFilters);
    unrollTile(schedule, conv, 2, kFilters);
    constexpr int64_t kFewSteps = 4;
    return unrollFew(schedule, {loops.kernelColumn, loops.inLane}, kFewSteps);
}

/// Tiles inside the loops around the filters; the result names the blocks that cannot follow.
std::vector<std::string> tileOutside(Schedule& schedule, const std::string& conv,
                                     const ConvSite& site, const ConvOutside& outside,
                                     const std::string& filters, const TargetFacts& facts)
{
    if (site.shape.weights->dtype == kInt32) {
        scheduleRuns(schedule, conv, site, outside, filters);
        return attachEpilogue(schedule, conv, site.loops.column, kFilters);
    }
    const int64_t sums = facts.vectorRegisters - 3;
    const auto columns = schedule.splitOverlap(
        site.loops.column, std::min(sums, schedule.extentOf(site.loops.column)));
    ConvSite tiled = site;
    tiled.loops.column = columns[0];
    scheduleFewChannels(schedule, conv, tiled, outside, filters, columns[1]);
    return attachEpilogue(schedule, conv, columns[0], kFilters);
}

} // namespace

bool multipliesRuns(const Schedule& schedule, const std::string& conv, const ConvShape& shape)
{
    return shape.weights->dtype == kInt8 ||
           blockOf(schedule, conv)->block.annotations.integer("weight_runs", 0) != 0;
}

std::vector<std::string> tileConvRuns(Schedule& schedule, const std::string& conv,
                                      const ConvSite& site, const TargetFacts& facts)
{
    const auto lanes = schedule.split(site.loops.lane, {-1, kFilters});
    const ConvOutside outside = loopsOutside(schedule, site, lanes[0], false, false);
    return tileOutside(schedule, conv, site, outside, lanes[1], facts);
}

void scheduleConvRuns(Schedule& schedule, const std::string& conv, const ConvSite& site,
                      bool isFlat, const TargetFacts& facts)
{
    const std::vector<std::string> pads = blocksBefore(schedule, conv);
    const auto lanes = schedule.split(site.loops.lane, {-1, kFilters});
    const ConvOutside outside = loopsOutside(schedule, site, lanes[0], isFlat, !pads.empty());
    const auto left = tileOutside(schedule, conv, site, outside, lanes[1], facts);
    for (size_t i = pads.size(); i-- > 0;) schedulePad(schedule, pads[i], outside.padLoop, facts);
    for (const std::string& block : left) scheduleElementwise(schedule, block, facts);
}

void scheduleDenseRuns(Schedule& schedule, const TargetFacts& facts)
{
    const std::string dense = anchorOf(schedule);
    const std::vector<std::string> others = blocksBefore(schedule, dense);
    std::vector<std::string> keep = others;
    keep.push_back(dense);
    inlineElementwise(schedule, keep);
    accumulateInRegisters(schedule, dense);
    const std::vector<AxisView> axes = axesOf(schedule, dense);
    const auto filters = schedule.splitOverlap(axes[1].loop, std::min(kFilters, axes[1].extent));
    const auto words = schedule.split(axes[2].loop, {-1, divisorUpTo(axes[2].extent, kRunWords)});
    schedule.reorder({axes[0].loop, filters[0], words[0], filters[1], words[1]});
    initialiseTile(schedule, dense, words[0], 1, 1);
    const auto left = attachEpilogue(schedule, dense, filters[0], kFilters);
    if (schedule.extentOf(filters[1]) > 1) schedule.unroll(filters[1]);
    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
}

} // namespace tenon::compiler
