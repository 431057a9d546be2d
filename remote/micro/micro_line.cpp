// SPDX-License-Identifier: Apache-2.0
// Serial ports by termios, programs by a socket that is their input and output.
#include "remote/micro/micro_line.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/micro/serial_speed.h"
#include "remote/session/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;

namespace {

/// Owns a descriptor that does not block.
class FileLine : public MicroLine
{
public:
    explicit FileLine(int fd)
        : m_fd(fd)
    {
        fcntl(m_fd, F_SETFL, fcntl(m_fd, F_GETFL) | O_NONBLOCK);
    }
    ~FileLine() override
    {
        ioctl(m_fd, TIOCNXCL); // a pseudo terminal remembers the mark for the next who opens it
        close(m_fd);
    }

    Status write(std::span<const std::byte> bytes) override
    {
        constexpr milliseconds kMost{10000}; // a board reads, unless it hangs
        while (!bytes.empty()) {
            const ssize_t sent = put(bytes);
            if (sent > 0) bytes = bytes.subspan(static_cast<size_t>(sent));
            if (sent > 0 || errno == EINTR) continue;
            if (errno != EAGAIN) return ended();
            if (!isReady(POLLOUT, kMost))
                return makeError(DiagnosticCode::TimedOut,
                                 "the board takes no more bytes; does its program hang?");
        }
        return core::kDone;
    }

    Result<size_t> read(std::span<std::byte> most, milliseconds patience) override
    {
        if (!isReady(POLLIN, patience)) return size_t{0};
        const ssize_t got = ::read(m_fd, most.data(), most.size());
        if (got > 0) return static_cast<size_t>(got);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return size_t{0};
        return ended();
    }

    bool isTaken() const override
    {
        int held = 0; // of sockets, too: what the other end has not read
        return ioctl(m_fd, TIOCOUTQ, &held) != 0 || held == 0;
    }

protected:
    virtual core::Diagnostic ended()
    {
        return makeError(BoardCode::LinkLost, "the line to the board has ended; is it plugged in?");
    }

private:
    /// A program that has ended is no reason for SIGPIPE.
    ssize_t put(std::span<const std::byte> bytes) const
    {
        const ssize_t sent = ::send(m_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        return sent < 0 && errno == ENOTSOCK ? ::write(m_fd, bytes.data(), bytes.size()) : sent;
    }

    bool isReady(short events, milliseconds patience) const
    {
        pollfd entry{m_fd, events, 0};
        return poll(&entry, 1, static_cast<int>(patience.count())) > 0;
    }

    int m_fd;
};

class ProgramLine : public FileLine
{
public:
    ProgramLine(ChildProcess child, std::string name)
        : FileLine(child.takeSocket())
        , m_child(std::move(child))
        , m_name(std::move(name))
    {
    }

protected:
    core::Diagnostic ended() override
    {
        const int signal = m_child.signalOfDeath(milliseconds(500));
        if (m_said.empty()) m_said = m_child.lastWords(); // they are told once
        const std::string words(core::trimmed(m_said));
        return makeError(BoardCode::LinkLost,
                         core::quoted(m_name) + " has ended" +
                             (signal > 0 ? " by " + signalName(signal) : std::string()) +
                             (words.empty() ? std::string() : ": " + words));
    }

private:
    ChildProcess m_child;
    std::string m_name;
    std::string m_said;
};

/// "minicom (process 4711)", as far as this user may see it; empty: nobody, or nobody that is seen.
std::string holderOf(const std::string& port)
{
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path device = fs::canonical(port, failed);
    if (failed) return {};
    for (const auto& process : fs::directory_iterator("/proc", failed)) {
        const std::string id = process.path().filename().string();
        if (id.find_first_not_of("0123456789") != std::string::npos ||
            id == std::to_string(getpid()))
            continue;
        std::error_code hidden;
        for (fs::directory_iterator at(process.path() / "fd", hidden), end; !hidden && at != end;
             at.increment(hidden)) {
            std::error_code gone;
            if (fs::read_symlink(at->path(), gone) != device || gone) continue;
            std::string name; // files of /proc do not tell their size
            std::getline(std::ifstream("/proc/" + id + "/comm"), name);
            return (name.empty() ? "a program" : name) + " (process " + id + ")";
        }
    }
    return {};
}

core::Diagnostic isBusy(const std::string& port)
{
    const std::string holder = holderOf(port);
    return makeError(DiagnosticCode::BoardFailure,
                     "the serial port " + core::quoted(port) + " is busy: " +
                         (holder.empty() ? "another program" : holder) + " has it; close that");
}

core::Diagnostic cannotOpen(const std::string& port, int error)
{
    std::string what = std::strerror(error);
    if (error == ENOENT) what = "there is none of this name; is the board plugged in?";
    if (error == EACCES) what = "you may not use it; join the group dialout and log in again";
    if (error == EBUSY) return isBusy(port);
    return makeError(DiagnosticCode::BoardFailure,
                     "cannot open the serial port " + core::quoted(port) + ": " + what);
}

} // namespace

Result<std::unique_ptr<MicroLine>> openSerialLine(const std::string& port, int baud)
{
    const Result<speed_t> speed = serialSpeed(baud);
    if (!speed) return speed.error();
    const int fd = open(port.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return cannotOpen(port, errno);
    auto line = std::make_unique<FileLine>(fd);
    termios settings{};
    if (tcgetattr(fd, &settings) != 0)
        return makeError(DiagnosticCode::BoardFailure, core::quoted(port) + " is no serial port");
    // Other programs of ours, and those that ask, too, see the lock; the mark keeps out the rest.
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) return isBusy(port);
    if (ioctl(fd, TIOCEXCL) != 0) return cannotOpen(port, errno);
    cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL | CREAD;
    cfsetspeed(&settings, *speed);
    if (tcsetattr(fd, TCSANOW, &settings) != 0) return cannotOpen(port, errno);
    tcflush(fd, TCIOFLUSH);
    return std::unique_ptr<MicroLine>(std::move(line));
}

Result<std::unique_ptr<MicroLine>> startProgramLine(const std::string& script)
{
    auto child = ChildProcess::start("/bin/sh", {"-c", "exec sh \"$0\" <&3 >&3 3>&-", script},
                                     ErrorOutput::Kept);
    if (!child) return child.error();
    return std::unique_ptr<MicroLine>(std::make_unique<ProgramLine>(std::move(*child), script));
}

} // namespace tenon::remote
