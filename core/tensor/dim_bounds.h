// SPDX-License-Identifier: Apache-2.0
// DimBounds: the least and the largest value that a symbolic dimension may have.
#pragma once

#include "core/tensor/dim.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::core {

/// Both inclusive.
struct DimBounds
{
    int64_t low = 0;
    int64_t high = 0;

    bool isOne() const { return low == high; }
    friend bool operator==(const DimBounds&, const DimBounds&) = default;
};

/// Name of a symbolic dimension -> its bounds.
using SizeBounds = std::map<std::string, DimBounds>;

/// "1..8", or "4" for a single value.
std::string boundsText(const DimBounds& bounds);
/// Reads the same; nothing for other text, a negative or a falling range.
std::optional<DimBounds> parseBounds(std::string_view text);

/// The least and the largest value that `dim` can have; nothing when a symbol of it has no bounds
/// or a value leaves 64 bits. Never too narrow; wider than need be where a symbol occurs twice.
std::optional<DimBounds> rangeOf(const Dim& dim, const SizeBounds& bounds);
/// What `dim` is where every symbol is 1: 64 of 64*N.
int64_t factorOf(const Dim& dim);
/// Elements of a tensor of this shape.
Dim product(const Shape& shape);
/// Elements of the largest tensor of this shape; nothing as above.
std::optional<int64_t> mostElements(const Shape& shape, const SizeBounds& bounds);

} // namespace tenon::core
