// SPDX-License-Identifier: Apache-2.0
// What tells images of on-device servers apart.
#pragma once

#include <string_view>

namespace tenon::compiler {

/// In front of an image's name, which the board says, too; in sources what stands for the name
/// until the whole project is known.
inline constexpr std::string_view kImageMark = "tenon-image:";
inline constexpr std::string_view kImagePlace = "@IMAGE@";

} // namespace tenon::compiler
