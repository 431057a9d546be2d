// SPDX-License-Identifier: Apache-2.0
// Clients that do not know the key, or never say it: they hold nobody up.
#include "core/base/program_files.h"
#include "tests/remote/serving.h"
#include "tests/runtime/artifacts.h"

#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace tenon::remote {
namespace {

using namespace std::chrono_literals;

class HostileClient : public Serving
{
protected:
    explicit HostileClient(const std::vector<std::string>& arguments = {"--key", "pi"})
        : Serving(arguments)
    {
    }
    ~HostileClient() override
    {
        for (const int fd : m_held) close(fd);
    }
    void hold(int count)
    {
        for (int i = 0; i < count; ++i) m_held.push_back(connected());
    }
    void expectServed() { EXPECT_TRUE(isServed()); }
    static bool isHungUp(int fd)
    {
        char byte = 0;
        return recv(fd, &byte, 1, 0) <= 0;
    }

    std::vector<int> m_held;
};

TEST_F(HostileClient, inGreatNumbersHoldsNobodyUp)
{
    for (int i = 0; i < 5; ++i) {
        hold(200); // silent
        expectServed();
    }
    for (int i = 0; i < 50; ++i) { // half a greeting
        m_held.push_back(connected());
        EXPECT_EQ(send(m_held.back(), hello("client:pi").data(), 12, MSG_NOSIGNAL), 12);
    }
    expectServed();
    // None of them costs a process.
    EXPECT_TRUE(becomes([&] { return m_server.descendants() == 0; }));
}

TEST_F(HostileClient, isServedAfterTheSessionItWaitsFor)
{
    auto first = session();
    ASSERT_TRUE(first);
    hold(100);
    std::jthread later([&] {
        std::this_thread::sleep_for(200ms);
        first.reset();
    });
    expectServed();
}

TEST_F(HostileClient, withAKeyThatIsTooLongIsRefused)
{
    const int fd = connected();
    const std::string said = test::Stream().u32(0xFF271).u32(1 << 20).bytes();
    EXPECT_EQ(send(fd, said.data(), said.size(), MSG_NOSIGNAL), 8);
    EXPECT_TRUE(isHungUp(fd));
    close(fd);
    expectServed();
}

/// With little patience.
class HastyServer : public HostileClient
{
protected:
    HastyServer()
        : HostileClient({"--key", "pi", "--greeting", "300"})
    {
    }
};

TEST_F(HastyServer, endsAGreetingThatDripsAsAWhole)
{
    const int fd = connected();
    const std::string said = hello("client:" + std::string(200, 'p'));
    size_t sent = 0; // of what takes many times the 300 ms
    while (sent + 1 < said.size() && send(fd, said.data() + sent, 1, MSG_NOSIGNAL) == 1) {
        ++sent;
        std::this_thread::sleep_for(50ms);
    }
    EXPECT_LT(sent + 1, said.size());
    close(fd);
    expectServed();
}

TEST_F(HastyServer, forgetsWhoDoesNotOpenASession)
{
    const int fd = known();
    expectServed(); // after the first was given up
    EXPECT_LE(recv(fd, nullptr, 0, MSG_DONTWAIT), 0);
    close(fd);
}

/// Says half of a packet and no more.
TEST_F(HastyServer, forgetsWhoDoesNotFinishItsFirstPacket)
{
    for (const size_t said : {1, 7, 8, 11}) {
        const int fd = known();
        const std::string packet = test::Stream().u64(1000).u32(2).bytes();
        EXPECT_EQ(send(fd, packet.data(), said, MSG_NOSIGNAL), static_cast<ssize_t>(said));
        expectServed();
        close(fd);
    }
}

/// Who knows the key, and then holds the session.
class IdleServer : public HostileClient
{
protected:
    explicit IdleServer(const char* seconds = "1")
        : HostileClient({"--key", "pi", "--idle", seconds})
    {
    }
};

/// One whose limit leaves a busy machine the time to take a large file.
class IdleServerOfLargeFiles : public IdleServer
{
protected:
    IdleServerOfLargeFiles()
        : IdleServer("4")
    {
    }
};

TEST_F(IdleServer, isNotHeldByAPacketThatDrips)
{
    const int fd = connected();
    const std::string opening =
        hello("client:pi") +
        test::Stream().u64(21).u32(2).u64(5).raw("0.8.0").u32(0).u64(1 << 20).bytes();
    EXPECT_EQ(send(fd, opening.data(), opening.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(opening.size()));
    std::jthread drips([fd](const std::stop_token& stop) {
        while (!stop.stop_requested() && send(fd, "", 1, MSG_NOSIGNAL) == 1)
            std::this_thread::sleep_for(50ms);
    });
    expectServed();
    drips.request_stop();
    drips.join();
    close(fd);
}

/// A client that asks for a large file and reads nothing of it.
bool asksAndReadsNothing(RpcSession& rpc)
{
    const std::string large(24 << 20, 'x');
    const auto bytes = std::as_bytes(std::span(large));
    if (!rpc.callGlobal("tvm.rpc.server.upload", PackedArgs().text("large").bytes(bytes)))
        return false; // this machine is too busy to be that quick
    const auto download = rpc.globalFunction("tvm.rpc.server.download");
    if (!download) return false;
    std::jthread asks([&] {
        const core::JobContext job;
        rpc.setPatience({1ms, &job});
        static_cast<void>(rpc.call(*download, PackedArgs().text("large")));
    });
    return true;
}

TEST_F(IdleServerOfLargeFiles, isNotHeldByAnAnswerThatIsNotRead)
{
    std::unique_ptr<RpcSession> first;
    EXPECT_TRUE(becomes([&] {
        auto opened = RpcSession::open(known());
        if (!opened) return false;
        first = std::move(*opened);
        return asksAndReadsNothing(*first);
    }));
    expectServed();
}

std::string errorsOf(const std::string& arguments)
{
    const std::string program = core::siblingProgram("tenon-rpc-server");
    FILE* out = popen(
        ("timeout 5 '" + program + "' " + arguments + " 2>&1; echo \"status $?\"").c_str(), "r");
    std::string text;
    for (int c = 0; (c = std::fgetc(out)) != EOF;) text.push_back(static_cast<char>(c));
    pclose(out);
    return text;
}

TEST(ServerOptions, refusesWhatWouldOpenItToStrangersUnasked)
{
    for (const char* host : {"0.0.0.0", "192.168.1.1"}) {
        const std::string said = errorsOf(std::string("--port 0 --host ") + host);
        EXPECT_NE(said.find("--trust-network"), std::string::npos) << said;
        EXPECT_NE(said.find("status 2"), std::string::npos) << said;
    }
}

TEST(ServerOptions, refusesNumbersAndKeysThatAreNone)
{
    for (const char* arguments :
         {"--port ''", "--port -1", "--port 65536", "--port 80x", "--port ' 80'", "--port",
          "--idle +1", "--trust-paths", "--trust-path a --fd 3", "--host localhost"})
        EXPECT_NE(errorsOf(arguments).find("status 2"), std::string::npos) << arguments;
    EXPECT_NE(errorsOf("--port 0 --key " + std::string(257, 'k')).find("256 bytes"),
              std::string::npos);
}

} // namespace
} // namespace tenon::remote
