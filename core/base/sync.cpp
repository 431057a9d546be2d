// SPDX-License-Identifier: Apache-2.0
// fsync of files and of the folders that name them.
#include "core/base/sync.h"

#include "core/base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tenon::core {
namespace {

Status syncPath(const std::string& path, int flags)
{
    const auto ioError = [&](const std::string& what) {
        return makeError(DiagnosticCode::IoFailure, what + ": " + std::strerror(errno),
                         {.file = path});
    };
    const Descriptor fd(::open(path.c_str(), flags | O_CLOEXEC));
    if (fd.get() < 0) return ioError("cannot open to sync");
    if (::fsync(fd.get()) != 0) return ioError("cannot sync");
    return kDone;
}

} // namespace

Status syncFile(const std::string& path) { return syncPath(path, O_RDONLY); }

Status syncFolderOf(const std::string& path)
{
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return syncPath(folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY);
}

} // namespace tenon::core
