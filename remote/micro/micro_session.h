// SPDX-License-Identifier: Apache-2.0
// A model on a board at the end of a line as a session like any other.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/micro/micro_model.h"
#include "remote/session/local_board.h"

namespace tenon::remote {

class MicroSession : public LocalSession
{
public:
    /// `request.artifactPath` is the image that runs there. Errors: of its manifest, of
    /// MicroModel::open(); BadArtifact when the board runs another image.
    static core::Result<std::unique_ptr<LocalSession>>
    open(std::unique_ptr<MicroLine> line, const RunRequest& request, const core::JobContext& job);

    core::Status setInputs(const NamedTensors& inputs, const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> run(const core::JobContext& job) override;
    core::Result<Timing> measure(const TimingRequest& request,
                                 const core::JobContext& job) override;
    const std::vector<TensorSpec>& inputs() const override { return m_inputs; }
    const std::vector<TensorSpec>& outputs() const override { return m_outputs; }
    bool isBroken() const override { return false; } ///< a board that starts anew is given all
    core::Status execute(const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> fetchOutputs(const core::JobContext& job) override;
    void setTimeout(std::chrono::milliseconds timeout) override { m_timeout = timeout; }

private:
    MicroSession(std::unique_ptr<MicroModel> model, core::Manifest manifest,
                 const RunRequest& request);
    void start(const core::JobContext& job) { m_model->setPatience({m_timeout, &job}); }
    core::Diagnostic explained(core::Diagnostic error) const;
    core::Status checkStack();
    core::Status timeRuns(const TimingRequest& request, Timing& timing,
                          const core::JobContext& job);
    core::Status timeCalls(Timing& timing);

    std::unique_ptr<MicroModel> m_model;
    core::Manifest m_manifest;
    std::string m_image; ///< path
    std::chrono::milliseconds m_timeout;
    MicroBoard m_board;
    std::vector<TensorSpec> m_inputs, m_outputs;
    std::vector<core::Tensor> m_values;  ///< one per input; zeros until it is set
    std::vector<core::Tensor> m_fetched; ///< what the last execute() left
};

} // namespace tenon::remote
