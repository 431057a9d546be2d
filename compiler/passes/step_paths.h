// SPDX-License-Identifier: Apache-2.0
// StepPaths: what stands between a function's elements and a step, where the last bit of a value
// decides. Built once per pass run.
#pragma once

#include "core/ir/module.h"

#include <unordered_set>

namespace tenon::compiler {

using namespace core;

class StepPaths
{
public:
    StepPaths(const Module& module, const GraphFunction& function);

    /// True when elementwise operators alone lead from parameters and constants to the node's
    /// results, and from there to a step: floor, a comparison, a cast to integers.
    bool decides(NodeId id) const { return m_ofElements.count(id) && m_toSteps.count(id); }

private:
    std::unordered_set<NodeId> m_ofElements; ///< no sum stands before them
    std::unordered_set<NodeId> m_toSteps;    ///< elementwise operators lead from them to a step
};

} // namespace tenon::compiler
