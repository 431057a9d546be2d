// SPDX-License-Identifier: Apache-2.0
// Looks for the member that only such archives have.
#include "compiler/frontend/mlf/model_library_file.h"

#include "compiler/frontend/mlf/archive_members.h"
#include "core/base/file.h"

namespace tenon::compiler {

bool isModelLibraryFile(const std::string& path)
{
    const auto file = core::MappedFile::open(path);
    if (!file || !looksLikeTar((*file)->text())) return false;
    const auto members = readArchive((*file)->text(), [](const std::string&) { return false; });
    return members && members->contains("metadata.json");
}

} // namespace tenon::compiler
