// SPDX-License-Identifier: Apache-2.0
// Reading files of operator definitions.
#include "compiler/frontend/operator_table.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <filesystem>

namespace tenon::compiler {
namespace {

constexpr size_t kMostBytes = 1 << 20; ///< nobody writes more by hand

Status addFile(OperatorTable& table, const std::string& path)
{
    const auto text = readFile(path);
    if (!text) return text.error();
    if (text->size() > kMostBytes)
        return makeError(DiagnosticCode::BadText,
                         "the file is too large for definitions of operators");
    auto definitions = parseDefinitions(*text);
    if (!definitions) return definitions.error();
    for (Definition& definition : *definitions) {
        const auto known = table.definitions.find(definition.name);
        if (known != table.definitions.end() && known->second.text != definition.text)
            return makeError(DiagnosticCode::BadText,
                             "operator " + core::quoted(definition.name) +
                                 " is declared by another file, too, and differently");
        table.definitions.emplace(definition.name, std::move(definition));
    }
    return kDone;
}

} // namespace

const Definition* OperatorTable::find(const std::string& name) const
{
    const auto found = definitions.find(name);
    return found == definitions.end() ? nullptr : &found->second;
}

std::string operatorFileBeside(const std::string& modelPath)
{
    return std::filesystem::path(modelPath).replace_extension(".ops").string();
}

Result<OperatorTable> readOperatorFiles(const std::vector<std::string>& paths)
{
    OperatorTable table;
    for (const std::string& path : paths) {
        const Status added = addFile(table, path);
        if (added) continue;
        Diagnostic error = added.error();
        error.location.file = path;
        return error;
    }
    return table;
}

} // namespace tenon::compiler
