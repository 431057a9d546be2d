// SPDX-License-Identifier: Apache-2.0
// Models whose code does what no model has to: new processes, sockets, files of others.
#include "tests/remote/serving.h"
#include "tests/support/environment.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace tenon::remote {
namespace {

using core::JobContext;

/// An artifact has no C library. `call` makes any system call: number, then up to four numbers or
/// texts.
constexpr const char* kSource = R"(
typedef union { long i; const char* s; } value;
static long ask(long n, long a, long b, long c, long d, long e)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x8 __asm__("x8") = n;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8) : "memory");
    return x0;
#endif
}
int call(value* a, int* codes, int n, value* r, int* rc, void* h)
{
    r->i = ask(a[0].i, n > 1 ? a[1].i : 0, n > 2 ? a[2].i : 0, n > 3 ? a[3].i : 0,
               n > 4 ? a[4].i : 0, n > 5 ? a[5].i : 0);
    *rc = 0;
    return 0;
}
/* A daemon: a child of a child, in a session of its own, which holds all that it inherits. */
int hide(value* a, int* codes, int n, value* r, int* rc, void* h)
{
    long fork_flags = 17; /* SIGCHLD */
    r->i = ask(CLONE, fork_flags, 0, 0, 0, 0);
    *rc = 0;
    if (r->i != 0) return 0;
    ask(SETSID, 0, 0, 0, 0, 0);
    for (int i = 0; i < 3; ++i)
        if (ask(CLONE, fork_flags, 0, 0, 0, 0) == 0)
            for (;;) ask(PAUSE, 0, 0, 0, 0, 0);
    ask(EXIT, 0, 0, 0, 0, 0);
    for (;;) {}
}
)";

std::string source()
{
    const auto define = [](const char* name, long number) {
        return std::string("#define ") + name + " " + std::to_string(number) + "\n";
    };
#if defined(SYS_pause)
    const long waiting = SYS_pause;
#else
    const long waiting = SYS_ppoll;
#endif
    return define("CLONE", SYS_clone) + define("SETSID", SYS_setsid) + define("PAUSE", waiting) +
           define("EXIT", SYS_exit_group) + kSource;
}

class HostileModel : public Serving
{
protected:
    explicit HostileModel(const std::vector<std::string>& arguments = {"--key", "pi"})
        : Serving(arguments)
    {
    }
    void SetUp() override { TENON_NEED_TOOL("cc"); }
    bool has(const std::string& means) const
    {
        return m_server.greeting().find(means) != std::string::npos;
    }
    static int64_t call(RpcSession& rpc, RemoteHandle function, const PackedArgs& arguments)
    {
        const auto reply = rpc.call(function, arguments);
        EXPECT_TRUE(reply) << reply.error().text();
        return reply ? reply->integer : 0;
    }
    /// A session that hides processes, then ends in an orderly way or not at all.
    void hideAndGo(bool isOrderly)
    {
        auto rpc = session();
        ASSERT_TRUE(rpc);
        const RemoteHandle hide = loaded(*rpc, source(), "hide");
        EXPECT_GT(call(*rpc, hide, {}), 0);
        EXPECT_TRUE(becomes([&] { return m_server.descendants() >= 4; }));
        if (isOrderly) return;
        const RemoteHandle function = loaded(*rpc, source(), "call");
        EXPECT_FALSE(rpc->call(function, PackedArgs().integer(SYS_exit_group).integer(0)));
    }
};

/// On a kernel that forbids nothing.
class FreeModel : public HostileModel
{
protected:
    FreeModel()
        : HostileModel({"--key", "pi", "--no-sandbox"})
    {
    }
};

TEST_F(FreeModel, cannotBlockTheServerByProcessesThatStay)
{
    EXPECT_TRUE(has("not confined"));
    for (const bool isOrderly : {true, false, true}) {
        hideAndGo(isOrderly);
        ASSERT_TRUE(session()); // the next one is served, although they would stay for ever
        EXPECT_TRUE(becomes([&] { return m_server.descendants() == 0; }));
    }
    EXPECT_TRUE(becomes([&] { return filesLeft() == 0; }));
}

TEST_F(FreeModel, takesItsProcessesAlongWhenTheServerIsInterrupted)
{
    auto rpc = session();
    ASSERT_TRUE(rpc);
    EXPECT_GT(call(*rpc, loaded(*rpc, source(), "hide"), {}), 0);
    EXPECT_TRUE(becomes([&] { return m_server.descendants() >= 4; }));
    EXPECT_EQ(m_server.stop(SIGTERM), 0);
    EXPECT_EQ(filesLeft(), 0u);
}

TEST_F(HostileModel, cannotHoldTheServerByStoppingItself)
{
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const RemoteHandle function = loaded(*rpc, source(), "call");
    const int64_t self = call(*rpc, function, PackedArgs().integer(SYS_getpid));
    const JobContext job;
    rpc->setPatience({std::chrono::milliseconds(200), &job});
    EXPECT_FALSE(
        rpc->call(function, PackedArgs().integer(SYS_kill).integer(self).integer(SIGSTOP)));
    rpc.reset(); // hangs up, which nobody there can see
    EXPECT_TRUE(session());
}

