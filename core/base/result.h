// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or the Diagnostic that says why there is none.
#pragma once

#include "core/base/check.h"
#include "core/base/diagnostic.h"

#include <utility>
#include <variant>

namespace tenon::core {

/// Either a T or a Diagnostic. Propagate with `if (!r) return r.error();`.
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value))
    {
    }
    Result(Diagnostic error)
        : m_state(std::in_place_index<1>, std::move(error))
    {
    }

    explicit operator bool() const { return m_state.index() == 0; }

    T& value() &
    {
        CHECK(*this) << error().text();
        return std::get<0>(m_state);
    }
    const T& value() const&
    {
        CHECK(*this) << error().text();
        return std::get<0>(m_state);
    }
    T&& value() &&
    {
        CHECK(*this) << error().text();
        return std::get<0>(std::move(m_state));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Diagnostic& error() const { return std::get<1>(m_state); }
    Diagnostic& error() { return std::get<1>(m_state); }

private:
    std::variant<T, Diagnostic> m_state;
};

struct Done
{
};

/// Result of an action that yields nothing but success; return kDone.
using Status = Result<Done>;
inline constexpr Done kDone{};

} // namespace tenon::core
