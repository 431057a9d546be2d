// SPDX-License-Identifier: Apache-2.0
// Compiled models that run in a process of their own and hand their values over in files.
#pragma once

#include "core/artifact/manifest.h"
#include "core/base/temporary_folder.h"
#include "remote/session/local_board.h"

namespace tenon::remote {

/// One process per run: it starts in milliseconds and leaves nothing behind.
class FileSession : public LocalSession
{
public:
    core::Status setInputs(const NamedTensors& inputs, const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> run(const core::JobContext& job) override;
    core::Result<Timing> measure(const TimingRequest& request,
                                 const core::JobContext& job) override;
    const std::vector<TensorSpec>& inputs() const override { return m_inputs; }
    const std::vector<TensorSpec>& outputs() const override { return m_outputs; }
    bool isBroken() const override { return false; }
    core::Status execute(const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> fetchOutputs(const core::JobContext& job) override;
    void setTimeout(std::chrono::milliseconds timeout) override { m_request.timeout = timeout; }

protected:
    explicit FileSession(const RunRequest& request)
        : m_request(request)
    {
    }
    /// Errors: of the artifact's manifest.
    core::Status readManifest();

    /// Runs once and then as the timing says. The folder holds the file `input` with the bytes of
    /// all inputs; the run leaves those of all outputs in the file `output`.
    virtual core::Result<Timing> runOn(const core::TemporaryFolder& folder,
                                       const TimingRequest& timing,
                                       const core::JobContext& job) = 0;
    virtual std::string hygieneWarning() const = 0;
    /// Then its times are instructions, see Summary.
    virtual bool countsInstructions() const { return false; }
    /// Starts `command`; its own failure is a BoardFailure of the artifact.
    core::Status runToEnd(const std::vector<std::string>& command,
                          const core::JobContext& job) const;
    static int64_t bytesOf(const TensorSpec& spec);

    RunRequest m_request;
    core::Manifest m_manifest;
    std::vector<TensorSpec> m_inputs;
    std::vector<TensorSpec> m_outputs;

private:
    core::Result<Timing> start(const TimingRequest& timing, std::vector<core::Tensor>& outputs,
                               const core::JobContext& job);

    std::vector<core::Tensor> m_values;  ///< one per input; null, which is zeros, until it is set
    std::vector<core::Tensor> m_fetched; ///< what the last execute() left
};

} // namespace tenon::remote
