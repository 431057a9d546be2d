// SPDX-License-Identifier: Apache-2.0
// The processor features that code for a target may need, to compare with what a board has.
#pragma once

#include "compiler/codegen/llvm/target_machine.h"

namespace tenon::compiler {

/// LLVM's names of all features that are on, those the CPU's name implies included.
Result<std::vector<std::string>> targetFeatures(const MachineSpec& spec);

} // namespace tenon::compiler
