// SPDX-License-Identifier: Apache-2.0
// Grouped convolutions of bytes in blocks of channels: narrow groups several at a time.
#pragma once

#include "core/tensor/tensor.h"

#include <optional>

namespace tenon::compiler {

using namespace core;

/// What decides which groups are computed together.
struct ByteGroups
{
    int64_t groups, inChannels, outChannels; ///< channels of all groups
    int lanes;                               ///< channels in a block at most
    int vectorLanes;                         ///< of int32 that one instruction takes; 1: no vectors
    bool hasRuns; ///< sixteen channels of data are multiplied for one sum
};

/// How many groups stay when as many are joined as is cheapest, with zeros between them; nothing
/// where no number of them fills blocks.
std::optional<int64_t> joinedGroups(const ByteGroups& of);

/// int8 [O, C/groups, KH, KW] -> [O, C/joined, KH, KW] with zeros where other groups' channels are.
Tensor joinedWeight(const Tensor& weight, int64_t groups, int64_t joined);

} // namespace tenon::compiler
