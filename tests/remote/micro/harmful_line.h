// SPDX-License-Identifier: Apache-2.0
// A line that loses, repeats and damages what passes, and a board behind it that starts anew.
#pragma once

#include "remote/micro/micro_line.h"

#include <functional>
#include <random>
#include <string>

namespace tenon::remote {

/// Chances, each per message that passes in either direction.
struct LineHarm
{
    double drop = 0, corrupt = 0, repeat = 0;
    double reset = 0; ///< of the board, in the middle of what passes
};

struct LineHarms
{
    int64_t dropped = 0, corrupted = 0, repeated = 0;
    int64_t requestResets = 0; ///< in the middle of what the client sends
    int64_t answerResets = 0;  ///< in the middle of what the board says
    /// Frames of the client that came right behind one that was harmed, on its way or its answer's,
    /// and passed unharmed with all that came back.
    int64_t framesBehindHarm = 0;
    /// Those of them that were sent once more nevertheless, and nothing came even then: nobody
    /// understood them. An emulator may be slow; whose answer comes late was understood.
    int64_t framesLostToo = 0;
    int64_t ends = 0; ///< of boards that nobody has ended

    int64_t resets() const { return requestResets + answerResets; }
};

class HarmfulLine : public MicroLine
{
public:
    /// Starts a board and gives its line.
    using Start = std::function<core::Result<std::unique_ptr<MicroLine>>()>;

    HarmfulLine(Start start, const LineHarm& harm, uint32_t seed);
    /// Starts the board for the first time.
    core::Status begin();
    void setHarm(const LineHarm& harm) { m_harm = harm; }
    const LineHarms& harms() const { return m_harms; }
    /// What the boards said that ended by themselves.
    const std::string& lastWords() const { return m_lastWords; }

    core::Status write(std::span<const std::byte> bytes) override;
    core::Result<size_t> read(std::span<std::byte> most,
                              std::chrono::milliseconds patience) override;
    bool isTaken() const override { return m_line->isTaken(); }

private:
    bool happens(double chance);
    std::string harmed(std::string bytes);
    core::Result<std::string> message(std::chrono::milliseconds patience);
    core::Status startAnew(int64_t& count);
    core::Status noteEnd(const core::Diagnostic& why);
    void noteFrame(std::span<const std::byte> bytes);
    bool isAnsweredLate();

    Start m_start;
    LineHarm m_harm;
    LineHarms m_harms;
    std::mt19937 m_random;
    std::unique_ptr<MicroLine> m_line;
    std::string m_delivered; ///< and not read yet
    std::string m_frame;     ///< of the client, the last one
    std::string m_lastWords;
    bool m_isHarmed = false; ///< something was since then
    bool m_isBehindHarm = false;
};

} // namespace tenon::remote
