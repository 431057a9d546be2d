// SPDX-License-Identifier: Apache-2.0
// Which operators become one kernel: TVM's categories over the post-dominator tree of a function.
#pragma once

#include "core/ir/module.h"

#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

struct FusionGroup
{
    std::vector<NodeId> members; ///< in order; the last one's results are the group's
    NodeId anchor;               ///< the convolution, dense layer or reduction; may be invalid
    std::string reason;          ///< why there are several anchors, of which `anchor` is the last
    /// Members depend on nothing of one another and run at one time; all their results are the
    /// group's.
    bool isSideBySide = false;
};

/// A concatenation along the first dimension that is longer than one: it moves whole tensors, which
/// executors may place where they belong.
bool joinsWholeTensors(const NodeRecord& node);

/// Bytes that a part of a concatenation begins at a multiple of, where it is to be placed.
inline constexpr int64_t kPartAlignment = 64;

/// The axis of a concatenation whose result has a constant shape.
std::optional<size_t> joinedAxis(const NodeRecord& node);

/// Every Op node of `function` in exactly one group. Rules: a group has one exit, which all paths
/// from its members pass; at most one anchor, followed only by elementwise operators on its shape;
/// an elementwise operator never moves into a reader that would compute it more than once; a
/// concatenation of whole computed tensors stands alone.
std::vector<FusionGroup> fusionGroups(const Module& module, const GraphFunction& function,
                                      int64_t maxMembers);

} // namespace tenon::compiler
