// SPDX-License-Identifier: Apache-2.0
// Options that are read so that TVM's command lines and targets work, but change nothing here: what
// is said of them.
#pragma once

#include "core/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// Why models for Apple's systems are not linked, for good.
inline constexpr std::string_view kNoAppleLibraries =
    "declined for good, as it needs Apple's own libraries, which may not be passed on";

/// "`-libs` is accepted for TVM's sake and has no effect here: ...".
Diagnostic noEffect(const std::string& option, std::string_view why);

/// Why this option of the target changes nothing; empty where it does.
std::string_view noEffectOf(const Target& target, std::string_view option);

/// One warning per option that was given and changes nothing.
std::vector<Diagnostic> ignoredOptions(const Target& target);

/// UnsupportedTarget where no code is generated for the target's kind or system, with the reason.
Status checkGenerates(const Target& target);

} // namespace tenon::core
