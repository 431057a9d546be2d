// SPDX-License-Identifier: Apache-2.0
// Splits such runs into vectors; lowering takes the guard out of all but the last.
#include "compiler/schedule/rules/open_run.h"

#include <algorithm>

namespace tenon::compiler {

std::string openRunOf(const Schedule& schedule, const std::vector<AxisView>& axes,
                      size_t contiguous, int64_t lanes)
{
    constexpr int64_t kFewestLanes = 4;
    if (contiguous == 0 || lanes < kFewestLanes || schedule.function().sizes.empty()) return "";
    const auto first = axes.end() - static_cast<std::ptrdiff_t>(contiguous);
    const bool isAll =
        std::all_of(first + 1, axes.end(), [](const AxisView& axis) { return axis.extent == 1; });
    return first->extent < 0 && isAll ? first->loop : "";
}

void vectorizeOpenRun(Schedule& schedule, const std::string& run, std::vector<std::string> ones,
                      int64_t lanes)
{
    const auto parts = schedule.split(run, {-1, lanes});
    ones.insert(ones.begin(), parts[0]);
    ones.push_back(parts[1]);
    schedule.reorder(std::move(ones));
    return schedule.vectorize(parts[1]);
}

} // namespace tenon::compiler
