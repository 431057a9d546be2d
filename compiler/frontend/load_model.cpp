// SPDX-License-Identifier: Apache-2.0
// The way from a file to its importer, with the operators that users declare.
#include "compiler/frontend/load_model.h"

#include "compiler/frontend/importer.h"
#include "compiler/frontend/operator_table.h"
#include "core/base/check.h"
#include "core/base/file.h"

#include <filesystem>

namespace tenon::compiler {
namespace {

/// With the operators that its files declare, and the file beside the model.
Result<ImportOptions> withOperators(const std::string& path, ImportOptions options)
{
    std::error_code none;
    const std::string beside = operatorFileBeside(path);
    if (beside != path && std::filesystem::is_regular_file(beside, none))
        options.operatorFiles.push_back(beside);
    if (options.operatorFiles.empty()) return options;
    auto table = readOperatorFiles(options.operatorFiles);
    if (!table) return table.error();
    options.operators = std::make_shared<const OperatorTable>(std::move(*table));
    return options;
}

} // namespace

Result<Loaded> loadModel(const std::string& path, const ImportOptions& options)
{
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    for (const Importer* importer : allImporters()) {
        if (!importer->isMine((*file)->text())) continue;
        const auto all = importer->takesOptions ? withOperators(path, options) : options;
        if (!all) return all.error();
        auto loaded = importer->load(path, *file, *all);
        if (!loaded) return loaded;
        loaded->name = std::filesystem::path(path).stem().string();
        loaded->facts.format = importer->format;
        loaded->facts.isOpen = importer->takesOptions;
        return loaded;
    }
    CHECK(false);
}

} // namespace tenon::compiler
