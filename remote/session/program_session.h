// SPDX-License-Identifier: Apache-2.0
// Programs that hold a compiled model and need no runtime, run by an emulator on this computer.
#pragma once

#include "remote/session/file_session.h"

namespace tenon::remote {

class ProgramSession : public FileSession
{
public:
    /// `request.emulator` runs the program; errors: of the program's manifest.
    static core::Result<std::unique_ptr<LocalSession>> open(const RunRequest& request);

private:
    using FileSession::FileSession;
    core::Result<Timing> execute(const core::TemporaryFolder& folder, const TimingRequest& timing,
                                 const core::JobContext& job) override;
    std::string hygieneWarning() const override;
};

} // namespace tenon::remote
