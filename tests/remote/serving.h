// SPDX-License-Identifier: Apache-2.0
// What tests of the listening server share: the server, and clients of any manners.
#pragma once

#include "remote/rpc/rpc_session.h"
#include "tests/support/rpc_server.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tenon::remote {

/// The answer to a client that knows the key.
extern const std::string kWelcome;

/// A listening server on a free port with the key `pi`, with TMPDIR in a folder of the test.
class Serving : public testing::Test
{
protected:
    explicit Serving(const std::vector<std::string>& arguments = {"--key", "pi"})
        : m_server(arguments)
    {
    }

    int connected() const;
    /// What a client says first.
    static std::string hello(const std::string& key);
    /// Sends the handshake; what the server answers, as far as `size` bytes.
    static std::string shakeHands(int fd, const std::string& key, size_t size);
    /// An open session.
    std::unique_ptr<RpcSession> session() const;
    /// A connection whose greeting is answered; a machine that is busy may be too slow for a server
    /// with little patience, and tries again.
    int known() const;
    /// Somebody who knows the key gets in, sooner or later.
    bool isServed() const;
    /// Compiles, uploads and loads C source; its function `name`.
    static RemoteHandle loaded(RpcSession& rpc, const std::string& source, const std::string& name);
    size_t filesLeft() const { return m_server.filesLeft(); }

    test::RpcServer m_server;
};

/// Waits until it is so, for a minute at most.
template <typename Condition>
bool becomes(const Condition& condition)
{
    for (int i = 0; i < 6000 && !condition(); ++i) usleep(10'000);
    return condition();
}

} // namespace tenon::remote
