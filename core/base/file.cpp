// SPDX-License-Identifier: Apache-2.0
// POSIX files.
#include "core/base/file.h"

#include "core/base/descriptor.h"
#include "core/base/sync.h"
#include "core/base/unsynced_file.h"
#include "core/base/written_path.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon::core {
namespace {

Diagnostic ioError(const std::string& what, const std::string& path)
{
    return makeError(DiagnosticCode::IoFailure, what + ": " + std::strerror(errno), {.file = path});
}

} // namespace

MappedFile::MappedFile(std::string path, const std::byte* data, size_t size)
    : m_path(std::move(path))
    , m_data(data)
    , m_size(size)
{
}

MappedFile::~MappedFile()
{
    if (m_size > 0) ::munmap(const_cast<std::byte*>(m_data), m_size);
}

std::string_view MappedFile::text() const
{
    return {reinterpret_cast<const char*>(m_data), m_size};
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path)
{
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) return ioError("cannot open", path);
    struct stat info = {};
    if (::fstat(fd.get(), &info) != 0) return ioError("cannot stat", path);
    if (S_ISDIR(info.st_mode))
        return makeError(DiagnosticCode::IoFailure, "a folder, not a file; name a file in it",
                         {.file = path});
    if (!S_ISREG(info.st_mode))
        return makeError(DiagnosticCode::IoFailure, "not a regular file", {.file = path});
    const size_t size = static_cast<size_t>(info.st_size);
    void* data = nullptr;
    if (size > 0) {
        data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
        if (data == MAP_FAILED) return ioError("cannot map", path);
    }
    return std::shared_ptr<const MappedFile>(
        new MappedFile(path, static_cast<const std::byte*>(data), size));
}

Result<std::string> readFile(const std::string& path)
{
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    return std::string((*file)->text());
}

Status replaceFileAtomically(const std::string& path,
                             const std::function<Status(const std::string&)>& write)
{
    const Result<std::string> target = writtenPath(path);
    if (!target) return target.error();
    const Status done = replaceFileUnsynced(*target, [&](const std::string& temporary) {
        const Status written = write(temporary);
        return written ? syncFile(temporary) : written;
    });
    return done ? syncFolderOf(*target) : done;
}

Status writeFileAtomically(const std::string& path, std::string_view content)
{
    return replaceFileAtomically(
        path, [&](const std::string& temporary) { return writeNewFile(temporary, content); });
}

} // namespace tenon::core
