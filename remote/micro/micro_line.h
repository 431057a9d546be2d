// SPDX-License-Identifier: Apache-2.0
// A line of bytes to a board without an operating system: a serial port, or an emulator's.
#pragma once

#include "core/base/result.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tenon::remote {

class MicroLine
{
public:
    MicroLine() = default;
    MicroLine(const MicroLine&) = delete;
    MicroLine& operator=(const MicroLine&) = delete;
    virtual ~MicroLine() = default;

    /// Error LinkLost when the line has ended, TimedOut when the other side takes nothing.
    virtual core::Status write(std::span<const std::byte> bytes) = 0;
    /// What has come, `most.size()` bytes at most; 0 when nothing came in time. Error LinkLost.
    virtual core::Result<size_t> read(std::span<std::byte> most,
                                      std::chrono::milliseconds patience) = 0;
    /// False while the system still holds something that was written; true where it does not tell.
    virtual bool isTaken() const { return true; }
};

/// A serial port, raw, eight bits without parity. Errors: BoardFailure with what to do (no such
/// port, no permission, another program has it, a speed that it does not know).
core::Result<std::unique_ptr<MicroLine>> openSerialLine(const std::string& port, int baud);

/// A program's standard input and output, which ends with the line. Errors: BoardFailure.
core::Result<std::unique_ptr<MicroLine>> startProgramLine(const std::string& script);

} // namespace tenon::remote
