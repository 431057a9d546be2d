// SPDX-License-Identifier: Apache-2.0
// Primitive functions whose symbolic dimensions only count items that are computed alike: their
// kernel is the static one of a single item, called once per item.
#pragma once

#include "core/ir/module.h"
#include "core/tensor/dim_bounds.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Attributes of a call_tir: how many items its open values hold; the kernels that
/// take chunks of items at once, and how many these are, falling.
inline constexpr const char* kItemsAttr = "items";
inline constexpr const char* kChunkKernelsAttr = "chunk_kernels";
inline constexpr const char* kChunkItemsAttr = "chunk_items";

struct Items
{
    Dim count; ///< that every open value holds: N of [N, 64, 8] and of [64*N, 8]
    /// Items that kernels of several take, falling; empty: none is worth it.
    std::vector<int64_t> chunks;
};

/// Nothing when every dimension is known, when items depend on one another or on their number, or
/// when a kernel with sizes does as well.
std::optional<Items> itemsOf(const Module& module, const GraphFunction& function,
                             const SizeBounds& bounds);

/// How many of the rows that the dimensions up to the last open one count are one item's; nothing
/// where items do not divide them.
std::optional<int64_t> rowsPerItem(const TensorType& type, const Dim& items);

/// The type of `count` of the items of a value: its dimensions up to the last open one become 1,
/// the last of them as many rows as that is.
TensorType itemType(const TensorType& type, const Dim& items, int64_t count);

} // namespace tenon::compiler
