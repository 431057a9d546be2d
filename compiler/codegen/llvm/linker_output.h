// SPDX-License-Identifier: Apache-2.0
// Where the linker's output goes: through a pipe into a file of ours.
#pragma once

#include "core/base/result.h"

#include <functional>
#include <string>

namespace tenon::compiler {

/// Calls link(path), which writes its output once and in order to `path`, and copies that into the
/// file `outputPath`. LLD writing by itself dies of SIGBUS or a fatal error on a full disk; here
/// that is IoFailure. `folder` exists and takes the pipe.
core::Status throughPipe(const std::string& folder, const std::string& outputPath,
                         const std::function<core::Status(const std::string&)>& link);

} // namespace tenon::compiler
