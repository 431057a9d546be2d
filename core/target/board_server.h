// SPDX-License-Identifier: Apache-2.0
// The RPC servers that come with the program, one static file per processor of boards.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace tenon::core {

/// "x86_64", "aarch64", "armv7" or "riscv64": the part of a server's file name. From a triple, or
/// from what `uname -m` prints on a board. Error UnsupportedTarget.
Result<std::string> serverProcessor(std::string_view tripleOrMachine);

/// Path of the server for boards of this processor: `../share/tenon/servers` beside the running
/// program's folder. Error UnsupportedTarget, also when this build came without that server.
Result<std::string> boardServerPath(std::string_view tripleOrMachine);

} // namespace tenon::core
