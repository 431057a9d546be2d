// SPDX-License-Identifier: Apache-2.0
// Harm between a client and a board's line.
#include "tests/remote/micro/harmful_line.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tenon::remote {

using core::Result;
using core::Status;

HarmfulLine::HarmfulLine(Start start, const LineHarm& harm, uint32_t seed)
    : m_start(std::move(start))
    , m_harm(harm)
    , m_random(seed)
{
}

Status HarmfulLine::begin()
{
    m_line.reset(); // the board of before ends with it
    auto line = m_start();
    if (!line) return line.error();
    m_line = std::move(*line);
    return core::kDone;
}

bool HarmfulLine::happens(double chance)
{
    return chance > 0 && std::uniform_real_distribution<double>(0, 1)(m_random) < chance;
}

std::string HarmfulLine::harmed(std::string bytes)
{
    const auto anywhere = [&] {
        return std::uniform_int_distribution<size_t>(0, bytes.size() - 1)(m_random);
    };
    if (bytes.empty()) return bytes;
    const std::string whole = bytes;
    if (happens(m_harm.corrupt)) {
        ++m_harms.corrupted;
        bytes[anywhere()] ^=
            static_cast<char>(1 << std::uniform_int_distribution<int>(0, 7)(m_random));
    }
    if (happens(m_harm.repeat)) {
        ++m_harms.repeated;
        bytes += bytes;
    }
    if (happens(m_harm.drop)) {
        ++m_harms.dropped;
        const size_t at = anywhere();
        bytes.erase(at, 1 + anywhere());
    }
    m_isHarmed = m_isHarmed || bytes != whole;
    return bytes;
}

Status HarmfulLine::startAnew(int64_t& count)
{
    ++count;
    m_isHarmed = true;
    return begin();
}

/// A board that ended by itself is noted, and one like it takes its place.
Status HarmfulLine::noteEnd(const core::Diagnostic& why)
{
    m_lastWords += why.message + "\n";
    return startAnew(m_harms.ends);
}

/// What comes is delivered as it is.
bool HarmfulLine::isAnsweredLate()
{
    constexpr std::chrono::milliseconds kLatest{5000};
    if (!m_delivered.empty()) return true;
    if (Result<std::string> heard = message(kLatest)) m_delivered = std::move(*heard);
    return !m_delivered.empty();
}

/// The same frame twice is one whose answer did not come.
void HarmfulLine::noteFrame(std::span<const std::byte> bytes)
{
    const std::string frame(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const bool isAgain = frame == m_frame;
    if (m_isBehindHarm && !m_isHarmed) {
        ++m_harms.framesBehindHarm;
        if (isAgain && !isAnsweredLate()) ++m_harms.framesLostToo;
    }
    m_isBehindHarm = m_isHarmed;
    m_isHarmed = false;
    m_frame = frame;
}

Status HarmfulLine::write(std::span<const std::byte> bytes)
{
    noteFrame(bytes);
    if (happens(m_harm.reset)) {
        static_cast<void>(m_line->write(bytes.first(bytes.size() / 2)));
        if (Status begun = startAnew(m_harms.requestResets); !begun) return begun;
        return m_line->write(bytes.subspan(bytes.size() / 2));
    }
    const std::string text = harmed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return m_line->write(std::as_bytes(std::span(text)));
}

/// What comes without a break, as slow as an emulated UART may be: chances are those of a message,
/// not of each of the pieces that it comes in.
Result<std::string> HarmfulLine::message(std::chrono::milliseconds patience)
{
    constexpr std::chrono::milliseconds kBreak{5};
    std::string out;
    std::array<std::byte, 4096> bytes{};
    while (out.size() < bytes.size()) {
        const Result<size_t> got = m_line->read(bytes, out.empty() ? patience : kBreak);
        if (!got && out.empty()) return got.error();
        if (!got || *got == 0) break;
        out.append(reinterpret_cast<const char*>(bytes.data()), *got);
    }
    return out;
}

Result<size_t> HarmfulLine::read(std::span<std::byte> most, std::chrono::milliseconds patience)
{
    if (m_delivered.empty()) {
        Result<std::string> heard = message(patience);
        if (!heard) {
            if (Status begun = noteEnd(heard.error()); !begun) return begun.error();
            return size_t{0};
        }
        std::string said = std::move(*heard);
        if (!said.empty() && happens(m_harm.reset)) {
            said.resize(said.size() / 2);
            if (Status begun = startAnew(m_harms.answerResets); !begun) return begun.error();
            m_delivered = std::move(said);
        } else {
            m_delivered = harmed(std::move(said));
        }
    }
    const size_t size = std::min(most.size(), m_delivered.size());
    if (size > 0) std::memcpy(most.data(), m_delivered.data(), size);
    m_delivered.erase(0, size);
    return size;
}

} // namespace tenon::remote
