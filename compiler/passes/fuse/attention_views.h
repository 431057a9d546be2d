// SPDX-License-Identifier: Apache-2.0
// Reading an operand of attention through the transpositions, splits and reshapes before it.
#pragma once

#include "compiler/passes/use_index.h"

#include <vector>

namespace tenon::compiler {

/// nn.attention's description of an operand: the axis of each dimension of `source` (-1: fixed),
/// and the first index along it.
struct AttentionView
{
    ValueRef source;
    std::vector<int64_t> axes, begin;
    const NodeRecord* conversion = nullptr; ///< of integers, in which the source is, to numbers
};

/// `value`, whose dimensions are `axes`, as a view of the earliest value that only moves it.
/// The nodes in between are added to `nodes`. Integers are converted in front of what moves them.
AttentionView viewThrough(const Module& module, ValueRef value, std::vector<int64_t> axes,
                          std::vector<NodeId>& nodes);

/// Those of `nodes` that nothing else reads once `last`'s result is replaced; each once.
std::vector<NodeId> withoutReaders(const UseIndex& uses, const std::vector<NodeId>& nodes,
                                   NodeId last);

} // namespace tenon::compiler
