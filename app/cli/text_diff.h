// SPDX-License-Identifier: Apache-2.0
// A line diff for showing what a pass did.
#pragma once

#include <string>

namespace tenon::cli {

/// Lines of both texts with "  ", "- " or "+ " in front; runs of more than six equal lines are
/// shortened to three on each side.
std::string textDiff(const std::string& before, const std::string& after);

} // namespace tenon::cli
