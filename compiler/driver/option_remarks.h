// SPDX-License-Identifier: Apache-2.0
// What is said of options before anything is compiled.
#pragma once

#include "compiler/driver/compile.h"

namespace tenon::compiler {

/// The remarks of a compile with these options, without one; empty where they cannot be read.
std::vector<Diagnostic> optionRemarks(const CompileOptions& options);

} // namespace tenon::compiler
