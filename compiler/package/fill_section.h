// SPDX-License-Identifier: Apache-2.0
// Puts the bytes of a section into a linked library, so that weights never pass through the linker.
#pragma once

#include "compiler/package/data_object.h"

namespace tenon::compiler {

/// Writes `outputPath`: the ELF library `linked`, in which `section` was linked as addresses only
/// (DataSection::isReserved), with its bytes put in. Without such a section, which nothing refers
/// to then, the library as it is. Errors: IoFailure, LinkFailure.
core::Status fillSection(std::string linked, const DataSection& section,
                         const std::string& outputPath);

} // namespace tenon::compiler
