// SPDX-License-Identifier: Apache-2.0
// The server's session against golden packets, damaged packets and hostile requests.
#include "tests/runtime/artifacts.h"
#include "tests/runtime/session_shim.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>

namespace tenon::test {
namespace {

class RpcSession : public testing::Test
{
protected:
    RpcSession() { m_session.reset(shim_session_new(m_folder.path().c_str())); }

    /// The reply to a packet given without its length; nullopt when the session ends.
    std::optional<std::string> ask(const std::string& packet)
    {
        const uint8_t* reply = nullptr;
        size_t size = 0;
        if (!shim_session_handle(m_session.get(), packet.data(), packet.size(), &reply, &size))
            return std::nullopt;
        return std::string(reinterpret_cast<const char*>(reply), size);
    }
    std::string ask(const Stream& packet) { return ask(packet.bytes()).value_or("(end)"); }
    void greet() { EXPECT_EQ(ask(greeting("0.8.0")), returned(Stream().u32(1).u32(4))); }

    static Stream greeting(const std::string& version)
    {
        return Stream().u32(2).text(version).u32(0);
    }
    static Stream getGlobal(const std::string& name)
    {
        return Stream().u32(9).u32(1).u32(11).text(name);
    }
    /// A whole Return packet.
    static std::string returned(const Stream& body)
    {
        return Stream().u64(4 + body.bytes().size()).u32(4).raw(body.bytes()).bytes();
    }
    static bool isException(const std::string& reply)
    {
        return reply.size() > 12 && reply.substr(8, 4) == Stream().u32(5).bytes();
    }
    /// The u64 at `offset` of a reply.
    static uint64_t number(const std::string& reply, size_t offset)
    {
        uint64_t value = 0;
        for (size_t i = 8; i-- > 0;)
            value = value << 8 | static_cast<uint8_t>(reply.at(offset + i));
        return value;
    }
    uint64_t functionHandle(const std::string& name) { return number(ask(getGlobal(name)), 20); }
    /// Tensor as it travels: float32, CPU.
    static Stream tensor(uint64_t data, std::initializer_list<int64_t> shape, uint64_t offset = 0)
    {
        Stream stream;
        stream.u64(data).u32(1).u32(0).u32(static_cast<uint32_t>(shape.size()));
        stream.u8(2).u8(32).u16(1);
        for (const int64_t extent : shape) stream.u64(static_cast<uint64_t>(extent));
        return stream.u64(offset);
    }
    uint64_t allocate(std::initializer_list<int64_t> shape)
    {
        const Stream request = Stream().u32(17).u32(2).u32(7).u32(4).raw(tensor(0, shape).bytes());
        return number(ask(request), 20);
    }

