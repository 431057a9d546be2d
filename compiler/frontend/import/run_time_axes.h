// SPDX-License-Identifier: Apache-2.0
// RunTimeAxes: a list of axes that is known when the model runs, and what operators do along them.
#pragma once

#include "compiler/frontend/import/formula.h"

namespace tenon::compiler {

/// Axes of a tensor of known rank. Which axes they are decides sizes only: these are computed from
/// short integer vectors and bound to names.
class RunTimeAxes
{
public:
    /// What an empty list means.
    enum class Empty : uint8_t
    {
        None,
        All
    };
    /// `axes`: integers, of rank 1 or a single one.
    RunTimeAxes(NodeImport& node, ValueRef axes, int64_t rank, Empty empty);

    /// Combines along the axes, which stay as 1; `op` as for dynamic_reduce, or mean.
    ValueRef reduce(const std::string& op, ValueRef x);
    /// Without the axes; fails when nobody knows how many there are.
    ValueRef squeeze(ValueRef x);
    /// With dimensions of 1 inserted so that they are axes of the result, whose rank was given.
    ValueRef unsqueeze(ValueRef x);
    /// Entries for the axes put where they belong in a vector over all dimensions, `others`
    /// elsewhere.
    ValueRef spread(ValueRef entries, ValueRef others);

private:
    ValueRef keptBefore();

    NodeImport& m_node;
    Formula f;
    int64_t m_rank;
    Dim m_count;        ///< of axes
    ValueRef m_matches; ///< bool [rank, count]
    ValueRef m_isNamed; ///< bool [rank]
};

} // namespace tenon::compiler
