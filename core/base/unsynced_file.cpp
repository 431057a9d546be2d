// SPDX-License-Identifier: Apache-2.0
// Writing aside and renaming, without fsync.
#include "core/base/unsynced_file.h"

#include "core/base/descriptor.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/base/written_path.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tenon::core {
namespace {

Diagnostic ioError(const std::string& what, const std::string& path)
{
    return makeError(DiagnosticCode::IoFailure, what + ": " + std::strerror(errno), {.file = path});
}

Status moveTo(const std::string& path, const std::string& scratch)
{
    if (::rename(scratch.c_str(), path.c_str()) != 0)
        return ioError("cannot rename into place", path);
    return kDone;
}

} // namespace

Status replaceFileUnsynced(const std::string& path,
                           const std::function<Status(const std::string&)>& write)
{
    const Result<std::string> target = writtenPath(path);
    if (!target) return target.error();
    if (Status there = needFolderOf(*target); !there) {
        Diagnostic error = there.error();
        error.location.file = path; // as it was asked for
        return error;
    }
    sweepOrphans(*target);
    // A folder of its own: nobody can put anything there, and its lock says who still writes.
    const Result<TemporaryFolder> folder = TemporaryFolder::makeBeside(*target);
    if (!folder) return withoutBeside(folder.error(), path);
    const std::string scratch = folder->file("new");
    Status done = write(scratch);
    if (done) done = moveTo(*target, scratch);
    return done ? done : withoutBeside(done.error(), path);
}

Status writeFileUnsynced(const std::string& path, std::string_view content,
                         const std::string& scratchFolder)
{
    const Result<TemporaryFolder> folder = TemporaryFolder::makeBeside(scratchFolder + "/entry");
    if (!folder) return folder.error();
    const std::string scratch = folder->file("new");
    const Status done = writeNewFile(scratch, content);
    return done ? moveTo(path, scratch) : done;
}

Status writeNewFile(const std::string& path, std::string_view content)
{
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (fd.get() < 0) return ioError("cannot create", path);
    if (!writeAll(fd.get(), content)) return ioError("cannot write", path);
    return kDone;
}

} // namespace tenon::core
