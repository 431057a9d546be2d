// SPDX-License-Identifier: Apache-2.0
// Distinct integer id types: mixing a NodeId with a FunctionId is a compile error.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace tenon::core {

/// A 32-bit index that only compares and hashes; `Tag` makes each kind of id its own type.
template <class Tag>
struct Id
{
    static constexpr uint32_t kNone = 0xffffffffu;

    uint32_t value = kNone;

    constexpr Id() = default;
    constexpr explicit Id(uint32_t v)
        : value(v)
    {
    }
    constexpr bool isValid() const { return value != kNone; }
    friend constexpr auto operator<=>(Id, Id) = default;
};

} // namespace tenon::core

template <class Tag>
struct std::hash<tenon::core::Id<Tag>>
{
    size_t operator()(tenon::core::Id<Tag> id) const noexcept
    {
        return id.value * 0x9e3779b97f4a7c15ull;
    }
};
