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
    std::string_view noEffect = {};    ///< why it is read but changes nothing; empty: it does
};

/// Whether code is generated for a kind.
enum class KindState : uint8_t
{
    Generates,
    NotYet,
    Declined ///< for good
};

struct TargetKind
{
    std::string_view name;
    std::string_view meaning;
    int deviceType = 1; ///< DLDeviceType
    std::string_view defaultKeys;
    std::span<const TargetOption> options;
    KindState state = KindState::NotYet;
    std::string_view why = {}; ///< there is no code generator; empty where there is
};

/// Every kind, by name.
std::span<const TargetKind> allTargetKinds();
const TargetKind* findTargetKind(std::string_view name);

/// "generates code", "not yet", "declined".
std::string_view kindStateText(KindState state);

/// The option of this kind (or a common one), or null.
const TargetOption* findTargetOption(const TargetKind& kind, std::string_view name);
/// Names of all options that the kind takes, sorted.
std::vector<std::string> targetOptionNames(const TargetKind& kind);

} // namespace tenon::core
