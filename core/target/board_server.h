// SPDX-License-Identifier: Apache-2.0
// The RPC servers and other programs for boards that come with this one: static files, one per
// processor.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace tenon::core {

/// "x86_64", "aarch64", "armv7" or "riscv64": the part of a server's file name. From a triple, or
/// from what `uname -m` prints on a board. Error UnsupportedTarget.
Result<std::string> serverProcessor(std::string_view tripleOrMachine);

/// Path of the server for boards of this processor (core/base/program_files.h). Error
/// UnsupportedTarget, also when this build came without that server.
Result<std::string> boardServerPath(std::string_view tripleOrMachine);

/// The smallest program that loads a model and runs it once, saying what that took of memory; and a
/// program that does nothing. Errors as above.
Result<std::string> modelRunnerPath(std::string_view tripleOrMachine);
Result<std::string> emptyProgramPath(std::string_view tripleOrMachine);

} // namespace tenon::core
