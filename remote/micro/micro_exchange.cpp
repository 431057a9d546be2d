// SPDX-License-Identifier: Apache-2.0
// Start, numbered requests, patience.
#include "remote/micro/micro_exchange.h"

#include "core/base/board_code.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "runtime/micro/rpc/micro_server.h"

#include <algorithm>
#include <array>
#include <random>

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kMostMessage = size_t{1} << 20;
constexpr milliseconds kStep{20}; ///< cancel is felt at once
constexpr size_t kFirstBytes = 80;

std::string bytes16(uint16_t value)
{
    return {static_cast<char>(value & 0xFF), static_cast<char>(value >> 8)};
}

std::string bytes32(uint32_t value)
{
    return bytes16(static_cast<uint16_t>(value)) + bytes16(static_cast<uint16_t>(value >> 16));
}

std::string headOf(uint16_t session, uint8_t type)
{
    return bytes16(session) + static_cast<char>(type);
}

/// When to repeat, and when to give up.
class Repeater
{
public:
    Repeater(const Patience& patience, const MicroPace& pace)
        : m_job(patience.job)
        , m_end(Clock::now() + patience.timeout)
        , m_wait(pace.firstRepeat)
        , m_last(pace.lastRepeat)
        , m_next(Clock::now() + m_wait)
    {
    }
    bool isCancelled() const { return m_job && m_job->stopRequested(); }
    bool isOver() const { return Clock::now() >= m_end; }
    /// True when it is time again.
    bool isDue()
    {
        if (Clock::now() < m_next) return false;
        m_wait = std::min(m_wait * 2, m_last);
        m_next = Clock::now() + m_wait;
        return true;
    }

private:
    const core::JobContext* m_job;
    Clock::time_point m_end;
    milliseconds m_wait, m_last;
    Clock::time_point m_next;
};

} // namespace

MicroExchange::MicroExchange(std::unique_ptr<MicroLine> line, const MicroPace& pace)
    : m_line(std::move(line))
    , m_pace(pace)
    , m_frame(kMostMessage)
    , m_nonce(static_cast<uint8_t>(std::random_device()()))
{
    micro_unframer_begin(&m_unframer, m_frame.data(), static_cast<uint32_t>(m_frame.size()));
}

Status MicroExchange::send(uint16_t session, uint8_t type, const std::string& body, Before before)
{
    std::string wire;
    const auto sink = [](void* context, const uint8_t* bytes, size_t size) {
        static_cast<std::string*>(context)->append(reinterpret_cast<const char*>(bytes), size);
    };
    micro_framer framer{sink, &wire, 0};
    if (before == Before::Anything) micro_frame_idle(&framer);
    const std::string head = headOf(session, type);
    micro_frame_begin(&framer, static_cast<uint32_t>(head.size() + body.size()));
    micro_frame_put(&framer, head.data(), head.size());
    micro_frame_put(&framer, body.data(), body.size());
    micro_frame_end(&framer);
    m_counters.bytesOut += static_cast<int64_t>(wire.size());
    return m_line->write(std::as_bytes(std::span(wire)));
}

Status MicroExchange::sendRequest(const std::string& packet, Before before)
{
    const std::string head = headOf(m_session, kMicroNumbered) + bytes16(m_number);
    const uint32_t crc =
        micro_crc32(micro_crc32(0, head.data(), head.size()), packet.data(), packet.size());
    return send(m_session, kMicroNumbered, bytes16(m_number) + packet + bytes32(crc), before);
}

std::optional<MicroExchange::Message> MicroExchange::nextMessage()
{
    for (size_t i = 0; i < m_unread.size(); ++i) {
        const micro_frame_event event =
            micro_unframer_take(&m_unframer, static_cast<uint8_t>(m_unread[i]));
        if (event == kMicroFrameBad) ++m_counters.badFrames;
        if (event != kMicroFrameWhole || m_unframer.size < kMicroMessageHead) continue;
        m_unread.erase(0, i + 1);
        const auto* at = reinterpret_cast<const char*>(m_frame.data());
        return Message{static_cast<uint16_t>(m_frame[0] | m_frame[1] << 8), m_frame[2],
                       std::string(at + kMicroMessageHead, at + m_unframer.size)};
    }
    m_unread.clear();
    return std::nullopt;
}

Result<std::optional<MicroExchange::Message>> MicroExchange::receive(milliseconds patience)
{
    for (;;) {
        while (std::optional<Message> message = nextMessage()) {
            if (message->type != kMicroLog) return message;
            hear(message->body);
            if (m_fault) return faulted();
        }
        std::array<std::byte, 4096> bytes{};
        const Result<size_t> got = m_line->read(bytes, patience);
        if (!got) {
            m_session = 0;
            return got.error();
        }
        if (*got == 0) return std::optional<Message>();
        m_counters.bytesIn += static_cast<int64_t>(*got);
        const auto* text = reinterpret_cast<const char*>(bytes.data());
        if (m_firstBytes.size() < kFirstBytes)
            m_firstBytes.append(text, std::min(*got, kFirstBytes - m_firstBytes.size()));
        m_unread.append(reinterpret_cast<const char*>(bytes.data()), *got);
    }
}

