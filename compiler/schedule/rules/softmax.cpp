// SPDX-License-Identifier: Apache-2.0
// softmax and layer_norm: a few rows at a time, all their blocks under one loop.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Rows that are computed side by side. Each sum along a row waits for the one before; those of the
/// other rows fill that time (Sapphire Rapids, layer norm of 197 x 192: 9.0 us one by one, 6.8 us
/// by four).
int64_t rowsTogether(const std::vector<AxisView>& axes, const TargetFacts& facts)
{
    constexpr int64_t kMostRows = 4;
    const int64_t rowBytes = axes.back().extent * 4;
    const int64_t cached = std::max<int64_t>(1, facts.l1Bytes / 4 / rowBytes);
    return std::min({axes[axes.size() - 2].extent, kMostRows, cached});
}

/// Vectors of a row that are summed side by side where no other row is: of long ones, whose last
/// sums cost little beside the others.
int64_t vectorsOfRow(const std::vector<AxisView>& axes, const TargetFacts& facts)
{
    constexpr int64_t kLong = 1024;
    return rowsTogether(axes, facts) == 1 && axes.back().extent >= kLong ? 4 : 1;
}

/// The loop over groups of rows.
std::string groupRows(Schedule& schedule, const std::vector<AxisView>& axes,
                      const TargetFacts& facts)
{
    const AxisView& row = axes[axes.size() - 2];
    const int64_t rows = rowsTogether(axes, facts);
    if (rows == 1) return row.loop;
    // Threads may not compute the same rows; one may, which leaves no group with fewer.
    const auto parts = facts.threads > 1 ? schedule.split(row.loop, {-1, rows})
                                         : schedule.splitOverlap(row.loop, rows);
    schedule.reorder({parts[0], parts[1], axes.back().loop});
    return parts[0];
}

/// What only a sum reads is computed there and not stored: the exponentials of log softmax.
void inlineIntoSums(Schedule& schedule)
{
    for (const std::string& name : schedule.blocks()) {
        const std::string reader = readerOf(schedule, name);
        if (!reader.empty() && blockOf(schedule, reader)->init)
            (void)schedule.tries().computeInline(name); // refused for what is a sum itself
    }
}

} // namespace

void scheduleSoftmax(Schedule& schedule, const TargetFacts& facts)
{
    const std::string last = schedule.blocks().back();
    const std::vector<AxisView> axes = axesOf(schedule, last);
    const int64_t axis =
        blockOf(schedule, anchorOf(schedule))->block.annotations.integer("axis", 0);
    bool isPlain = axes.size() > 1 && axis == static_cast<int64_t>(axes.size()) - 1;
    for (const AxisView& view : axes) isPlain = isPlain && view.extent > 0 && !view.isReduce;
    // Rows shorter than a vector: vectors of several rows instead.
    isPlain = isPlain && axes.back().extent >= 4;
    if (!isPlain) return scheduleEach(schedule, facts);

    inlineIntoSums(schedule);
    // Strands first, while each block has loops of its own.
    const int64_t vectors = vectorsOfRow(axes, facts);
    for (const std::string& block : schedule.blocks())
        makeRowStrands(schedule, block, facts, vectors);

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
