// SPDX-License-Identifier: Apache-2.0
// Puts the bytes of a section into a linked library, so that weights never pass through the linker.
#pragma once

#include "compiler/codegen/data_section.h"
#include "compiler/package/file_parts.h"

#include <memory>

namespace tenon::compiler {

struct FilledLibrary
{
    std::shared_ptr<const std::string> linked; ///< what `parts` points into, beside the symbols
    FileParts parts;
};

/// The ELF library `linked`, in which `section` was linked as addresses only
/// (DataSection::isReserved), with its bytes put in. Without such a section, which nothing refers
/// to then, the library as it is. Error: LinkFailure.
core::Result<FilledLibrary> fillSection(std::string linked, const DataSection& section);

} // namespace tenon::compiler
