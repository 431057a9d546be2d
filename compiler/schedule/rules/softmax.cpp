// SPDX-License-Identifier: Apache-2.0
// softmax and layer_norm: a few rows at a time, all their blocks under one loop.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The loop over groups of rows. Each sum along a row waits for the one before; those of the other
/// rows fill that time (Sapphire Rapids, layer norm of 197 x 192: 9.0 us one by one, 6.8 us by
/// four).
std::string groupRows(Schedule& schedule, const std::vector<AxisView>& axes,
                      const TargetFacts& facts)
{
    constexpr int64_t kMostRows = 4;
    const AxisView& row = axes[axes.size() - 2];
    const int64_t rowBytes = axes.back().extent * 4;
    const int64_t cached = std::max<int64_t>(1, facts.l1Bytes / 4 / rowBytes);
    const int64_t rows = std::min({row.extent, kMostRows, cached});
    if (rows == 1) return row.loop;
    // Threads may not compute the same rows; one may, which leaves no group with fewer.
    const auto parts = facts.threads > 1 ? schedule.split(row.loop, {-1, rows})
                                         : schedule.splitOverlap(row.loop, rows);
    schedule.reorder({parts[0], parts[1], axes.back().loop});
    return parts[0];
}

} // namespace

void scheduleSoftmax(Schedule& schedule, const TargetFacts& facts)
{
    const std::vector<std::string> blocks = schedule.blocks();
    const std::string last = blocks.back();
    const std::vector<AxisView> axes = axesOf(schedule, last);
    const int64_t axis =
        blockOf(schedule, anchorOf(schedule))->block.annotations.integer("axis", 0);
    bool isPlain = axes.size() > 1 && axis == static_cast<int64_t>(axes.size()) - 1;
    for (const AxisView& view : axes) isPlain = isPlain && view.extent > 0 && !view.isReduce;
    // Rows shorter than a vector: vectors of several rows instead.
    isPlain = isPlain && axes.back().extent >= 4;
    if (!isPlain) return scheduleEach(schedule, facts);

    // Strands first, while each block has loops of its own.
    for (const std::string& block : blocks) makeRowStrands(schedule, block, facts);

    const auto row = groupRows(schedule, axes, facts);
    const std::vector<std::string> all = schedule.blocks();
    for (size_t i = all.size() - 1; i-- > 0;) schedule.computeAt(all[i], row);
    for (const std::string& block : schedule.blocks())
        vectorizeRows(schedule, block, axes.back().extent, facts);
    std::vector<std::string> outer;
    for (size_t i = 0; i + 2 < axes.size(); ++i) outer.push_back(axes[i].loop);
    outer.push_back(row);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
