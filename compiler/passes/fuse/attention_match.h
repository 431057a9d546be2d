// SPDX-License-Identifier: Apache-2.0
// What nn.attention takes the place of.
#pragma once

#include "compiler/passes/use_index.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

struct AttentionMask
{
    ValueRef value;
    Shape shape; ///< that it is to have; its elements stay in order
};

/// What stands between the two products.
struct Attention
{
    std::vector<NodeId> nodes; ///< all that go away for certain
    ValueRef query, key, value;
    std::vector<AttentionMask> masks; ///< that are added to the scores
    double scale = 1;
    bool keyIsTransposed = false; ///< key lies as [.., keys, depth]
    bool emptyIsZero = false;
};

/// The computation that ends with the product `mixed`, when it is attention over four dimensions.
std::optional<Attention> matchAttention(const Module& module, const UseIndex& uses,
                                        const NodeRecord& mixed);

} // namespace tenon::compiler
