// SPDX-License-Identifier: Apache-2.0
// The server that is held by its standard input: files that come that way, and how it ends.
#include "core/base/file.h"
#include "core/base/program_files.h"
#include "remote/deploy/file_patch.h"
#include "runtime/rpc/patch.h"
#include "runtime/rpc/sha256.h"
#include "tests/runtime/artifacts.h"
#include "tests/support/environment.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

extern char** environ;

namespace tenon::remote {
namespace {

namespace fs = std::filesystem;

std::string sha256(std::string_view bytes)
{
    char hex[TENON_SHA256_HEX];
    tenon_sha256_hex(bytes.data(), bytes.size(), hex);
    return hex;
}

class AttendedServer : public testing::Test
{
protected:
    void SetUp() override
    {
        signal(SIGPIPE, SIG_IGN);
        fs::create_directories(folder());
    }
    void TearDown() override { hangUp(); }
    static std::string program() { return core::siblingProgram("tenon-rpc-server"); }
    /// The end of its input, and nobody listens any more.
    void hangUp()
    {
        if (m_in) std::fclose(m_in);
        if (m_out) std::fclose(m_out);
        m_in = m_out = nullptr;
    }
    std::string root() const { return m_folder.file("root"); }
    std::string folder() const { return root() + "/run-1"; }

