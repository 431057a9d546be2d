// SPDX-License-Identifier: Apache-2.0
// Programs that hold a compiled model and need no runtime, run by an emulator on this computer.
#pragma once

#include "remote/session/file_session.h"

#include <span>

namespace tenon::remote {

class ProgramSession : public FileSession
{
public:
    /// `request.emulator` runs the program; errors: of the program's manifest.
    static core::Result<std::unique_ptr<LocalSession>> open(const RunRequest& request);

private:
    using FileSession::FileSession;
    core::Result<Timing> runOn(const core::TemporaryFolder& folder, const TimingRequest& timing,
                               const core::JobContext& job) override;
    std::string hygieneWarning() const override;
    bool countsInstructions() const override { return m_request.instructionNs > 0; }
    std::vector<std::string> command(const core::TemporaryFolder& folder) const;
    double milliseconds(int64_t nanoseconds) const;
    void addCalls(std::span<const int64_t> instants, Timing& timing) const;
};

} // namespace tenon::remote
