// SPDX-License-Identifier: Apache-2.0
// Everything is written to a folder beside the target first and renamed at the end.
#include "compiler/package/source_package.h"

#include "compiler/package/archive.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"

#include <fcntl.h>

#include <cstdio>
#include <filesystem>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;
using core::DiagnosticCode;
using core::Status;

/// What was at `path` and what was at `fresh` change places, if possible in one step.
void exchange(const std::string& fresh, const std::string& path, std::error_code& failed)
{
    if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return;
    const std::string kept = fresh + "/../old";
    fs::rename(path, kept, failed);
    if (!failed) fs::rename(fresh, path, failed);
}

core::Diagnostic cannotWrite(const std::string& path, const std::error_code& failed)
{
    return core::makeError(DiagnosticCode::IoFailure, "cannot write: " + failed.message(),
                           {.file = path});
}

Status checkReplaceable(const std::string& path)
{
    std::error_code failed;
    if (!fs::exists(path, failed)) return core::kDone;
    bool isOurs = fs::is_directory(path, failed);
    if (isOurs)
        for (const auto& entry : fs::directory_iterator(path, failed))
            isOurs = isOurs &&
                     (entry.path().filename() == "include" || entry.path().filename() == "src");
    if (isOurs && !failed) return core::kDone;
    return core::makeError(DiagnosticCode::BadArgument,
                           core::quoted(path) +
                               " exists and holds other files; name a new folder or a .tar",
                           {.file = path});
}

} // namespace

Status writeSourceTree(const std::vector<SourceFile>& sources, const std::string& folder)
{
    for (const SourceFile& source : sources) {
        const fs::path path = fs::path(folder) / source.path;
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        if (failed) return cannotWrite(path.string(), failed);
        if (Status written = core::writeFileAtomically(path.string(), source.text); !written)
            return written;
    }
    return core::kDone;
}

Status writeSourceArchive(const std::vector<SourceFile>& sources, const std::string& path)
{
    const auto beside = core::TemporaryFolder::makeBeside(path);
    if (!beside) return core::withoutBeside(beside.error(), path);
    const std::string fresh = beside->file("new");
    if (Status written = writeSourceTree(sources, fresh); !written)
        return core::withoutBeside(written.error(), path);
    return core::replaceFileAtomically(path, [&](const std::string& temporary) {
        std::vector<TarMember> members{{"./", ""}};
        for (const SourceFile& source : sources)
            members.push_back({"./" + source.path, fresh + "/" + source.path});
        return writeTar(temporary, members);
    });
}

Status writeSourcePackage(const std::vector<SourceFile>& sources, const std::string& path)
{
    const auto format = outputFormatOf(path);
    if (format && *format == OutputFormat::Tar) return writeSourceArchive(sources, path);
    std::string target = path;
    while (target.size() > 1 && target.back() == '/') target.pop_back();
    if (Status fine = checkReplaceable(target); !fine) return fine;
    const auto beside = core::TemporaryFolder::makeBeside(target);
    if (!beside) return core::withoutBeside(beside.error(), target);
    const std::string fresh = beside->file("new");
    std::error_code failed;
    fs::create_directory(fresh, failed);
    if (failed) return cannotWrite(target, failed);
    fs::permissions(fresh, static_cast<fs::perms>(0755), failed);
    if (Status written = writeSourceTree(sources, fresh); !written)
        return core::withoutBeside(written.error(), target);
    if (fs::exists(target, failed))
        exchange(fresh, target, failed);
    else if (!failed)
        fs::rename(fresh, target, failed);
    return failed ? Status(cannotWrite(target, failed)) : core::kDone;
}

} // namespace tenon::compiler
