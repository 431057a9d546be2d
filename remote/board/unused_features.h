// SPDX-License-Identifier: Apache-2.0
// What a board's processor has and code for a target leaves aside.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

/// LLVM's names of the features that make models fast ("dotprod"), which the processor of
/// `boardTarget` has and `target` does not use. Empty where the two are other machines.
core::Result<std::vector<std::string>> unusedFeatures(std::string_view target,
                                                      std::string_view boardTarget);

} // namespace tenon::remote