    struct Free
    {
        void operator()(shim_session* session) const { shim_session_free(session); }
    };
    TemporaryFolder m_folder;
    std::unique_ptr<shim_session, Free> m_session;
};

TEST_F(RpcSession, insistsOnTheExactVersion)
{
    EXPECT_TRUE(isException(ask(getGlobal("runtime.NumThreads")))); // no greeting yet
    const std::string refusal = ask(greeting("0.7.0"));
    EXPECT_TRUE(isException(refusal));
    EXPECT_NE(refusal.find("0.7.0"), std::string::npos);
    EXPECT_NE(refusal.find("0.8.0"), std::string::npos);
    greet();
}

TEST_F(RpcSession, answersWithGoldenPackets)
{
    greet();
    // A missing function is handle 0, not an error.
    EXPECT_EQ(ask(getGlobal("tvm.rpc.server.GetCRTMaxPacketSize")),
              returned(Stream().u32(1).u32(3).u64(0)));
    const uint64_t handle = functionHandle("runtime.config_threadpool");
    ASSERT_NE(handle, 0u);
    // None: the type code as an int, then a null.
    EXPECT_EQ(ask(Stream().u32(3).u64(handle).u32(2).u32(0).u32(0).u64(0).u64(3)),
              returned(Stream().u32(2).u32(0).u32(4).u64(4)));
    const uint64_t count = functionHandle("runtime.NumThreads");
    EXPECT_EQ(ask(Stream().u32(3).u64(count).u32(0)),
              returned(Stream().u32(2).u32(0).u32(0).u64(0).u64(3)));
    EXPECT_EQ(ask(Stream().u32(3).u64(handle).u32(2).u32(0).u32(0).u64(0).u64(0)),
              returned(Stream().u32(2).u32(0).u32(4).u64(4)));
    // FreeHandle.
    EXPECT_EQ(ask(Stream().u32(10).u32(2).u32(3).u32(0).u64(handle).u64(10)),
              returned(Stream().u32(1).u32(4)));
    EXPECT_TRUE(isException(ask(Stream().u32(3).u64(handle).u32(0))));
    // DevGetAttr kExist of the CPU and of a GPU.
    EXPECT_EQ(ask(Stream().u32(12).u32(2).u32(6).u32(0).u32(1).u32(0).u64(0)),
              returned(Stream().u32(1).u32(0).u64(1)));
    EXPECT_EQ(ask(Stream().u32(12).u32(2).u32(6).u32(0).u32(2).u32(0).u64(0)),
              returned(Stream().u32(1).u32(0).u64(0)));
    // DevStreamSync, as stock sends it after every copy.
    EXPECT_EQ(ask(Stream().u32(15).u32(2).u32(6).u32(3).u32(1).u32(0).u64(0)),
              returned(Stream().u32(1).u32(4)));
    EXPECT_EQ(ask(Stream().u32(1).bytes()), std::nullopt);
}

TEST_F(RpcSession, movesTensors)
{
    greet();
    const uint64_t data = allocate({2, 3});
    const std::string content = "abcdefghijklmnopqrstuvwx";
    EXPECT_EQ(ask(Stream().u32(7).raw(tensor(data, {2, 3}).bytes()).u64(24).raw(content)),
              returned(Stream().u32(1).u32(4)));
    const std::string copy = ask(Stream().u32(6).raw(tensor(data, {2, 3}).bytes()).u64(24));
    EXPECT_EQ(copy, Stream().u64(4 + 24).u32(8).raw(content).bytes());
    // A part of it, by offset.
    EXPECT_EQ(ask(Stream().u32(6).raw(tensor(data, {1}, 8).bytes()).u64(4)),
              Stream().u64(4 + 4).u32(8).raw("ijkl").bytes());
    // CopyAmongRemote.
    const uint64_t other = allocate({2, 3});
    EXPECT_EQ(ask(Stream()
                      .u32(16)
                      .u32(3)
                      .u32(7)
                      .u32(7)
                      .u32(4)
                      .raw(tensor(data, {2, 3}).bytes())
                      .raw(tensor(other, {2, 3}).bytes())),
              returned(Stream().u32(1).u32(4)));
    EXPECT_EQ(ask(Stream().u32(6).raw(tensor(other, {2, 3}).bytes()).u64(24)), copy);
    // DevFreeData.
    EXPECT_EQ(ask(Stream().u32(14).u32(2).u32(6).u32(3).u32(1).u32(0).u64(other)),
              returned(Stream().u32(1).u32(4)));
    EXPECT_TRUE(isException(ask(Stream().u32(6).raw(tensor(other, {2, 3}).bytes()).u64(24))));
}

TEST_F(RpcSession, refusesTensorsThatReachBeyondTheirMemory)
{
    greet();
    const uint64_t data = allocate({2, 3});
    const auto read = [&](const Stream& t, uint64_t bytes) {
        return isException(ask(Stream().u32(6).raw(t.bytes()).u64(bytes)));
    };
    EXPECT_FALSE(read(tensor(data, {6}), 24));
    EXPECT_TRUE(read(tensor(data, {7}), 28));
    EXPECT_TRUE(read(tensor(data, {6}), 25));
    EXPECT_TRUE(read(tensor(data, {6}, 4), 24));
    EXPECT_TRUE(read(tensor(data, {1}, ~uint64_t{0}), 4));
    EXPECT_TRUE(read(tensor(data, {-1}), 4));
    EXPECT_TRUE(read(tensor(data, {INT64_MAX, INT64_MAX}), 4));
    EXPECT_TRUE(read(tensor(data + 1, {6}), 24));
    EXPECT_TRUE(read(tensor(0, {6}), 24));
    EXPECT_TRUE(read(tensor(functionHandle("runtime.NumThreads"), {1}), 4));
    EXPECT_TRUE(isException(
        ask(Stream().u32(17).u32(2).u32(7).u32(4).raw(tensor(0, {INT64_C(1) << 40}).bytes()))));
}

TEST_F(RpcSession, passesNoAddressesToFunctions)
{
    greet();
    const uint64_t handle = functionHandle("tvm.rpc.server.ModuleGetFunction");
    // A plain handle, an invented module, and a function where a module belongs.
    EXPECT_TRUE(isException(ask(Stream().u32(3).u64(handle).u32(1).u32(3).u64(0x1000))));
    EXPECT_TRUE(isException(ask(Stream().u32(3).u64(handle).u32(1).u32(9).u64(0x1000))));
    EXPECT_TRUE(isException(ask(Stream().u32(3).u64(handle).u32(1).u32(9).u64(handle))));
    EXPECT_TRUE(isException(ask(Stream().u32(10).u32(2).u32(3).u32(0).u64(handle).u64(9))));
}

TEST_F(RpcSession, survivesPacketsCutOffAnywhere)
{
    greet();
    const uint64_t handle = functionHandle("tvm.rpc.server.upload");
    const uint64_t data = allocate({4});
    const std::vector<std::string> packets{
        greeting("0.8.0").bytes(),
        getGlobal("runtime.NumThreads").bytes(),
        Stream().u32(3).u64(handle).u32(2).u32(11).u32(12).text("f").text("content").bytes(),
        Stream().u32(7).raw(tensor(data, {4}).bytes()).u64(16).raw("0123456789abcdef").bytes(),
        Stream().u32(6).raw(tensor(data, {4}).bytes()).u64(16).bytes(),
        Stream()
            .u32(13)
            .u32(4)
            .u32(6)
            .u32(0)
            .u32(0)
            .u32(5)
            .u32(1)
            .u32(0)
            .u64(8)
            .u64(8)
            .u64(0)
            .bytes(),
    };
    for (const std::string& packet : packets) {
        EXPECT_FALSE(isException(ask(packet).value_or("")));
        for (size_t size = 4; size < packet.size(); ++size)
            EXPECT_TRUE(isException(ask(packet.substr(0, size)).value_or(""))) << size;
        for (size_t size = 0; size < 4; ++size)
            EXPECT_EQ(ask(packet.substr(0, size)), std::nullopt) << size;
    }
}

TEST_F(RpcSession, survivesNoise)
{
    greet();
    std::minstd_rand random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string packet = Stream().u32(static_cast<uint32_t>(2 + random() % 21)).bytes();
        const size_t length = random() % 80;
        while (packet.size() < length) {
            const bool isSmall = random() % 2;
            packet += isSmall ? Stream().u32(static_cast<uint32_t>(random() % 14)).bytes()
                              : std::string(1, static_cast<char>(random()));
        }
        ask(packet);
    }
    EXPECT_FALSE(isException(ask(getGlobal("runtime.NumThreads"))));
}

} // namespace
} // namespace tenon::test
