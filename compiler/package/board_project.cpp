// SPDX-License-Identifier: Apache-2.0
// Which files of a project are the board's, and what tells images apart.
#include "compiler/package/board_project.h"

#include "compiler/codegen/image_mark.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace tenon::compiler {

namespace fs = std::filesystem;
using core::DiagnosticCode;
using core::makeError;

namespace {

// A project has some dozens of small files; a vendor's drivers may be many more.
constexpr size_t kMostFiles = 5000;
constexpr uintmax_t kMostBytes = uintmax_t{256} << 20;

core::Diagnostic tooMuch(const std::string& folder)
{
    return makeError(DiagnosticCode::BadArgument,
                     core::quoted(folder) + " holds more than " + std::to_string(kMostFiles) +
                         " files or 256 MiB; is it the board's project?",
                     {.file = folder});
}

/// Files, also behind links of the user's; what is no file (devices, pipes) is left out.
core::Result<std::vector<fs::path>> pathsBelow(const std::string& folder)
{
    std::vector<fs::path> out;
    uintmax_t bytes = 0;
    std::error_code failed;
    fs::recursive_directory_iterator at(folder, failed);
    for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        const std::string path = at->path().lexically_relative(folder).generic_string();
        std::error_code ignored;
        if (isOfModel(path + (at->is_directory(ignored) ? "/" : ""))) {
            at.disable_recursion_pending();
            continue;
        }
        if (!at->is_regular_file(ignored)) continue;
        bytes += at->file_size(ignored);
        out.emplace_back(path);
        if (out.size() > kMostFiles || bytes > kMostBytes) return tooMuch(folder);
    }
    if (failed)
        return makeError(DiagnosticCode::IoFailure,
                         "cannot read the board's project: " + failed.message(), {.file = folder});
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace

bool isOfModel(std::string_view path)
{
    static constexpr std::array<std::string_view, 7> kFolders = {
        "model/",      "server/", "build/", "tools/", ".git/", "libraries/tenon_model/src/",
        "__pycache__/"};
    static constexpr std::array<std::string_view, 5> kFiles = {
        "model.tar", "project.json", "main.c", "served.c", "microtvm_api_server.py"};
    return std::any_of(kFolders.begin(), kFolders.end(),
                       [&](std::string_view each) { return path.starts_with(each); }) ||
           std::find(kFiles.begin(), kFiles.end(), path) != kFiles.end();
}

core::Result<std::vector<SourceFile>> boardFiles(const std::string& folder)
{
    const auto paths = pathsBelow(folder);
    if (!paths) return paths.error();
    std::vector<SourceFile> out;
    for (const fs::path& path : *paths) {
        auto text = core::readFile((fs::path(folder) / path).string());
        if (!text) return text.error();
        out.push_back({path.generic_string(), std::move(*text)});
    }
    return out;
}

void takeBoardFiles(std::vector<SourceFile> own, std::vector<SourceFile>& files)
{
    for (SourceFile& file : own) {
        const auto same = std::find_if(files.begin(), files.end(), [&](const SourceFile& each) {
            return each.path == file.path;
        });
        if (same == files.end())
            files.push_back(std::move(file));
        else
            same->text = std::move(file.text);
    }
}

void nameImage(std::vector<SourceFile>& files)
{
    core::Hasher hasher;
    for (const SourceFile& file : files) hasher.add(file.path).add(file.text);
    const std::string name = hasher.finish().hex();
    for (SourceFile& file : files)
        if (file.path == "served.c") file.text = core::replaced(file.text, kImagePlace, name);
}

} // namespace tenon::compiler
