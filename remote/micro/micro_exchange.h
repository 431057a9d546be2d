// SPDX-License-Identifier: Apache-2.0
// The client's side of microTVM's session on a line: who is there, and each request answered once.
#pragma once

#include "remote/micro/fault_text.h"
#include "remote/micro/micro_line.h"
#include "remote/rpc/link.h"
#include "runtime/micro/rpc/micro_frame.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::remote {

/// Since the line was opened.
struct MicroLineCounters
{
    int64_t requests = 0;
    int64_t resent = 0;    ///< requests that were sent again, as no answer came in time
    int64_t badFrames = 0; ///< that came damaged or cut short
    int64_t bytesOut = 0;
    int64_t bytesIn = 0;
};

/// How long a request waits before it is sent again; then ever longer.
struct MicroPace
{
    std::chrono::milliseconds firstRepeat{150};
    std::chrono::milliseconds lastRepeat{2000};
};

/// Requests carry a number and a CRC-32 beside the frame's CRC-16 and are repeated until their
/// answer arrives; the server executes each once (runtime/micro/rpc/micro_server.h).
class MicroExchange
{
public:
    explicit MicroExchange(std::unique_ptr<MicroLine> line, const MicroPace& pace = {});

    /// Begins a session; whatever the server held for an earlier one is gone. Errors: BoardFailure
    /// with a checklist when nobody answers, and with the fault of a board that stops; LinkLost,
    /// Cancelled.
    core::Status start(const Patience& patience);
    /// Sends a packet and waits for its answer. Errors: LinkLost, also when the board has started
    /// anew meanwhile (isSessionLost()); BoardFailure when it stopped with a fault; TimedOut;
    /// Cancelled.
    core::Result<std::string> exchange(const std::string& packet, const Patience& patience);
    /// Ends the session without waiting for anybody.
    void hangUp();

    bool isSessionLost() const { return m_session == 0; }
    const MicroLineCounters& counters() const { return m_counters; }
    /// The board's last words, if it stopped with a fault.
    const std::optional<CoreFault>& fault() const { return m_fault; }
    /// Lines of text that the board says.
    void onLog(std::function<void(const std::string&)> log) { m_log = std::move(log); }

private:
    struct Message
    {
        uint16_t session = 0;
        uint8_t type = 0;
        std::string body;
    };
    /// Behind an idle byte the frame is understood whatever came before: a frame that was cut
    /// short at an escape would take its first byte.
    enum class Before
    {
        WholeFrame,
        Anything
    };
    core::Status send(uint16_t session, uint8_t type, const std::string& body, Before before);
    core::Status sendRequest(const std::string& packet, Before before);
    /// The next whole message that is no log; nothing when none came in time.
    core::Result<std::optional<Message>> receive(std::chrono::milliseconds patience);
    std::optional<Message> nextMessage();
    std::optional<std::string> answerIn(const Message& message) const;
    void hear(const std::string& line);
    core::Diagnostic faulted();
    core::Diagnostic silence() const;

    std::unique_ptr<MicroLine> m_line;
    MicroPace m_pace;
    std::vector<uint8_t> m_frame;
    micro_unframer m_unframer{};
    std::string m_unread;
    uint16_t m_session = 0;
    uint16_t m_number = 0;
    uint8_t m_nonce = 0;
    MicroLineCounters m_counters;
    std::string m_firstBytes; ///< that came: they tell what else is at the other end
    std::optional<CoreFault> m_fault;
    std::function<void(const std::string&)> m_log;
};

} // namespace tenon::remote
