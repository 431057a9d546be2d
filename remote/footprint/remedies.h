// SPDX-License-Identifier: Apache-2.0
// What would make a model smaller, priced by planning it.
#pragma once

#include "remote/footprint/fit.h"

namespace tenon::remote {

/// What a plan alone tells.
struct PlannedNeed
{
    int64_t constants = 0;
    int64_t workspace = 0;
    int64_t io = 0; ///< beside the workspace
};
PlannedNeed plannedNeed(const compiler::CompileResult& result);

struct RemedyBasis
{
    BoardBudget budget;
    int64_t codeBytes = 0;   ///< of flash beside constants, as far as it is known
    int64_t staticBytes = 0; ///< of memory beside workspace, inputs and outputs
};

/// Those that change something: another planner, another order, inputs and outputs in the
/// workspace, patch-wise execution, integers of 8 bits, a second memory, another board. Errors:
/// Cancelled.
core::Result<std::vector<Remedy>> remediesFor(const compiler::CompileResultPtr& result,
                                              const RemedyBasis& basis, core::JobContext& job);

} // namespace tenon::remote
