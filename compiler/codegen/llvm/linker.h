// SPDX-License-Identifier: Apache-2.0
// Linking through LLD inside this process; one link at a time.
#pragma once

#include "compiler/codegen/link_job.h"
#include "core/base/result.h"

#include <string>

namespace tenon::compiler {

/// Writes what the arguments ask for; the same objects give the same bytes. Error: LinkFailure with
/// the linker's words.
core::Status link(const LinkJob& job, const std::string& outputPath);

} // namespace tenon::compiler
