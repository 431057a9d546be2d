// SPDX-License-Identifier: Apache-2.0
// The byte link: what happens when the other side goes, is silent, or the user cancels.
#include "remote/rpc/link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace tenon::remote {
namespace {

using namespace std::chrono_literals;

/// Two ends of a connection; the link owns the first.
struct Ends
{
    Ends() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0); }
    std::array<int, 2> fds = {-1, -1};
};

TEST(Link, carriesBytesBothWays)
{
    const Ends ends;
    Link link(ends.fds[0]);
    Link other(ends.fds[1]);
    link.begin({});
    other.begin({});
    const std::array<std::byte, 3> sent = {std::byte{1}, std::byte{2}, std::byte{3}};
    ASSERT_TRUE(link.send(sent));
    std::array<std::byte, 3> received = {};
    ASSERT_TRUE(other.receive(received));
    EXPECT_EQ(received, sent);
}

TEST(Link, staysBrokenOnceTheOtherSideIsGone)
{
    const Ends ends;
    Link link(ends.fds[0]);
    ::close(ends.fds[1]);
    link.begin({});
    std::array<std::byte, 1> buffer = {};
    const core::Status gone = link.receive(buffer);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, core::DiagnosticCode::RpcFailure);
    EXPECT_TRUE(link.isBroken());
    link.begin({});
    EXPECT_FALSE(link.send(buffer));
}

TEST(Link, givesUpOnASilentServer)
{
    const Ends ends;
    Link link(ends.fds[0]);
    const Link silent(ends.fds[1]);
    link.begin({.timeout = 20ms});
    std::array<std::byte, 1> buffer = {};
    const core::Status late = link.receive(buffer);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, core::DiagnosticCode::TimedOut);
}

TEST(Link, stopsWaitingWhenTheJobIsCancelled)
{
    const Ends ends;
    Link link(ends.fds[0]);
    const Link silent(ends.fds[1]);
    core::JobContext job;
    job.requestStop();
    link.begin({.timeout = 60s, .job = &job});
    std::array<std::byte, 1> buffer = {};
    const core::Status stopped = link.receive(buffer);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code, core::DiagnosticCode::Cancelled);
}

} // namespace
} // namespace tenon::remote
