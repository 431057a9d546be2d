// SPDX-License-Identifier: Apache-2.0
// What the values of a target's options must be, beyond their types.
#pragma once

#include "core/target/target.h"

namespace tenon::core {

/// BadTarget that names the option.
Diagnostic targetError(const std::string& key, const std::string& what);

/// The first value that makes no sense.
Status checkTargetValues(const Target& target);

} // namespace tenon::core
