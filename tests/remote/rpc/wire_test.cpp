// SPDX-License-Identifier: Apache-2.0
// Bytes of the session protocol as a stock TVM 0.16 server sends and wants them.
#include "remote/rpc/rpc_session.h"
#include "runtime/rpc/protocol.h"
#include "tests/runtime/artifacts.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace tenon::remote {
namespace {

using test::Stream;

std::string packet(uint32_t code, const std::string& body)
{
    return Stream().u64(4 + body.size()).u32(code).raw(body).bytes();
}

/// The other end of a session: expects one packet after the other and answers each.
class Script
{
public:
    struct Turn
    {
        std::string wanted;
        std::string answer;
    };
    Script(int fd, std::vector<Turn> turns)
        : m_thread([fd, turns = std::move(turns)] {
            for (const Turn& turn : turns) {
                std::string got(turn.wanted.size(), 0);
                EXPECT_EQ(recv(fd, got.data(), got.size(), MSG_WAITALL),
                          static_cast<ssize_t>(got.size()));
                EXPECT_EQ(got, turn.wanted);
                EXPECT_EQ(send(fd, turn.answer.data(), turn.answer.size(), MSG_NOSIGNAL),
                          static_cast<ssize_t>(turn.answer.size()));
            }
            close(fd);
        })
    {
    }

private:
    std::jthread m_thread;
};

/// Return of one value that is nothing.
const std::string kNone = packet(kTenonRpcReturn, Stream().u32(1).u32(kTVMNullptr).bytes());

TEST(Wire, readsTheMemoryOfAnArrayAndReleasesTheArray)
{
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    // An array of TVM's is an object with a handle of its own, and memory elsewhere.
    const uint64_t memory = 0x7f0000002000;
    const uint64_t array = 0x7f0000001000;
    const std::string tensor = Stream()
                                   .u64(memory)
                                   .u32(kDLCPU)
                                   .u32(0)
                                   .u32(1) // dimensions
                                   .u8(kDLFloat)
                                   .u8(32)
                                   .u16(1)
                                   .u64(2)
                                   .u64(64) // byte offset
                                   .bytes();
    const std::string returned = Stream()
                                     .u32(3)
                                     .u32(kTVMArgInt)
                                     .u32(kTVMDLTensorHandle)
                                     .u32(kTVMOpaqueHandle)
                                     .u64(kTVMNDArrayHandle)
                                     .raw(tensor)
                                     .u64(array)
                                     .bytes();
    const Script server(
        ends[1], {{packet(kTenonRpcInitServer, Stream().text("0.8.0").u32(0).bytes()), kNone},
                  {packet(kTenonRpcCallFunc, Stream().u64(77).u32(0).bytes()),
                   packet(kTenonRpcReturn, returned)},
                  {packet(kTenonRpcCopyFromRemote, Stream().raw(tensor).u64(8).bytes()),
                   packet(kTenonRpcCopyAck, std::string("\0\0\x80\x3f\0\0\0\x40", 8))},
                  {packet(kTenonRpcFreeHandle, Stream()
                                                   .u32(2)
                                                   .u32(kTVMOpaqueHandle)
                                                   .u32(kTVMArgInt)
                                                   .u64(array)
                                                   .u64(kTVMNDArrayHandle)
                                                   .bytes()),
                   kNone}});
    const auto session = RpcSession::open(ends[0]);
    ASSERT_TRUE(session) << session.error().text();
    const auto reply = (*session)->call({77, kTVMPackedFuncHandle}, {});
    ASSERT_TRUE(reply) << reply.error().text();
    const auto values = (*session)->copyFrom(reply->tensor);
    ASSERT_TRUE(values) << values.error().text();
    EXPECT_EQ(values->numbers(), (std::vector<double>{1, 2}));
    EXPECT_TRUE((*session)->release(reply->tensor));
}

} // namespace
} // namespace tenon::remote