    void start(std::vector<std::string> arguments)
    {
        hangUp();
        arguments.insert(arguments.begin(), {program(), "--port", "0", "--attended", "--tidy"});
        std::vector<char*> argv;
        for (std::string& word : arguments) argv.push_back(word.data());
        argv.push_back(nullptr);
        int to[2];
        int from[2];
        ASSERT_EQ(pipe2(to, O_CLOEXEC), 0);
        ASSERT_EQ(pipe2(from, O_CLOEXEC), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, to[0], 0);
        posix_spawn_file_actions_adddup2(&actions, from[1], 1);
        posix_spawn_file_actions_addchdir_np(&actions, folder().c_str());
        ASSERT_EQ(posix_spawn(&m_pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
        posix_spawn_file_actions_destroy(&actions);
        close(to[0]);
        close(from[1]);
        m_in = fdopen(to[1], "w");
        m_out = fdopen(from[0], "r");
    }
    void say(std::string_view bytes)
    {
        std::fwrite(bytes.data(), 1, bytes.size(), m_in);
        std::fflush(m_in);
    }
    /// The next line, waiting as long as it takes; "" at the end.
    std::string heard()
    {
        char line[4096];
        if (!std::fgets(line, sizeof line, m_out)) return "";
        std::string out(line);
        out.pop_back();
        return out;
    }
    static std::string nameLine(const std::string& name, std::string_view content)
    {
        return name + " " + sha256(content) + "\n";
    }
    /// What `put` wants after its line.
    static std::string patchOf(std::string_view base, std::string_view wanted)
    {
        const FilePatch patch =
            makePatch(std::as_bytes(std::span(base)), std::as_bytes(std::span(wanted)));
        std::string out;
        for (const auto piece : patch.pieces())
            out.append(reinterpret_cast<const char*>(piece.data()), piece.size());
        return out + static_cast<char>(kTenonPatchEnd);
    }
    /// A session that shakes hands and goes.
    static void openAndLeave(int port)
    {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        const std::string hello = test::Stream().u32(0xFF271).u32(13).raw("client:secret").bytes();
        EXPECT_EQ(write(fd, hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
        close(fd);
    }
    int waitForEnd() const
    {
        int status = -1;
        while (waitpid(m_pid, &status, 0) < 0 && errno == EINTR) {}
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    test::TemporaryFolder m_folder;
    pid_t m_pid = -1;
    FILE* m_in = nullptr;
    FILE* m_out = nullptr;
};

TEST_F(AttendedServer, storesFilesAndPatchesOfThem)
{
    start({});
    say("secret\n");
    EXPECT_TRUE(heard().starts_with("listening on 127.0.0.1:"));
    std::string first(300'000, 'a');
    for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<char>(i * 2654435761u >> 13);
    std::string second = first;
    second.insert(150'000, "a kernel that grew");
    say("put -\n" + patchOf("", first) + nameLine("a.so", first));
    EXPECT_EQ(heard(), "stored");
    const std::string patch = patchOf(first, second);
    EXPECT_LT(patch.size(), 10'000u);
    say("\n\nput a.so\n" + patch + nameLine("b.so", second));
    EXPECT_EQ(heard(), "stored");
    EXPECT_TRUE(*core::readFile(folder() + "/a.so") == first);
    EXPECT_TRUE(*core::readFile(folder() + "/b.so") == second);
    hangUp();
    EXPECT_EQ(waitForEnd(), 0);
    EXPECT_FALSE(fs::exists(root()));
}

TEST_F(AttendedServer, saysEachThingOnce)
{
    start({});
    say("secret\n");
    const std::string line = heard();
    const int port = std::atoi(line.c_str() + line.rfind(':') + 1);
    const std::string order = "put -\n" + patchOf("", "x") + nameLine("a.so", "x");
    for (int i = 0; i < 50; ++i) { // a session starts while the answer is on its way
        say(order);
        openAndLeave(port);
        ASSERT_EQ(heard(), "stored") << i;
    }
    std::fclose(m_in);
    m_in = nullptr;
    EXPECT_EQ(heard(), "");
    EXPECT_EQ(waitForEnd(), 0);
}

TEST_F(AttendedServer, endsAtTheFirstFileThatGoesWrong)
{
    const std::string content(100'000, 'x');
    const std::string whole = patchOf("", content);
    const std::string right = nameLine("a.so", content);
    for (const std::string& order :
         {"put -\n" + whole + nameLine("a.so", "other"), "put -\n" + whole + "a.so\n",
          "put -\n" + whole + nameLine("../a.so", content), "put b.so\n" + whole + right,
          "put ../b.so\n" + whole + right, std::string("get a.so\n"),
          "put -\n\x07" + whole + right}) {
        fs::create_directories(folder());
        start({});
        say("secret\n");
        EXPECT_TRUE(heard().starts_with("listening"));
        say(order);
        EXPECT_TRUE(heard().starts_with("failed: ")) << order.substr(0, 100);
        EXPECT_EQ(heard(), "");
        EXPECT_EQ(waitForEnd(), 0);
        EXPECT_FALSE(fs::exists(root())) << order.substr(0, 100);
    }
}

TEST_F(AttendedServer, endsWhenNobodySaysAnything)
{
    start({"--silence", "1"});
    say("secret\n");
    EXPECT_TRUE(heard().starts_with("listening"));
    EXPECT_EQ(waitForEnd(), 0); // although its input is open
    EXPECT_FALSE(fs::exists(root()));
}

TEST_F(AttendedServer, startsOnlyAsTheProgramThatWasSent)
{
    start({"--self", std::string(64, '0')});
    EXPECT_EQ(heard(), "");
    EXPECT_EQ(waitForEnd(), 1);
    start({"--self", sha256(*core::readFile(program()))});
    say("secret\n");
    EXPECT_TRUE(heard().starts_with("listening"));
    hangUp();
    EXPECT_EQ(waitForEnd(), 0);
}

TEST_F(AttendedServer, removesWhatOthersLeftADayAgo)
{
    fs::create_directories(root() + "/run-0/tenon-rpc-x");
    fs::create_directories(root() + "/run-2");
    fs::create_directories(root() + "/store");
    fs::last_write_time(root() + "/run-0",
                        fs::file_time_type::clock::now() - std::chrono::hours(30));
    start({});
    say("secret\n");
    EXPECT_TRUE(heard().starts_with("listening"));
    hangUp();
    EXPECT_EQ(waitForEnd(), 0);
    EXPECT_FALSE(fs::exists(root() + "/run-0"));
    EXPECT_FALSE(fs::exists(folder()));
    EXPECT_TRUE(fs::exists(root() + "/run-2"));
    EXPECT_TRUE(fs::exists(root() + "/store"));
}

} // namespace
} // namespace tenon::remote
