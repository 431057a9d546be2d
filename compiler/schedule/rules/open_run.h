// SPDX-License-Identifier: Apache-2.0
// Runs of elements side by side that nobody counted yet.
#pragma once

#include "compiler/schedule/rules/rule.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// The loop over such a run where it is all of the last `contiguous` axes; "" where there is none.
std::string openRunOf(const Schedule& schedule, const std::vector<AxisView>& axes,
                      size_t contiguous, int64_t lanes);
/// In vectors, around which are the loops of one iteration each behind it.
void vectorizeOpenRun(Schedule& schedule, const std::string& run, std::vector<std::string> ones,
                      int64_t lanes);

} // namespace tenon::compiler
