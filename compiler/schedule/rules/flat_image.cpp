// SPDX-License-Identifier: Apache-2.0
// Vectors and tiles along a joined image end once, not once per row.
#include "compiler/schedule/rules/flat_image.h"

#include "compiler/schedule/rules/rule.h"

namespace tenon::compiler {

bool canFlatten(const Schedule& schedule, const std::string& conv, size_t rank)
{
    for (const std::string& block : blocksAfter(schedule, conv)) {
        const std::vector<AxisView> axes = axesOf(schedule, block);
        if (axes.size() != rank) return false;
        for (const AxisView& axis : axes)
            if (axis.isReduce || axis.loop.empty()) return false;
    }
    return true;
}

void flattenImage(Schedule& schedule, const std::string& conv)
{
    std::vector<std::string> blocks = blocksAfter(schedule, conv);
    blocks.insert(blocks.begin(), conv);
    std::vector<std::string> buffers;
    for (const std::string& block : blocks) {
        const std::string buffer = outputOf(schedule, block);
        if (!isOutput(schedule, buffer)) buffers.push_back(buffer);
        schedule.fuseAxes(block, 2);
    }
    for (const std::string& buffer : buffers) schedule.fuseDims(buffer, 2);
}

} // namespace tenon::compiler
