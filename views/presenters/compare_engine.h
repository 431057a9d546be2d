// SPDX-License-Identifier: GPL-3.0-or-later
// CompareEngine: what the window asks of comparisons with a reference, as plain functions run
// inside jobs.
#pragma once

#include "views/presenters/board_engine.h"

namespace tenon::views {

struct CompareQuestion;
struct CompareOutcome;
struct TensorValues;

struct CompareEngine
{
    /// Every tensor that the board computes beside the reference's.
    std::function<core::Result<CompareOutcome>(const CompareQuestion&, const BoardAsk&,
                                               core::JobContext&)>
        run;
    /// The values of one tensor of the comparison, by its index, of its worst data set.
    std::function<core::Result<TensorValues>(const CompareOutcome&, size_t tensor,
                                             core::JobContext&)>
        values;
    bool hasOnnxRuntime = false; ///< it can be the reference
};

} // namespace tenon::views
