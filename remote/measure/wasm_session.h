// SPDX-License-Identifier: Apache-2.0
// Compiled WebAssembly modules run by Node.js on this computer.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/measure/local_board.h"

namespace tenon::remote {

/// One process per run: a module is instantiated in milliseconds and leaves nothing behind.
class WasmSession : public LocalSession
{
public:
    /// `request.emulator` is Node's program; errors: of the module's manifest.
    static core::Result<std::unique_ptr<LocalSession>> open(const RunRequest& request);

    core::Status setInputs(const NamedTensors& inputs, const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> run(const core::JobContext& job) override;
    core::Result<Timing> measure(const TimingRequest& request,
                                 const core::JobContext& job) override;
    const std::vector<TensorSpec>& inputs() const override { return m_inputs; }
    const std::vector<TensorSpec>& outputs() const override { return m_outputs; }
    bool isBroken() const override { return false; }

private:
    explicit WasmSession(const RunRequest& request)
        : m_request(request)
    {
    }
    /// Runs once and then as the timing says; the times of those runs, outputs into `outputs`.
    core::Result<Timing> start(const TimingRequest& timing, std::vector<core::Tensor>& outputs,
                               const core::JobContext& job);

    RunRequest m_request;
    std::string m_prefix; ///< of the entry functions
    std::vector<TensorSpec> m_inputs;
    std::vector<TensorSpec> m_outputs;
    std::vector<core::Tensor> m_values; ///< one per input; null, which is zeros, until it is set
};

/// True for artifacts that this session runs, by their name.
inline bool isWasmArtifact(const std::string& path) { return path.ends_with(".wasm"); }

/// The host's JavaScript.
const char* wasmHostText();

} // namespace tenon::remote
