// SPDX-License-Identifier: Apache-2.0
// The processor features that code for a target may need, to compare with what a board has.
#pragma once

#include "compiler/codegen/machine_spec.h"

namespace tenon::compiler {

/// LLVM's names of all features that are on, those the CPU's name implies included.
Result<std::vector<std::string>> targetFeatures(const MachineSpec& spec);
/// The same of a target as text: "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72".
Result<std::vector<std::string>> targetFeatures(std::string_view target);

} // namespace tenon::compiler
