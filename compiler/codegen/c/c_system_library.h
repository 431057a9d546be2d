// SPDX-License-Identifier: Apache-2.0
// What TVM's C runtime asks a model for: its system library and its metadata.
#pragma once

#include "compiler/codegen/c/c_sources.h"

namespace tenon::compiler {

/// `src/<module>_lib2.c`: TVMSystemLibEntryPoint() with a registry of the run function and of
/// `tvmgen_<module>_get_c_metadata`, for programs of the packed interface whose caller gives no
/// memories.
SourceFile cSystemLibrary(const CProgram& source);

} // namespace tenon::compiler
