// SPDX-License-Identifier: Apache-2.0
// Everything is written to a folder beside the target first and renamed at the end.
#include "compiler/package/c_package.h"

#include "compiler/package/archive.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <cstdlib>
#include <filesystem>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;
using core::DiagnosticCode;
using core::Status;

/// A new folder beside `path`, removed at the end of its scope unless it was moved away.
class FolderBeside
{
public:
    explicit FolderBeside(const std::string& path)
        : m_path(path + ".XXXXXX")
    {
        m_exists = ::mkdtemp(m_path.data()) != nullptr;
        std::error_code ignored;
        fs::permissions(m_path, static_cast<fs::perms>(0755), ignored);
    }
    FolderBeside(const FolderBeside&) = delete;
    FolderBeside& operator=(const FolderBeside&) = delete;
    ~FolderBeside()
    {
        std::error_code ignored;
        if (m_exists) fs::remove_all(m_path, ignored);
    }
    bool exists() const { return m_exists; }
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
    bool m_exists;
};

core::Diagnostic cannotWrite(const std::string& path, const std::error_code& failed)
{
    return core::makeError(DiagnosticCode::IoFailure,
                           "cannot write " + core::quoted(path) + ": " + failed.message());
}

Status writeAll(const std::vector<CSource>& sources, const std::string& folder)
{
    for (const CSource& source : sources) {
        const fs::path path = fs::path(folder) / source.path;
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        if (failed) return cannotWrite(path.string(), failed);
        if (Status written = core::writeFileAtomically(path.string(), source.text); !written)
            return written;
    }
    return core::kDone;
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

Status writeCPackage(const std::vector<CSource>& sources, const std::string& path)
{
    const bool isTar = path.ends_with(".tar");
    std::string target = path;
    while (target.size() > 1 && target.back() == '/') target.pop_back();
    if (!isTar)
        if (Status fine = checkReplaceable(target); !fine) return fine;
    const FolderBeside fresh(target);
    if (!fresh.exists())
        return core::makeError(DiagnosticCode::IoFailure,
                               "cannot create a folder beside " + core::quoted(target));
    if (Status written = writeAll(sources, fresh.path()); !written) return written;
    if (isTar)
        return core::replaceFileAtomically(target, [&](const std::string& temporary) {
            std::vector<TarMember> members;
            for (const CSource& source : sources)
                members.push_back({"./" + source.path, fresh.path() + "/" + source.path});
            return writeTar(temporary, members);
        });
    std::error_code failed;
    const FolderBeside old(target);
    if (fs::exists(target, failed)) fs::rename(target, old.path() + "/old", failed);
    if (!failed) fs::rename(fresh.path(), target, failed);
    return failed ? Status(cannotWrite(target, failed)) : core::kDone;
}

} // namespace tenon::compiler
