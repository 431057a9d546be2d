// SPDX-License-Identifier: Apache-2.0
// Tags: short names for well-known devices, such as "raspberry-pi/4b-aarch64".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// A tag as target strings: the device's own and its host's (empty when it has none).
struct TargetTag
{
    std::string name;
    std::string text;
    std::string hostText;
};

/// The tag of exactly this name; there is no prefix matching.
std::optional<TargetTag> findTargetTag(std::string_view name);
/// Names of all tags, sorted.
std::vector<std::string> targetTagNames();

} // namespace tenon::core
