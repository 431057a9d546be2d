// SPDX-License-Identifier: GPL-3.0-or-later
// PassStep: what one pass of the pipeline did, or some rewrites of one that is stepped.
#pragma once

#include "core/ir/change_set.h"

#include <QString>

#include <limits>
#include <optional>
#include <vector>

namespace tenon::views {

/// One pass of the pipeline and the module after it.
struct PassStep
{
    QString name;
    QString phase;
    bool isSkipped = false;
    bool isChanged = false;
    double ms = 0;
    std::vector<core::Change> changes;
    core::Module after;
    /// Of the results from those of the imported model, where that was checked and it changed any.
    std::optional<double> maxAbsError = {};
    int position = 0; ///< of its pass in the pipeline
    /// Of a pass that is stepped: the rewrites that this is of, from 1; 0: it is the whole pass.
    int firstRewrite = 0, lastRewrite = 0, rewrites = 0;

    /// "FuseOps", "FuseOps, rewrite 3 of 14", "FuseOps, rewrites 3 to 5 of 14".
    QString title() const;
};

/// A pass that is looked at rewrite by rewrite: each of those from `first` to `last`, or every
/// `stride` of them, is a step of its own.
struct SteppedPass
{
    int position = 0; ///< in the pipeline
    int first = 1;
    int last = std::numeric_limits<int>::max();
    int stride = 1;
};

} // namespace tenon::views
