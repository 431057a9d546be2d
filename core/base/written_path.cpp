// SPDX-License-Identifier: Apache-2.0
// Which file a path leads to, and sweeping what killed writers left beside it.
#include "core/base/written_path.h"

#include "core/base/text.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;
/// The kernel gives programs no numbers below.
constexpr long kFirstThread = 300;

Diagnostic refused(const std::string& why, const std::string& path)
{
    return makeError(DiagnosticCode::IoFailure, why, {.file = path});
}

/// NAME.part1234, and no thread of that number lives: who wrote it was killed.
bool isOrphan(std::string_view name, const std::string& start)
{
    if (!name.starts_with(start)) return false;
    const std::string digits(name.substr(start.size()));
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
        return false;
    std::error_code failed;
    const bool isAlive = fs::exists("/proc/" + digits, failed) || !fs::exists("/proc/self", failed);
    return std::atol(digits.c_str()) >= kFirstThread && !isAlive;
}

} // namespace

Result<std::string> writtenPath(const std::string& path)
{
    fs::path at(path);
    for (int i = 0; i < kMostLinks; ++i) {
        struct stat there
        {
        };
        if (::lstat(at.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return at.string();
        if (S_ISDIR(there.st_mode)) return refused("a folder, not a file; name a file in it", path);
        if (!S_ISLNK(there.st_mode)) return refused("not a regular file", path);
        // In a folder that all may write to, somebody else's link leads where he wants.
        if (there.st_uid != ::geteuid() && there.st_uid != 0)
            return refused("a link of another user; remove it or name another file", path);
        std::error_code failed;
        const fs::path target = fs::read_symlink(at, failed);
        if (failed) return refused("cannot read the link: " + failed.message(), path);
        at = at.parent_path() / target;
    }
    return refused("cannot follow the link: it leads back to itself", path);
}

std::string folderOf(const std::string& path)
{
    const std::string folder = fs::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

Status needFolderOf(const std::string& path)
{
    std::error_code failed;
    if (const std::string folder = folderOf(path);
        fs::status(folder, failed).type() == fs::file_type::not_found)
        return refused("cannot write: there is no folder " + core::quoted(folder), path);
    return kDone;
}

void sweepOrphans(const std::string& path)
{
    const std::string start = fs::path(path).filename().string() + ".part";
    std::vector<fs::path> found;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(folderOf(path), failed))
        if (isOrphan(entry.path().filename().string(), start)) found.push_back(entry.path());
    for (const fs::path& orphan : found) ::unlink(orphan.c_str());
}

} // namespace tenon::core
