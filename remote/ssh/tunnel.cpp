// SPDX-License-Identifier: Apache-2.0
// Carries bytes between a local socket and a channel.
#include "remote/ssh/tunnel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace tenon::remote {

namespace {

constexpr size_t kBufferBytes = 256 * 1024;

/// Bytes on their way in one direction.
struct Flow
{
    std::vector<char> buffer = std::vector<char>(kBufferBytes);
    size_t at = 0;
    size_t end = 0;
    bool isEmpty() const { return at == end; }
    void took(size_t count) { at += count; }
    void filled(size_t count)
    {
        at = 0;
        end = count;
    }
};

class Pump
{
public:
    Pump(SshTransport& transport, ssh_channel channel, int fd)
        : m_transport(transport)
        , m_channel(channel)
        , m_fd(fd)
    {
    }
    /// One round; false when the tunnel has ended.
    bool step()
    {
        m_moved = false;
        const bool isOpen = fromChannel() && toSocket() && fromSocket() && toChannel();
        return isOpen && m_transport.isAlive();
    }
    bool hasMoved() const { return m_moved; }
    void wait()
    {
        short events = 0;
        if (m_out.isEmpty()) events |= POLLIN;
        if (!m_in.isEmpty()) events |= POLLOUT;
        m_transport.waitForTraffic(std::chrono::milliseconds(50), m_fd, events);
    }

private:
    bool fromChannel()
    {
        if (!m_in.isEmpty()) return true;
        const std::scoped_lock lock(m_transport.mutex());
        const int got =
            ssh_channel_read_nonblocking(m_channel, m_in.buffer.data(), kBufferBytes, 0);
        if (got > 0) m_in.filled(static_cast<size_t>(got));
        m_moved = m_moved || got > 0;
        return got >= 0 && (got > 0 || ssh_channel_is_eof(m_channel) == 0);
    }
    bool toSocket()
    {
        if (m_in.isEmpty()) return true;
        const ssize_t sent = send(m_fd, m_in.buffer.data() + m_in.at, m_in.end - m_in.at,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) m_in.took(static_cast<size_t>(sent));
        m_moved = m_moved || sent > 0;
        return sent > 0 || errno == EAGAIN || errno == EINTR;
    }
    bool fromSocket()
    {
        if (!m_out.isEmpty()) return true;
        const ssize_t got = recv(m_fd, m_out.buffer.data(), kBufferBytes, MSG_DONTWAIT);
        if (got > 0) m_out.filled(static_cast<size_t>(got));
        m_moved = m_moved || got > 0;
        return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    }
    bool toChannel()
    {
        if (m_out.isEmpty()) return true;
        const std::scoped_lock lock(m_transport.mutex());
        const int sent = ssh_channel_write(m_channel, m_out.buffer.data() + m_out.at,
                                           static_cast<uint32_t>(m_out.end - m_out.at));
        if (sent > 0) m_out.took(static_cast<size_t>(sent));
        m_moved = m_moved || sent > 0;
        return sent >= 0;
    }

    SshTransport& m_transport;
    ssh_channel m_channel;
    int m_fd;
    Flow m_in;
    Flow m_out;
    bool m_moved = false;
};

} // namespace

void pumpTunnel(SshTransport& transport, ssh_channel channel, int fd)
{
    Pump pump(transport, channel, fd);
    while (pump.step())
        if (!pump.hasMoved()) pump.wait();
    close(fd);
    const std::scoped_lock lock(transport.mutex());
    ssh_channel_close(channel);
    ssh_channel_free(channel);
}

} // namespace tenon::remote
