// SPDX-License-Identifier: Apache-2.0
// The listening server: handshake, uploads, and a folder that goes with the session.
#include "core/base/text.h"
#include "remote/rpc/rpc_session.h"
#include "tests/remote/serving.h"
#include "tests/runtime/artifacts.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

namespace tenon::remote {
namespace {

using Server = Serving;

TEST_F(Server, refusesStrangers)
{
    int fd = connected();
    EXPECT_EQ(shakeHands(fd, "client:other", 64), test::Stream().u32(0xFF273).bytes());
    close(fd);
    fd = connected();
    EXPECT_EQ(write(fd, "GET / HTTP/1.0\r\n\r\n", 18), 18);
    char byte;
    EXPECT_LE(recv(fd, &byte, 1, 0), 0);
    close(fd);
    fd = connected(); // and still serves
    EXPECT_EQ(shakeHands(fd, "client:pi -timeout=20", kWelcome.size()), kWelcome);
    close(fd);
}

TEST_F(Server, keepsUploadsForTheSessionOnly)
{
    const int fd = connected();
    ASSERT_EQ(shakeHands(fd, "client:pi", kWelcome.size()), kWelcome);
    auto session = RpcSession::open(fd);
    ASSERT_TRUE(session) << session.error().text();
    RpcSession& rpc = **session;
    const std::string content = "any bytes\0 at all";
    const auto bytes = std::as_bytes(std::span(content));
    ASSERT_TRUE(rpc.callGlobal("tvm.rpc.server.upload", PackedArgs().text("a.bin").bytes(bytes)));
    const auto back = rpc.callGlobal("tvm.rpc.server.download", PackedArgs().text("a.bin"));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->text, content);
    EXPECT_EQ(rpc.callGlobal("tvm.rpc.server.listdir", PackedArgs().text("/"))->text, "a.bin");
    EXPECT_EQ(filesLeft(), 2u);
    for (const char* name : {"../a.bin", "/etc/passwd", "", ".", "..", "a/b", ".hidden"}) {
        const PackedArgs arguments = PackedArgs().text(name);
        EXPECT_FALSE(rpc.callGlobal("tvm.rpc.server.download", arguments)) << name;
        EXPECT_FALSE(rpc.callGlobal("tvm.rpc.server.load_module", arguments)) << name;
    }
    ASSERT_TRUE(rpc.callGlobal("tvm.rpc.server.remove", PackedArgs().text("a.bin")));
    ASSERT_TRUE(rpc.callGlobal("tvm.rpc.server.upload", PackedArgs().text("b.bin").bytes(bytes)));
    session->reset();
    for (int i = 0; i < 500 && filesLeft() > 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(filesLeft(), 0u);
}

TEST_F(Server, cleansUpAfterACrashAndGoesOn)
{
    TENON_NEED_TOOL("cc");
    const test::TemporaryFolder here;
    const std::string path = test::compileLibrary(
        here.path(), "crash", "int crash(void* a) { return *(volatile int*)0; }");
    const int fd = connected();
    ASSERT_EQ(shakeHands(fd, "client:pi", kWelcome.size()), kWelcome);
    auto session = RpcSession::open(fd);
    ASSERT_TRUE(session);
    std::string library(std::filesystem::file_size(path), 0);
    FILE* in = std::fopen(path.c_str(), "rb");
    EXPECT_EQ(std::fread(library.data(), 1, library.size(), in), library.size());
    std::fclose(in);
    ASSERT_TRUE((*session)->callGlobal(
        "tvm.rpc.server.upload",
        PackedArgs().text("crash.so").bytes(std::as_bytes(std::span(library)))));
    const auto module =
        (*session)->callGlobal("tvm.rpc.server.load_module", PackedArgs().text("crash.so"));
    ASSERT_TRUE(module) << module.error().text();
    const auto crash = (*session)->moduleFunction(module->handle, "crash");
    ASSERT_TRUE(crash);
    EXPECT_FALSE((*session)->moduleFunction(module->handle, "none"));
    const auto reply = (*session)->call(*crash, {});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().message.find("SIGSEGV"), std::string::npos) << reply.error().message;
    session->reset();
    const int next = connected();
    EXPECT_EQ(shakeHands(next, "client:pi", kWelcome.size()), kWelcome);
    EXPECT_EQ(filesLeft(), 1u); // the folder of the new session
    close(next);
}

TEST_F(Server, hidesAddressesAndStaleHandles)
{
    const int fd = connected();
    ASSERT_EQ(shakeHands(fd, "client:pi", kWelcome.size()), kWelcome);
    auto session = RpcSession::open(fd);
    ASSERT_TRUE(session);
    RpcSession& rpc = **session;
    const auto tensor = rpc.allocate(core::kFloat32, {4});
    ASSERT_TRUE(tensor) << tensor.error().text();
    const core::Tensor values = core::Tensor::of<float>(core::kFloat32, {4}, {1, 2, 3, 4});
    ASSERT_TRUE(rpc.copyTo(*tensor, values.bytes()));
    EXPECT_EQ(rpc.copyFrom(*tensor)->numbers(), values.numbers());
    RemoteTensor larger = *tensor;
    larger.shape = {5};
    EXPECT_FALSE(rpc.copyFrom(larger));
    EXPECT_FALSE(rpc.copyTo(larger, values.bytes()));
    EXPECT_TRUE(rpc.release(*tensor));
    EXPECT_FALSE(rpc.copyFrom(*tensor));
    EXPECT_FALSE(rpc.release(*tensor));
    EXPECT_FALSE(rpc.call(RemoteHandle{1, kTVMPackedFuncHandle}, {}));
    EXPECT_FALSE(rpc.call(RemoteHandle{0x7f0000001000, kTVMPackedFuncHandle}, {}));
    const auto none = rpc.globalFunction("no.such.function");
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
}

TEST_F(Server, cleansUpWhenItIsInterrupted)
{
    const int fd = connected();
    ASSERT_EQ(shakeHands(fd, "client:pi", kWelcome.size()), kWelcome);
    auto session = RpcSession::open(fd);
    ASSERT_TRUE(session);
    const std::string content = "bytes";
    ASSERT_TRUE((*session)->callGlobal(
        "tvm.rpc.server.upload",
        PackedArgs().text("a.bin").bytes(std::as_bytes(std::span(content)))));
    EXPECT_EQ(filesLeft(), 2u);
    EXPECT_EQ(m_server.stop(SIGINT), 0); // an orderly end in the middle of a session
    EXPECT_EQ(filesLeft(), 0u);
    EXPECT_FALSE((*session)->globalFunction("any"));
}

/// Told to listen elsewhere, with little memory.
class OpenServer : public Server
{
protected:
    OpenServer()
        : Server({"--key", "pi", "--host", "0.0.0.0", "--trust-network", "--memory", "64"})
    {
    }
};

TEST_F(OpenServer, listensWhereItIsToldAndHoldsItsMemoryLimit)
{
    const int fd = connected();
    ASSERT_EQ(shakeHands(fd, "client:pi", kWelcome.size()), kWelcome);
    auto session = RpcSession::open(fd);
    ASSERT_TRUE(session);
    const auto large = (*session)->allocate(core::kFloat32, {64 << 20});
    ASSERT_FALSE(large);
    EXPECT_NE(large.error().message.find("out of memory"), std::string::npos)
        << large.error().message;
    EXPECT_TRUE((*session)->allocate(core::kFloat32, {1 << 20})); // and goes on
}

} // namespace
} // namespace tenon::remote
