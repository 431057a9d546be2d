// SPDX-License-Identifier: Apache-2.0
// softmax: one pass over a row at a time, all its blocks under the row's loop.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

Status scheduleEach(Schedule& schedule, const TargetFacts& facts)
{
    for (const std::string& block : schedule.blocks())
        if (Status status = scheduleBlock(schedule, block, facts); !status) return status;
    return kDone;
}

/// Vectorizes the block's innermost loop where its accesses are contiguous.
Status vectorizeRow(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const std::string row = schedule.loopsOf(block).back();
    const tir::Stmt stmt = blockOf(schedule, block);
    const int64_t lanes = lanesOf(schedule, block, facts);
    const int64_t extent = schedule.extentOf(row);
    if (extent < 4 || !isContiguousAlong(stmt, stmt->block.iters.size() - 1)) return kDone;
    if (extent <= lanes) return schedule.vectorize(row);
    const auto parts = schedule.splitOverlap(row, lanes);
    if (!parts) return parts.error();
    return schedule.vectorize((*parts)[1]);
}

/// The innermost loop of the block in `loop`.
std::string innermostIn(const Schedule& schedule, const std::string& loop)
{
    for (const std::string& block : schedule.blocks()) {
        const std::vector<std::string> loops = schedule.loopsOf(block);
        if (std::find(loops.begin(), loops.end(), loop) != loops.end()) return loops.back();
    }
    return loop;
}

} // namespace

Status scheduleSoftmax(Schedule& schedule, const TargetFacts& facts)
{
    const std::vector<std::string> blocks = schedule.blocks();
    const std::string last = blocks.back();
    const std::vector<AxisView> axes = axesOf(schedule, last);
    const int64_t axis =
        blockOf(schedule, anchorOf(schedule))->block.annotations.integer("axis", 0);
    bool isPlain = axes.size() > 1 && axis == static_cast<int64_t>(axes.size()) - 1;
    for (const AxisView& view : axes) isPlain = isPlain && view.extent > 0 && !view.isReduce;
    if (!isPlain) return scheduleEach(schedule, facts);

    // Strands first, while each block has loops of its own.
    const int64_t lanes = lanesOf(schedule, last, facts);
    for (const std::string& block : blocks) {
        const std::vector<AxisView> own = axesOf(schedule, block);
        if (own.empty() || !own.back().isReduce) continue;
        const int64_t extent = own.back().extent;
        if (extent <= lanes || lanes < 4) continue;
        const auto parts = schedule.split(own.back().loop, {-1, lanes});
        if (!parts) return parts.error();
        const auto rank = static_cast<int64_t>(own.size()) - 1;
        const auto strands = schedule.rfactor((*parts)[1], rank);
        if (!strands) return strands.error();
        if (lanes < 8) continue;
        // The strands are summed four by four: sums of single values wait for each other.
        const auto fours = schedule.split(axesOf(schedule, block).back().loop, {-1, 4});
        if (!fours) return fours.error();
        const auto sums = schedule.rfactor((*fours)[1], rank);
        if (!sums) return sums.error();
    }

    const std::string row = axes[axes.size() - 2].loop;
    const std::vector<std::string> all = schedule.blocks();
    for (size_t i = all.size() - 1; i-- > 0;)
        if (Status status = schedule.computeAt(all[i], row); !status) return status;
    for (const std::string& block : schedule.blocks()) {
        const std::vector<AxisView> own = axesOf(schedule, block);
        size_t reduce = own.size();
        for (size_t i = 0; i < own.size(); ++i)
            if (own[i].isReduce) reduce = std::min(reduce, i);
        if (reduce == own.size()) {
            if (Status status = vectorizeRow(schedule, block, facts); !status) return status;
            continue;
        }
        // The strand axis of a factored reduction comes after the reduced one and goes inside.
        const std::vector<std::string> loops = schedule.loopsOf(block);
        const size_t first = loops.size() - own.size();
        std::vector<std::string> order;
        std::string vector;
        for (size_t i = 0; i < own.size(); ++i) {
            if (i > reduce)
                vector = loops[first + i];
            else if (i < reduce)
                order.push_back(loops[first + i]);
        }
        order.push_back(loops[first + reduce]);
        if (!vector.empty()) order.push_back(vector);
        if (Status status = schedule.reorder(order); !status) return status;
        if (Status status = initialiseTile(schedule, block, loops[first + reduce],
                                           vector.empty() ? 0 : 1, lanes);
            !status)
            return status;
        if (vector.empty()) continue;
        // The last, partial step of the strands has masks.
        const std::string steps = loops[first + reduce];
        const int64_t whole = axes.back().extent / lanes;
        if (blockOf(schedule, block)->block.predicate.get() && whole < schedule.extentOf(steps)) {
            const auto tail = schedule.peel(steps, whole);
            if (!tail) return tail.error();
            if (Status status = schedule.vectorize(innermostIn(schedule, *tail)); !status)
                return status;
        }
        if (Status status = schedule.vectorize(vector); !status) return status;
    }
    std::vector<std::string> outer;
    for (size_t i = 0; i + 1 < axes.size(); ++i) outer.push_back(axes[i].loop);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
