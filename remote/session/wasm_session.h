// SPDX-License-Identifier: Apache-2.0
// Compiled WebAssembly modules run by Node.js on this computer.
#pragma once

#include "remote/session/file_session.h"

namespace tenon::remote {

class WasmSession : public FileSession
{
public:
    /// `request.emulator` is Node's program; errors: of the module's manifest.
    static core::Result<std::unique_ptr<LocalSession>> open(const RunRequest& request);

private:
    using FileSession::FileSession;
    core::Result<Timing> runOn(const core::TemporaryFolder& folder, const TimingRequest& timing,
                               const core::JobContext& job) override;
    std::string hygieneWarning() const override;
};

/// The host's JavaScript.
const char* wasmHostText();

} // namespace tenon::remote
