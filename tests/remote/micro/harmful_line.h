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
    /// Those of them that were sent once more nevertheless: nobody understood them.
    int64_t framesLostToo = 0;

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

    core::Status write(std::span<const std::byte> bytes) override;
    core::Result<size_t> read(std::span<std::byte> most,
                              std::chrono::milliseconds patience) override;

private:
    bool happens(double chance);
    std::string harmed(std::string bytes);
    core::Result<std::string> message(std::chrono::milliseconds patience);
    core::Status startAnew(int64_t& count);
    void noteFrame(std::span<const std::byte> bytes);

    Start m_start;
    LineHarm m_harm;
    LineHarms m_harms;
    std::mt19937 m_random;
    std::unique_ptr<MicroLine> m_line;
    std::string m_delivered; ///< and not read yet
    std::string m_frame;     ///< of the client, the last one
    bool m_isHarmed = false; ///< something was since then
    bool m_isBehindHarm = false;
};

} // namespace tenon::remote
