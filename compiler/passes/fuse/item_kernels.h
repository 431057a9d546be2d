// SPDX-License-Identifier: Apache-2.0
// Primitive functions whose symbolic dimensions only count items that are computed alike: their
// kernel is the static one of a single item, called once per item.
#pragma once

#include "core/ir/module.h"
#include "core/tensor/dim_bounds.h"

#include <cstdint>
#include <optional>

namespace tenon::compiler {

using namespace core;

/// Attributes of a call_tir: how many leading dimensions count items; the kernel that takes a chunk
/// of items at once, and how many these are.
inline constexpr const char* kItemAxesAttr = "item_axes";
inline constexpr const char* kChunkKernelAttr = "chunk_kernel";
inline constexpr const char* kChunkItemsAttr = "chunk_items";

struct Items
{
    size_t axes = 0;   ///< leading dimensions that count items
    int64_t chunk = 1; ///< items that a kernel of several takes; 1: none is worth it
};

/// Nothing when every dimension is known, when items depend on one another or on their number, or
/// when a kernel with sizes does as well.
std::optional<Items> itemsOf(const Module& module, const GraphFunction& function,
                             const SizeBounds& bounds);

/// The type of `count` items of a value: its symbolic leading dimensions become 1, the last of them
/// `count`.
TensorType itemType(const TensorType& type, size_t axes, int64_t count);

} // namespace tenon::compiler
