// SPDX-License-Identifier: Apache-2.0
// What the graph IR knows of an operator that a user defined: the mark of its name, and the
// attribute that keeps the name the user gave it.
#pragma once

#include <string_view>

namespace tenon::core {

inline constexpr std::string_view kUserOperatorPrefix = "user.";
inline constexpr std::string_view kOperatorAttr = "operator";

} // namespace tenon::core