void MicroExchange::hear(const std::string& line)
{
    m_fault = parseFault(line);
    if (m_log) m_log(line);
}

core::Diagnostic MicroExchange::faulted()
{
    m_session = 0;
    return makeError(DiagnosticCode::BoardFailure, faultText(*m_fault, {}));
}

/// What the other end may be, from what came.
core::Diagnostic MicroExchange::silence() const
{
    const std::string_view first = m_firstBytes;
    const bool isText = first.size() > 3 && std::all_of(first.begin(), first.end(), [](char c) {
                            return (c >= ' ' && c <= '~') || c == '\r' || c == '\n' || c == '\t';
                        });
    if (!m_line->isTaken())
        return makeError(
            DiagnosticCode::BoardFailure,
            "nobody answers on the line, nor takes what is sent; is the board stopped, "
            "or held by a debugger?");
    std::string what = "nothing came: has the board power, is it this port, and does the server's "
                       "image run on it?";
    if (isText)
        what = "it says " + core::quoted(core::printable(core::trimmed(first))) +
               ": another program's image runs on it";
    else if (m_counters.bytesIn > 0)
        what = std::to_string(m_counters.bytesIn) + " bytes came, no whole frame among them, " +
               std::to_string(m_counters.badFrames) +
               " damaged: is the speed (baud) that of the board?";
    return makeError(DiagnosticCode::BoardFailure, "nobody answers on the line; " + what);
}

Status MicroExchange::start(const Patience& patience)
{
    m_fault.reset();
    const std::string version(1, kMicroVersion);
    // Each attempt has a nonce of its own: the board begins a session for every one that arrives,
    // and the last is the one that counts.
    const auto ask = [&] {
        m_nonce = micro_next_nonce(m_nonce);
        return send(m_nonce, kMicroStart, version, Before::Anything);
    };
    Repeater repeater(patience, m_pace);
    m_session = 0;
    if (Status sent = ask(); !sent) return sent;
    while (!repeater.isOver()) {
        if (repeater.isCancelled()) return makeError(DiagnosticCode::Cancelled, "cancelled");
        const auto message = receive(kStep);
        if (!message) return message.error();
        if (*message && (*message)->type == kMicroStarted && (*message)->body == version &&
            ((*message)->session & 0xFF) == m_nonce && (*message)->session >> 8 != 0) {
            m_session = (*message)->session;
            m_number = 0;
            return core::kDone;
        }
        if (!*message && repeater.isDue() && m_line->isTaken())
            if (Status sent = ask(); !sent) return sent;
    }
    return silence();
}

std::optional<std::string> MicroExchange::answerIn(const Message& message) const
{
    const std::string& body = message.body;
    if (message.session != m_session || message.type != kMicroNumbered || body.size() < 6 ||
        body.compare(0, 2, bytes16(m_number)) != 0)
        return std::nullopt;
    const std::string head = headOf(message.session, message.type);
    const uint32_t crc =
        micro_crc32(micro_crc32(0, head.data(), head.size()), body.data(), body.size() - 4);
    if (body.compare(body.size() - 4, 4, bytes32(crc)) != 0) return std::nullopt;
    return body.substr(2, body.size() - 6);
}

Result<std::string> MicroExchange::exchange(const std::string& packet, const Patience& patience)
{
    if (m_session == 0) return makeError(BoardCode::LinkLost, "there is no session with the board");
    Repeater repeater(patience, m_pace);
    ++m_number;
    ++m_counters.requests;
    if (Status sent = sendRequest(packet, Before::WholeFrame); !sent) return sent.error();
    while (!repeater.isOver()) {
        if (repeater.isCancelled()) {
            hangUp();
            return makeError(DiagnosticCode::Cancelled, "cancelled");
        }
        const auto message = receive(kStep);
        if (!message) return message.error();
        if (!*message) {
            // What waits in a slow line is not lost: twice of it would only wait longer.
            if (!repeater.isDue() || !m_line->isTaken()) continue;
            ++m_counters.resent;
            if (Status sent = sendRequest(packet, Before::Anything); !sent) return sent.error();
            continue;
        }
        if (std::optional<std::string> answer = answerIn(**message)) return std::move(*answer);
        const bool isOurs = (*message)->session == 0 || (*message)->session == m_session;
        if ((*message)->type != kMicroTerminate || !isOurs) continue;
        m_session = 0;
        return makeError(BoardCode::LinkLost,
                         "the board has started anew; what it was given before is gone");
    }
    const std::string did = m_line->isTaken() ? "did not answer" : "did not take the whole request";
    hangUp();
    return makeError(DiagnosticCode::TimedOut,
                     "the board " + did + " within " +
                         core::fixed(static_cast<double>(patience.timeout.count()) / 1000, 1) +
                         " s; does its program hang?");
}

void MicroExchange::hangUp()
{
    // A board that does not hear it starts anew with the next session.
    if (m_session != 0) static_cast<void>(send(m_session, kMicroTerminate, "", Before::Anything));
    m_session = 0;
}

} // namespace tenon::remote
