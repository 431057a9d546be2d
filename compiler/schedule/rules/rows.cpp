// SPDX-License-Identifier: Apache-2.0
// Strands and vectors along rows.
#include "compiler/schedule/rules/rows.h"

#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Strands are summed four by four, and the four sums in turn: sums of single values wait for each
/// other. So few steps stay in registers.
constexpr int64_t kStrandsTogether = 4;

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

/// Number of the block's first reduced axis; of its axes when it reduces none.
size_t reducedAxis(const std::vector<AxisView>& axes)
{
    const auto found =
        std::find_if(axes.begin(), axes.end(), [](const AxisView& axis) { return axis.isReduce; });
    return static_cast<size_t>(found - axes.begin());
}

/// The last, partial step of strands has masks and gets a loop of its own.
Status peelPartialStep(Schedule& schedule, const std::string& block, const std::string& steps,
                       int64_t whole)
{
    if (!blockOf(schedule, block)->block.predicate.get() || whole >= schedule.extentOf(steps))
        return kDone;
    const auto tail = schedule.peel(steps, whole);
    if (!tail) return tail.error();
    return schedule.vectorize(innermostIn(schedule, *tail));
}

} // namespace

Status makeRowStrands(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const std::vector<AxisView> own = axesOf(schedule, block);
    const int64_t lanes = lanesOf(schedule, block, facts);
    if (own.empty() || !own.back().isReduce || own.back().extent <= lanes || lanes < 4)
        return kDone;
    const auto parts = schedule.split(own.back().loop, {-1, lanes});
    if (!parts) return parts.error();
    const auto rank = static_cast<int64_t>(own.size()) - 1;
    const auto strands = schedule.rfactor((*parts)[1], rank);
    if (!strands) return strands.error();
    if (lanes < 8) return kDone;
    const auto fours = schedule.split(axesOf(schedule, block).back().loop, {-1, kStrandsTogether});
    if (!fours) return fours.error();
    const auto sums = schedule.rfactor((*fours)[1], rank);
    return sums ? kDone : Status(sums.error());
}

Status vectorizeRows(Schedule& schedule, const std::string& block, int64_t extent,
                     const TargetFacts& facts)
{
    const std::vector<AxisView> own = axesOf(schedule, block);
    const size_t reduce = reducedAxis(own);
    if (reduce == own.size()) return vectorizeRow(schedule, block, facts);
    // The strand axis of a factored reduction comes after the reduced one and goes inside.
    const int64_t lanes = lanesOf(schedule, block, facts);
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const size_t first = loops.size() - own.size();
    std::vector<std::string> order(loops.begin() + static_cast<std::ptrdiff_t>(first),
                                   loops.begin() + static_cast<std::ptrdiff_t>(first + reduce));
    const std::string steps = loops[first + reduce];
    const std::string vector = reduce + 1 < own.size() ? loops.back() : "";
    order.push_back(steps);
    if (!vector.empty()) order.push_back(vector);
    if (Status status = schedule.reorder(order); !status) return status;
    if (Status status = initialiseTile(schedule, block, steps, vector.empty() ? 0 : 1, lanes);
        !status)
        return status;
    if (!vector.empty()) {
        if (Status status = peelPartialStep(schedule, block, steps, extent / lanes); !status)
            return status;
        if (Status status = schedule.vectorize(vector); !status) return status;
    }
    return schedule.extentOf(steps) == kStrandsTogether ? schedule.unroll(steps) : kDone;
}

} // namespace tenon::compiler
