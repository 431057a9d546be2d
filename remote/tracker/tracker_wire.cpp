// SPDX-License-Identifier: Apache-2.0
// Framing of the tracker's protocol.
#include "remote/tracker/tracker_wire.h"

namespace tenon::remote {

std::string trackerNumber(int32_t value)
{
    std::string out(4, 0);
    for (size_t i = 0; i < 4; ++i)
        out[i] = static_cast<char>(static_cast<uint32_t>(value) >> (8 * i));
    return out;
}

int32_t readTrackerNumber(std::string_view bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i)
        value |= uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return static_cast<int32_t>(value);
}

std::string trackerMessage(std::string_view json)
{
    return trackerNumber(static_cast<int32_t>(json.size())) + std::string(json);
}

bool isShallow(std::string_view json)
{
    constexpr int kDeepest = 16;
    int depth = 0;
    bool isInText = false;
    for (size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"') isInText = !isInText;
        if (isInText && c == '\\') ++i;
        if (isInText) continue;
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (depth > kDeepest) return false;
    }
    return true;
}

bool isGoodKey(const std::string& key) { return !key.empty() && key.size() <= kMostKeyBytes; }

bool isGoodPort(int64_t port) { return port >= 1 && port <= 65535; }

bool TrackerStream::hasNext() const
{
    if (m_isBroken || m_bytes.size() < 4) return false;
    const int32_t size = readTrackerNumber(m_bytes);
    return size < 0 || size > m_longest || m_bytes.size() >= 4 + static_cast<size_t>(size);
}

std::optional<int32_t> TrackerStream::number()
{
    if (m_isBroken || m_bytes.size() < 4) return std::nullopt;
    const int32_t value = readTrackerNumber(m_bytes);
    m_bytes.erase(0, 4);
    return value;
}

std::optional<std::string> TrackerStream::next()
{
    if (m_isBroken || m_bytes.size() < 4) return std::nullopt;
    const int32_t size = readTrackerNumber(m_bytes);
    m_isBroken = size < 0 || size > m_longest;
    if (m_isBroken || m_bytes.size() < 4 + static_cast<size_t>(size)) return std::nullopt;
    std::string message = m_bytes.substr(4, static_cast<size_t>(size));
    m_bytes.erase(0, 4 + static_cast<size_t>(size));
    return message;
}

} // namespace tenon::remote
