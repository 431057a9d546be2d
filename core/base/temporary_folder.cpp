// SPDX-License-Identifier: Apache-2.0
// Making, holding and sweeping folders: a lock tells those in use from those left behind.
#include "core/base/temporary_folder.h"

#include "core/base/text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::core {

namespace {

namespace fs = std::filesystem;

constexpr size_t kDigits = 16;
constexpr int kAttempts = 100;
constexpr std::string_view kBeside = ".tenon-";

std::string temporaryParent()
{
    std::error_code failure;
    const std::string path = fs::temp_directory_path(failure).string();
    return failure ? "/tmp" : path;
}

/// Sixteen digits that nobody would give a folder of his own.
std::string randomDigits()
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = static_cast<uint64_t>(::getpid());
    std::string out(kDigits, '0');
    for (char& digit : out) {
        digit = "0123456789abcdef"[number & 15];
        number >>= 4;
    }
    return out;
}

bool endsInDigits(const std::string& name)
{
    return name.size() > kDigits &&
           name.find_first_not_of("0123456789abcdef", name.size() - kDigits) == std::string::npos;
}

/// tenon-, perhaps a word and a dash, and sixteen digits: the server's names, too.
bool isTemporaryName(const std::string& name)
{
    return name.starts_with("tenon-") && endsInDigits(name) &&
           name[name.size() - kDigits - 1] == '-';
}

enum class Patience : uint8_t
{
    Waits,
    GivesUp
};

/// A lock of the folder, if it is this user's and still the one of that name when the lock comes:
/// somebody who sweeps may have been faster. -1: not held, and `isThere` whether one may go on.
int hold(const std::string& path, Patience patience, bool& isThere)
{
    struct stat held
    {
    };
    struct stat named
    {
    };
    isThere = false;
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    const int how = LOCK_EX | (patience == Patience::GivesUp ? LOCK_NB : 0);
    int status = 0;
    while ((status = ::flock(fd, how)) != 0 && errno == EINTR) {}
    isThere = ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
              held.st_ino == named.st_ino && held.st_dev == named.st_dev &&
              held.st_uid == ::geteuid();
    if (status == 0 && isThere) return fd;
    ::close(fd);
    return -1;
}

void sweep(const std::string& path)
{
    bool isThere = false;
    const int lock = hold(path, Patience::GivesUp, isThere);
    if (lock < 0) return;
    std::error_code ignored;
    fs::remove_all(path, ignored);
    ::close(lock);
}

/// A name and what makeBeside() adds.
bool isBesideName(const std::string& name)
{
    return endsInDigits(name) && name.size() > kBeside.size() + kDigits &&
           name.compare(name.size() - kDigits - kBeside.size(), kBeside.size(), kBeside) == 0;
}

/// What was kept while a folder of several files was replaced is not ours to remove.
bool holdsWhatWasReplaced(const fs::path& folder)
{
    std::error_code ignored;
    return fs::exists(folder / "old", ignored);
}

} // namespace

Result<TemporaryFolder> TemporaryFolder::makeAt(const std::string& start)
{
    for (int i = 0; i < kAttempts; ++i) {
        const std::string path = start + randomDigits();
        if (::mkdir(path.c_str(), 0700) != 0) {
            if (errno == EEXIST) continue;
            return makeError(DiagnosticCode::IoFailure,
                             std::string("cannot create a temporary folder: ") +
                                 std::strerror(errno),
                             {.file = path});
        }
        bool isThere = false;
        const int lock = hold(path, Patience::Waits, isThere);
        if (isThere) return TemporaryFolder(path, lock);
    }
    return makeError(DiagnosticCode::IoFailure, "cannot create a temporary folder",
                     {.file = start});
}

Result<TemporaryFolder> TemporaryFolder::make(const std::string& prefix)
{
    return makeAt(temporaryParent() + "/" + prefix + (prefix.ends_with('-') ? "" : "-"));
}

Result<TemporaryFolder> TemporaryFolder::makeBeside(const std::string& path)
{
    const fs::path target(path);
    constexpr size_t kLongestStart = 200; // a name has at most 255 bytes
    const std::string start = target.filename().string().substr(0, kLongestStart);
    const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
    sweepFoldersIn(parent.string());
    return makeAt((parent / start).string() + std::string(kBeside));
}

TemporaryFolder::TemporaryFolder(std::string path, int lock)
    : m_path(std::move(path))
    , m_lock(lock)
{
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {}))
    , m_lock(std::exchange(other.m_lock, -1))
{
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    if (!m_path.empty()) fs::remove_all(m_path, ignored);
    if (m_lock >= 0) ::close(m_lock);
}

Diagnostic withoutBeside(Diagnostic error, const std::string& path)
{
    const fs::path named(error.location.file);
    const bool isBeside = std::any_of(named.begin(), named.end(), [](const fs::path& part) {
        return isBesideName(part.string());
    });
    if (!isBeside) return error;
    error.location.file = path;
    error.message = replaced(error.message, "create a temporary folder", "write");
    return error;
}

void sweepFoldersIn(const std::string& folder)
{
    std::vector<std::string> found;
    std::error_code failure;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure))
        if (isBesideName(entry.path().filename().string()) && !holdsWhatWasReplaced(entry.path()))
            found.push_back(entry.path().string());
    for (const std::string& path : found) sweep(path);
}

void sweepTemporaryFolders()
{
    std::error_code failure;
    for (const fs::directory_entry& entry : fs::directory_iterator(temporaryParent(), failure)) {
        const std::string name = entry.path().filename().string();
        if (isTemporaryName(name) && !isBesideName(name)) sweep(entry.path().string());
    }
}

} // namespace tenon::core
