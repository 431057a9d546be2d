// SPDX-License-Identifier: Apache-2.0
// Descent: what became of nodes through several passes, and all that they changed together.
#pragma once

#include "core/ir/change_set.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::core {

class Descent
{
public:
    struct Line
    {
        std::vector<NodeId> heirs; ///< ascending; the node itself where it stayed
        /// That touched it on its way, each once, in order, with the index of their first pass.
        std::vector<std::pair<size_t, std::string>> rules;
    };
    /// Of the passes between two versions, in order; they must outlive it.
    explicit Descent(const std::vector<const std::vector<Change>*>& passes);

    Line follow(NodeId node) const;
    std::vector<NodeId> heirs(NodeId node) const { return follow(node).heirs; }

private:
    struct Step
    {
        std::vector<NodeId> to;
        std::vector<const std::string*> rules;
        bool isErased = false;
    };
    std::vector<std::unordered_map<NodeId, Step>> m_passes;
};

/// What several passes made of some nodes, as if one had done it.
struct ComposedChange
{
    std::vector<NodeId> from; ///< in the version before, in program order
    std::vector<NodeId> to;   ///< in the version after; those in fused functions are in their calls
    std::vector<std::string> rules;
};

/// Everything that is not in `after` as it is in `before`: each node of the two main functions is
/// in exactly one change, or is the same in both. In the order of the program before; what comes
/// from no node is last.
std::vector<ComposedChange> composeChanges(const Module& before, const Module& after,
                                           const std::vector<const std::vector<Change>*>& passes);

} // namespace tenon::core
