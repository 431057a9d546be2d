// SPDX-License-Identifier: Apache-2.0
// The text form of graph IR as a model file.
#include "compiler/frontend/importer.h"

#include "compiler/frontend/text/graph_text_model.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

/// Graph IR begins with a comment or a function, after blanks.
bool looksLikeGraphText(std::string_view text)
{
    const std::string_view start = trimmed(text.substr(0, 256));
    return start.starts_with("def @") || start.starts_with("//");
}

Result<Loaded> loadText(const std::string& path, std::shared_ptr<const MappedFile> file,
                        const ImportOptions&)
{
    auto loaded = loadedFromText(file->text());
    if (loaded) return loaded;
    Diagnostic error = loaded.error();
    error.location.file = path;
    return error;
}

} // namespace

extern const Importer textImporter;
const Importer textImporter{
    .format = "tenon",
    .title = "graph IR text",
    .suffix = "",
    .files = "graph-IR text",
    .takesOptions = false,
    .isMine = looksLikeGraphText,
    .load = loadText,
};

} // namespace tenon::compiler
