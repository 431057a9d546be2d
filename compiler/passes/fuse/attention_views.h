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
    static constexpr int64_t kHead = 1; ///< among the axes

    ValueRef source;
    std::vector<int64_t> axes, begin;
    int64_t shared = 1;                     ///< heads that read the same one of the source's
    const NodeRecord* conversion = nullptr; ///< of integers, in which the source is, to numbers
};

/// Whether a view may read one head for several.
enum class Heads : uint8_t
{
    Own,
    Shared
};

/// `value`, whose dimensions are `axes`, as a view of the earliest value that only moves it.
/// The nodes in between are added to `nodes`. Integers are converted in front of what moves them.
AttentionView viewThrough(const Module& module, ValueRef value, std::vector<int64_t> axes,
                          std::vector<NodeId>& nodes, Heads heads);

/// Those of `nodes` that nothing else reads once `last`'s result is replaced; each once.
std::vector<NodeId> withoutReaders(const UseIndex& uses, const std::vector<NodeId>& nodes,
                                   NodeId last);

} // namespace tenon::compiler
