// SPDX-License-Identifier: Apache-2.0
// The tracker's protocol: a magic number both ways, then JSON texts behind their length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::remote {

inline constexpr int32_t kTrackerMagic = 0x2F271;
/// No answer of a tracker is longer, and nothing that a tracker is told; a peer that announces more
/// is hung up on.
inline constexpr int32_t kMaxTrackerMessage = 1 << 20;
inline constexpr int32_t kMaxTrackerRequest = 1 << 14;
/// The same of the texts in it: what kind of board, who waits, and what a server's clients must
/// say.
inline constexpr size_t kMostKeyBytes = 256;
inline constexpr size_t kMostMatchKeyBytes = 512;

enum class TrackerCode : int
{
    Ping = 1,
    Stop = 2,
    Put = 3,
    Request = 4,
    UpdateInfo = 5,
    Summary = 6,
    PendingKeys = 7,
    AskLease = 100 ///< Tenon's own, of servers: [100, match key]; 1: the client is gone
};

/// Behind the arguments of Put and Request: the sender is Tenon's and knows of leases. Other
/// trackers do not look there.
inline constexpr const char* kKnowsLeases = "leases";

/// Four bytes, little-endian.
std::string trackerNumber(int32_t value);
int32_t readTrackerNumber(std::string_view bytes);
/// `json` behind its length.
std::string trackerMessage(std::string_view json);

/// Nothing the protocol says is nested deeper than a few levels; what is would exhaust the stack of
/// whoever prints it.
bool isShallow(std::string_view json);

/// "server:pi4", 4711: what may stand there.
bool isGoodKey(const std::string& key);
bool isGoodPort(int64_t port);

/// Cuts messages out of a stream of bytes.
class TrackerStream
{
public:
    explicit TrackerStream(int32_t longest = kMaxTrackerMessage)
        : m_longest(longest)
    {
    }
    void append(std::string_view bytes) { m_bytes.append(bytes); }
    /// The next whole message, if there is one.
    std::optional<std::string> next();
    /// next() has something to give.
    bool hasNext() const;
    /// The next four bytes as a number, if they are there: the magic.
    std::optional<int32_t> number();
    /// The peer announced a message of impossible length; nothing more is read.
    bool isBroken() const { return m_isBroken; }

private:
    int32_t m_longest;
    std::string m_bytes;
    bool m_isBroken = false;
};

} // namespace tenon::remote
