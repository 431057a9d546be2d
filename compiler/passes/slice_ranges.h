// SPDX-License-Identifier: Apache-2.0
// slicesOf: what a strided_slice takes of each dimension.
#pragma once

#include "compiler/passes/rewrite.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

struct SliceRange
{
    int64_t begin;
    int64_t stride;
    int64_t extent; ///< of the result
};

/// One range per dimension of the operand of a strided_slice whose strides are positive; nothing
/// when the node is another one or a dimension is not known.
std::optional<std::vector<SliceRange>> slicesOf(const Module& module, const NodeRecord& node);

/// The channels, along axis 1, of a strided_slice of neighbouring channels and all else of
/// [N, C, ...]; other sizes may be open. Nothing for other nodes.
std::optional<SliceRange> channelSliceOf(const Module& module, const NodeRecord& node);

/// Of a strided_slice that takes the channels from `begin` to `end`, along axis 1.
Attrs channelSliceAttrs(int64_t begin, int64_t end);

/// The number of the first element, in row-major order, of a slice whose elements lie one behind
/// the other in the operand; nothing for other nodes.
std::optional<int64_t> firstOfPiece(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