TEST_F(HostileModel, startsNoProcessAndReachesNoOther)
{
    TENON_NEED(has("seccomp"), "seccomp", "this kernel filters no system calls");
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const RemoteHandle hide = loaded(*rpc, source(), "hide");
    EXPECT_EQ(call(*rpc, hide, {}), -EPERM);
    const RemoteHandle function = loaded(*rpc, source(), "call");
    const auto made = [&](long number, std::vector<int64_t> rest = {}) {
        PackedArgs arguments;
        arguments.integer(number);
        for (const int64_t each : rest) arguments.integer(each);
        return call(*rpc, function, arguments);
    };
    EXPECT_EQ(made(SYS_socket, {AF_INET, SOCK_STREAM, 0}), -EPERM);
    EXPECT_EQ(made(SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0}), -EPERM);
    EXPECT_EQ(made(SYS_connect, {3, 0, 0}), -EPERM); // that of the session to another place
    EXPECT_EQ(made(SYS_ptrace, {16, getpid()}), -EPERM);
    EXPECT_EQ(made(SYS_execve), -EPERM);
    EXPECT_EQ(made(SYS_kill, {getpid(), 0}), -EPERM);
    EXPECT_EQ(made(SYS_kill, {-1, 0}), -EPERM);
    EXPECT_EQ(made(SYS_process_vm_readv, {getpid()}), -EPERM);
    EXPECT_EQ(made(SYS_unshare, {CLONE_NEWUSER}), -EPERM);
    EXPECT_EQ(made(SYS_ioctl, {2, TIOCSTI, 0}), -EPERM);
    EXPECT_EQ(made(SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}), -EPERM);
    EXPECT_EQ(made(425), -EPERM);  // io_uring_setup
    EXPECT_EQ(made(435), -ENOSYS); // clone3
    EXPECT_EQ(made(467), -ENOSYS); // newer than the list
#if defined(__x86_64__)
    EXPECT_EQ(made(SYS_fork), -EPERM);
    EXPECT_EQ(made(SYS_vfork), -EPERM);
    EXPECT_EQ(made(0x40000000 + SYS_getpid), -ENOSYS); // x32
    EXPECT_EQ(made(SYS_sendto, {3, 0, 0, 0, int64_t{1} << 32}), -EPERM);
#endif
    EXPECT_GT(made(SYS_getpid), 0);
}

TEST_F(HostileModel, changesNothingThatIsOutsideOfItsFiles)
{
    TENON_NEED(has("seccomp"), "seccomp", "this kernel filters no system calls");
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const RemoteHandle function = loaded(*rpc, source(), "call");
    const std::string foreign = m_server.folder() + "/foreign";
    std::ofstream(foreign) << "not yours";
    const auto ofForeign = [&](long number, std::vector<int64_t> rest) {
        PackedArgs arguments;
        arguments.integer(number).integer(AT_FDCWD).text(foreign);
        for (const int64_t each : rest) arguments.integer(each);
        return call(*rpc, function, arguments);
    };
    // Landlock is about opening: who owns a file and who may read it is not held by that.
    EXPECT_EQ(ofForeign(SYS_fchmodat, {0777}), -EPERM);
    EXPECT_EQ(ofForeign(452, {0777, 0}), -EPERM); // fchmodat2
    EXPECT_EQ(ofForeign(SYS_fchownat, {1, 1, 0}), -EPERM);
    EXPECT_EQ(ofForeign(SYS_utimensat, {0, 0}), -EPERM);
    const auto changed = call(*rpc, function, PackedArgs().integer(SYS_setxattr).text(foreign));
    EXPECT_EQ(changed, -EPERM);
    EXPECT_EQ(call(*rpc, function, PackedArgs().integer(SYS_fchmod).integer(2).integer(0777)),
              -EPERM);
    EXPECT_EQ(call(*rpc, function, PackedArgs().integer(SYS_inotify_add_watch).integer(3)), -EPERM);
    // It ends with its server, whatever it wants.
    EXPECT_EQ(call(*rpc, function, PackedArgs().integer(SYS_prctl).integer(PR_SET_PDEATHSIG)),
              -EPERM);
    EXPECT_EQ(std::filesystem::status(foreign).permissions() & std::filesystem::perms::others_write,
              std::filesystem::perms::none);
}

