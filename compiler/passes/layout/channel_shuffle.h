// SPDX-License-Identifier: Apache-2.0
// Channels that change places as a table of them is transposed: as ShuffleNet mixes its groups.
#pragma once

#include "core/ir/module.h"

#include <optional>

namespace tenon::compiler {

using namespace core;

/// [N, C, H, W] as [N, rows, columns, H, W], rows and columns exchanged, and back.
struct ChannelShuffle
{
    ValueRef images;
    int64_t rows = 0, columns = 0; ///< before
};

/// The one that ends in this reshape, of images whose rows and columns may be of any number.
std::optional<ChannelShuffle> channelShuffleOf(const Module& module, const NodeRecord& reshape);

} // namespace tenon::compiler
