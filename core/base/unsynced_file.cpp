// SPDX-License-Identifier: Apache-2.0
#include "core/base/unsynced_file.h"

#include "core/base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tenon::core {
namespace {

Diagnostic ioError(const std::string& what, const std::string& path)
{
    return makeError(DiagnosticCode::IoFailure, what + ": " + std::strerror(errno), {.file = path});
}

} // namespace

Status replaceFileUnsynced(const std::string& path,
                           const std::function<Status(const std::string&)>& write)
{
    // Two threads may write the same file: each its own, and the last rename wins.
    const std::string temporary = path + ".part" + std::to_string(::gettid());
    Status done = write(temporary);
    if (done && ::rename(temporary.c_str(), path.c_str()) != 0)
        done = ioError("cannot rename into place", path);
    if (!done) ::unlink(temporary.c_str());
    return done;
}

Status writeFileUnsynced(const std::string& path, std::string_view content)
{
    return replaceFileUnsynced(
        path, [&](const std::string& temporary) { return writeNewFile(temporary, content); });
}

Status writeNewFile(const std::string& path, std::string_view content)
{
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (fd.get() < 0) return ioError("cannot create", path);
    if (!writeAll(fd.get(), content)) return ioError("cannot write", path);
    return kDone;
}

} // namespace tenon::core
