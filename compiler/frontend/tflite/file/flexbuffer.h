// SPDX-License-Identifier: Apache-2.0
// The options of custom operators: a map of names to numbers and lists of numbers in the
// self-describing flexbuffer form.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Numbers and booleans of the root map by name; nothing when the bytes are no map, or damaged.
std::optional<std::map<std::string, double>> flexNumbers(std::span<const std::byte> bytes);
/// Likewise its lists of numbers.
std::optional<std::map<std::string, std::vector<double>>>
flexLists(std::span<const std::byte> bytes);

} // namespace tenon::compiler