#ifdef SYS_mmap
TEST_F(HostileModel, hasNoMemoryThatTheLimitDoesNotCount)
{
    TENON_NEED(has("seccomp"), "seccomp", "this kernel filters no system calls");
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const RemoteHandle function = loaded(*rpc, source(), "call");
    const auto mapped = [&](int flags) {
        return call(*rpc, function,
                    PackedArgs()
                        .integer(SYS_mmap)
                        .integer(0)
                        .integer(4096)
                        .integer(PROT_READ | PROT_WRITE)
                        .integer(flags)
                        .integer(-1));
    };
    EXPECT_EQ(mapped(MAP_SHARED | MAP_ANONYMOUS), -EPERM);
    EXPECT_EQ(mapped(MAP_SHARED_VALIDATE | MAP_ANONYMOUS), -EPERM);
    EXPECT_EQ(mapped(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN), -EPERM);
    EXPECT_NE(mapped(MAP_PRIVATE | MAP_ANONYMOUS), -EPERM);
    EXPECT_EQ(call(*rpc, function, PackedArgs().integer(SYS_memfd_create).text("x").integer(0)),
              -EPERM);
}
#endif

TEST_F(HostileModel, reachesNoFilesButItsOwn)
{
    TENON_NEED(has("Landlock"), "landlock", "this kernel has no Landlock");
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const RemoteHandle function = loaded(*rpc, source(), "call");
    const std::string foreign = m_server.folder() + "/foreign";
    std::ofstream(foreign) << "not yours";
    const auto opened = [&](const std::string& path, int flags) {
        return call(*rpc, function,
                    PackedArgs()
                        .integer(SYS_openat)
                        .integer(AT_FDCWD)
                        .text(path)
                        .integer(flags)
                        .integer(0600));
    };
    for (const std::string& path :
         {foreign, std::string("/etc/passwd"), std::string("/proc/1/cmdline"), std::string("/"),
          std::string("/root")})
        EXPECT_EQ(opened(path, O_RDONLY), -EACCES) << path;
    EXPECT_EQ(opened(foreign, O_WRONLY | O_TRUNC), -EACCES);
    EXPECT_EQ(opened(m_server.folder() + "/new", O_WRONLY | O_CREAT), -EACCES);
    const auto own = rpc->callGlobal("tvm.rpc.server.workpath", PackedArgs().text("mine"));
    ASSERT_TRUE(own);
    EXPECT_GT(opened(own->text, O_RDWR | O_CREAT), 3);
    EXPECT_GT(opened("/sys/devices/system/cpu/online", O_RDONLY), 3);
    EXPECT_GT(opened("/proc/self/status", O_RDONLY), 3);
}

TEST_F(HostileModel, seesNothingOfTheServersSurroundings)
{
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const RemoteHandle function = loaded(*rpc, source(), "call");
    const auto duplicated = [&](int fd) {
        return call(*rpc, function, PackedArgs().integer(SYS_dup).integer(fd));
    };
    EXPECT_EQ(duplicated(3), 4); // the client
    for (int fd = 5; fd < 64; ++fd) EXPECT_EQ(duplicated(fd), -EBADF) << fd;
}

TEST_F(HostileModel, loadsNothingByPath)
{
    auto rpc = session();
    ASSERT_TRUE(rpc);
    loaded(*rpc, source(), "call");
    const auto path = rpc->callGlobal("tvm.rpc.server.workpath", PackedArgs().text("attack.so"));
    ASSERT_TRUE(path);
    for (const char* name : {"tvm.rpc.server.load_module", "runtime.ModuleLoadFromFile"}) {
        EXPECT_FALSE(rpc->callGlobal(name, PackedArgs().text(path->text))) << name;
        EXPECT_FALSE(rpc->callGlobal(name, PackedArgs().text("../attack.so"))) << name;
        EXPECT_TRUE(rpc->callGlobal(name, PackedArgs().text("attack.so"))) << name;
    }
}

/// With room for small files.
class SmallServer : public HostileModel
{
protected:
    SmallServer()
        : HostileModel({"--key", "pi", "--file-size", "1"})
    {
    }
};

TEST_F(SmallServer, holdsFilesToTheirSize)
{
    auto rpc = session();
    ASSERT_TRUE(rpc);
    const std::string large(2 << 20, 'x');
    const auto stored = rpc->callGlobal(
        "tvm.rpc.server.upload", PackedArgs().text("large").bytes(std::as_bytes(std::span(large))));
    ASSERT_FALSE(stored);
    EXPECT_NE(stored.error().message.find("too large"), std::string::npos) << stored.error().text();
    EXPECT_EQ(rpc->callGlobal("tvm.rpc.server.listdir", PackedArgs().text("/"))->text, "");
}

/// With little patience.
class IdleSession : public Serving
{
protected:
    IdleSession()
        : Serving({"--key", "pi", "--idle", "1"})
    {
    }
};

TEST_F(IdleSession, isTakenBackFromWhoeverDoesNotUseIt)
{
    const auto idle = session();
    ASSERT_TRUE(idle);
    const auto next = session(); // waits for it
    ASSERT_TRUE(next);
    const auto answer = idle->globalFunction("any");
    ASSERT_FALSE(answer);
}

} // namespace
} // namespace tenon::remote
