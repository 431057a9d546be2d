// SPDX-License-Identifier: Apache-2.0
// What a kernel does, for a column among others.
#pragma once

#include <string>
#include <string_view>

namespace tenon::cli {

/// A long title without its middle: the operators stay, and the end of the place in the model.
std::string shortTitle(std::string_view title);

} // namespace tenon::cli
