// SPDX-License-Identifier: Apache-2.0
// LLD writes to a pipe, which is copied into the file, so that a full disk is an error and no
// fault.
#include "compiler/codegen/llvm/linker_output.h"

#include "core/base/descriptor.h"
#include "core/jobs/job.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

namespace tenon::compiler {
namespace {

constexpr int kPipeBytes = 1 << 20;
/// How long the end of a link that wrote nothing may go unnoticed.
constexpr int kPollMs = 10;

core::Diagnostic ioError(const std::string& path)
{
    return core::makeError(core::DiagnosticCode::IoFailure,
                           std::string("cannot write: ") + std::strerror(errno), {.file = path});
}

/// Copies until the writer closes, or until `isOver` when there never was one. What comes after a
/// failed write is read all the same: the linker must not find its pipe broken.
core::Status drain(int pipe, const std::string& outputPath, const std::atomic<bool>& isOver)
{
    const core::Descriptor out(
        ::open(outputPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777));
    core::Status done = core::kDone;
    if (out.get() < 0) done = ioError(outputPath);
    std::vector<char> block(kPipeBytes);
    for (;;) {
        const bool wasOver = isOver;
        pollfd polled{pipe, POLLIN, 0};
        if (::poll(&polled, 1, kPollMs) == 0) {
            if (wasOver) return done;
            continue;
        }
        const ssize_t got = ::read(pipe, block.data(), block.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return done;
        if (done && !core::writeAll(out.get(), {block.data(), static_cast<size_t>(got)}))
            done = ioError(outputPath);
    }
}

} // namespace

core::Status throughPipe(const std::string& folder, const std::string& outputPath,
                         const std::function<core::Status(const std::string&)>& link)
{
    const std::string path = folder + "/output.pipe";
    if (::mkfifo(path.c_str(), 0600) != 0) return ioError(path);
    const core::Descriptor pipe(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (pipe.get() < 0) return ioError(path);
    ::fcntl(pipe.get(), F_SETPIPE_SZ, kPipeBytes); // a smaller one works too
    std::atomic<bool> isOver{false};
    core::Status drained = core::kDone;
    const core::Status linked = core::JobContext(2).parallelFor(2, [&](size_t part) {
        if (part == 0) {
            core::Status done = link(path);
            isOver = true;
            return done;
        }
        drained = drain(pipe.get(), outputPath, isOver);
        return core::Status(core::kDone);
    });
    ::unlink(path.c_str());
    return linked ? drained : linked;
}

} // namespace tenon::compiler
