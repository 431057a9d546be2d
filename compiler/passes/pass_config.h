// SPDX-License-Identifier: Apache-2.0
// The keys of --pass-config: which are known, of what type, and which of TVM's change nothing here.
#pragma once

#include "compiler/passes/pass.h"

#include <span>

namespace tenon::compiler {

struct PassConfigKey
{
    enum class Type : uint8_t
    {
        Bool,
        Int,
        Number,
        Text
    };

    std::string_view name;
    Type type;
    std::string_view noEffect = {}; ///< why it changes nothing; empty: it does
};

/// "an integer"; for messages and forms.
const char* typeText(PassConfigKey::Type type);

/// Alphabetical. Structured values (tir.UnrollLoop and the like) are taken as their text.
std::span<const PassConfigKey> allPassConfigKeys();

/// One warning per key that is set and changes nothing.
std::vector<Diagnostic> ignoredPassConfig(const PassConfig& config);

/// What the configuration says of memory planning: the planner to take, which is `planner` where it
/// says nothing. Errors: BadArgument where `planner`, unless it is the usual one, says otherwise.
Result<std::string> configuredPlanner(const PassConfig& config, const std::string& planner);

/// `tir.usmp.use_workspace_io`: inputs and outputs are planned with what lies between them.
bool plansInputsAndOutputs(const PassConfig& config);

/// `tir.disable_vectorize`.
bool disablesVectors(const PassConfig& config);

} // namespace tenon::compiler
