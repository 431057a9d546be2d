// SPDX-License-Identifier: Apache-2.0
// The table of importers.
#include "compiler/frontend/importer.h"

#include "core/base/text.h"

namespace tenon::compiler {

#define IMPORTER(id) extern const Importer id##Importer;
#include "compiler/frontend/importers.def"
#undef IMPORTER

std::vector<const Importer*> allImporters()
{
    return {
#define IMPORTER(id) &id##Importer,
#include "compiler/frontend/importers.def"
#undef IMPORTER
    };
}

std::string titleOfFormat(std::string_view format)
{
    for (const Importer* importer : allImporters())
        if (importer->format == format) return std::string(importer->title);
    return std::string(format);
}

std::string modelFilesText()
{
    std::vector<std::string> files;
    for (const Importer* importer : allImporters()) files.emplace(files.begin(), importer->files);
    return join(files, " or ");
}

} // namespace tenon::compiler
