// SPDX-License-Identifier: Apache-2.0
// The parent's side of kernel workers: a pool of warm child processes, each used by one request at
// a time.
#include "compiler/driver/kernel_worker_link.h"
#include "core/ir/tir/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

extern char** environ;

namespace tenon::compiler {
namespace {

/// One child process; destroying it closes the socket, on which the child ends, and reaps it.
class Worker
{
public:
    static Result<std::unique_ptr<Worker>> start(const std::string& program)
    {
        int sockets[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
            return makeError(DiagnosticCode::IoFailure,
                             std::string("cannot create a socket pair: ") + std::strerror(errno));
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, sockets[1], 3);
        std::string name = program, command = "kernel-worker", flag = "--fd", number = "3";
        char* argv[] = {name.data(), command.data(), flag.data(), number.data(), nullptr};
        pid_t pid = 0;
        const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environ);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(sockets[1]);
        if (failed != 0) {
            ::close(sockets[0]);
            return makeError(DiagnosticCode::IoFailure,
                             std::string("cannot start the compiler worker: ") +
                                 std::strerror(failed),
                             {.file = program});
        }
        return std::unique_ptr<Worker>(new Worker(pid, sockets[0]));
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker()
    {
        ::close(m_fd);
        if (!m_isReaped) ::waitpid(m_pid, nullptr, 0);
    }

    Result<KernelReply> ask(const std::string& request)
    {
        std::optional<std::string> bytes;
        if (sendMessage(m_fd, request)) bytes = receiveMessage(m_fd);
        if (bytes) return decodeReply(*bytes);
        int status = 0;
        ::waitpid(m_pid, &status, 0);
        m_isReaped = true;
        std::string how = "ended";
        if (WIFSIGNALED(status)) how = std::string("was ended by ") + ::strsignal(WTERMSIG(status));
        return makeError(DiagnosticCode::CodegenFailure, "the compiler worker " + how);
    }
    bool isDead() const { return m_isReaped; }

private:
    Worker(pid_t pid, int fd)
        : m_pid(pid)
        , m_fd(fd)
    {
    }
    pid_t m_pid;
    int m_fd;
    bool m_isReaped = false;
};

class WorkerPool final : public KernelService
{
public:
    explicit WorkerPool(std::string program)
        : m_program(std::move(program))
    {
    }

    Result<KernelProducts> compile(const tir::PrimFunc& unscheduled, const std::string& symbol,
                                   const MachineSpec& machine, const TargetFacts& facts) override
    {
        auto reply = ask(KernelRequest{tir::print(unscheduled), symbol, machine, facts});
        if (!reply) return reply.error();
        return std::move(*reply->products);
    }

    Result<std::string> emitText(const TextRequest& request) override
    {
        auto reply = ask(request);
        if (!reply) return reply.error();
        return std::move(reply->bytes);
    }

    Status link(const LinkRequest& request) override
    {
        auto reply = ask(request);
        if (reply) return kDone;
        Diagnostic error = reply.error();
        if (error.code == DiagnosticCode::CodegenFailure) error.code = DiagnosticCode::LinkFailure;
        return error;
    }

private:
    /// Any error in a request is the result's error; a worker that failed to link is not asked
    /// again, for LLD may have lost its state.
    Result<KernelReply> ask(const WorkerRequest& request)
    {
        std::unique_ptr<Worker> worker = takeIdle();
        if (!worker) {
            auto started = Worker::start(m_program);
            if (!started) return started.error();
            worker = std::move(*started);
        }
        auto reply = worker->ask(encodeRequest(request));
        if (!reply) {
            Diagnostic error = reply.error();
            error.message += std::holds_alternative<LinkRequest>(request)
                                 ? " while linking; nothing was written, please report this model"
                                 : "; the model is unchanged, please report this kernel";
            return error;
        }
        const bool canLast = !reply->error || !std::holds_alternative<LinkRequest>(request);
        if (canLast && !worker->isDead()) {
            const std::scoped_lock lock(m_mutex);
            m_idle.push_back(std::move(worker));
        }
        if (reply->error) return *reply->error;
        return reply;
    }

    std::unique_ptr<Worker> takeIdle()
    {
        const std::scoped_lock lock(m_mutex);
        if (m_idle.empty()) return nullptr;
        auto worker = std::move(m_idle.back());
        m_idle.pop_back();
        return worker;
    }

    std::string m_program;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Worker>> m_idle;
};

} // namespace

std::shared_ptr<KernelService> workerKernelService(std::string program)
{
    return std::make_shared<WorkerPool>(std::move(program));
}

} // namespace tenon::compiler
