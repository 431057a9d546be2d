// SPDX-License-Identifier: Apache-2.0
// The registered target kinds with their options; the only place that knows them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

enum class OptionType : uint8_t
{
    Integer,
    Boolean,
    String,
    StringList,
    Target
};

struct TargetOption
{
    std::string_view name;
    OptionType type = OptionType::String;
    std::string_view meaning;          ///< what the option does, one sentence without full stop
    std::string_view defaultText = {}; ///< value when absent, empty for none
};

struct TargetKind
{
    std::string_view name;
    std::string_view meaning;
    int deviceType = 1; ///< DLDeviceType
    std::string_view defaultKeys;
    std::span<const TargetOption> options;
};

/// Every kind, by name.
std::span<const TargetKind> allTargetKinds();
const TargetKind* findTargetKind(std::string_view name);

/// The option of this kind (or a common one), or null.
const TargetOption* findTargetOption(const TargetKind& kind, std::string_view name);
/// Names of all options that the kind takes, sorted.
std::vector<std::string> targetOptionNames(const TargetKind& kind);

} // namespace tenon::core
