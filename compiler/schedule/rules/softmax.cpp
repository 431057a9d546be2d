// SPDX-License-Identifier: Apache-2.0
// softmax and layer_norm: one row at a time, all its blocks under the row's loop.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/rules/rule.h"

namespace tenon::compiler {
namespace {

Status scheduleEach(Schedule& schedule, const TargetFacts& facts)
{
    for (const std::string& block : schedule.blocks())
        if (Status status = scheduleBlock(schedule, block, facts); !status) return status;
    return kDone;
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
    // Rows shorter than a vector: vectors of several rows instead.
    isPlain = isPlain && axes.back().extent >= 4;
    if (!isPlain) return scheduleEach(schedule, facts);

    // Strands first, while each block has loops of its own.
    for (const std::string& block : blocks)
        if (Status status = makeRowStrands(schedule, block, facts); !status) return status;

    const std::string row = axes[axes.size() - 2].loop;
    const std::vector<std::string> all = schedule.blocks();
    for (size_t i = all.size() - 1; i-- > 0;)
        if (Status status = schedule.computeAt(all[i], row); !status) return status;
    for (const std::string& block : schedule.blocks())
        if (Status status = vectorizeRows(schedule, block, axes.back().extent, facts); !status)
            return status;
    std::vector<std::string> outer;
    for (size_t i = 0; i + 1 < axes.size(); ++i) outer.push_back(axes[i].loop);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
