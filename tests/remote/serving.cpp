// SPDX-License-Identifier: Apache-2.0
// What tests of the listening server share.
#include "tests/remote/serving.h"

#include "core/base/file.h"
#include "tests/runtime/artifacts.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenon::remote {

const std::string kWelcome = test::Stream().u32(0xFF271).u32(9).raw("server:pi").bytes();

int Serving::connected() const
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(m_server.port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
}

std::string Serving::hello(const std::string& key)
{
    return test::Stream().u32(0xFF271).u32(static_cast<uint32_t>(key.size())).raw(key).bytes();
}

std::string Serving::shakeHands(int fd, const std::string& key, size_t size)
{
    const std::string bytes = hello(key);
    std::string answer(size, 0);
    if (send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        return "";
    answer.resize(
        static_cast<size_t>(std::max<ssize_t>(0, recv(fd, answer.data(), size, MSG_WAITALL))));
    return answer;
}

std::unique_ptr<RpcSession> Serving::session() const
{
    const int fd = connected();
    EXPECT_EQ(shakeHands(fd, "client:pi", kWelcome.size()), kWelcome);
    auto out = RpcSession::open(fd);
    EXPECT_TRUE(out) << out.error().text();
    return out ? std::move(*out) : nullptr;
}

int Serving::known() const
{
    for (int i = 0; i < 100; ++i) {
        const int fd = connected();
        if (shakeHands(fd, "client:pi", kWelcome.size()) == kWelcome) return fd;
        close(fd);
    }
    ADD_FAILURE() << "the server lets nobody in";
    return -1;
}

bool Serving::isServed() const
{
    for (int i = 0; i < 100; ++i)
        if (RpcSession::open(known())) return true;
    return false;
}

RemoteHandle Serving::loaded(RpcSession& rpc, const std::string& source, const std::string& name)
{
    const test::TemporaryFolder here;
    const auto library = core::readFile(test::compileLibrary(here.path(), "attack", source, "-O1"));
    EXPECT_TRUE(library);
    EXPECT_TRUE(
        rpc.callGlobal("tvm.rpc.server.upload",
                       PackedArgs().text("attack.so").bytes(std::as_bytes(std::span(*library)))));
    const auto module =
        rpc.callGlobal("tvm.rpc.server.load_module", PackedArgs().text("attack.so"));
    EXPECT_TRUE(module) << module.error().text();
    const auto function = module ? rpc.moduleFunction(module->handle, name)
                                 : core::Result<RemoteHandle>(module.error());
    EXPECT_TRUE(function) << function.error().text();
    return function ? *function : RemoteHandle{};
}

} // namespace tenon::remote
