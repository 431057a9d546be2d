// SPDX-License-Identifier: Apache-2.0
// The conversation with the server that holds one artifact, here or on a board.
#pragma once

#include "remote/rpc/rpc_session.h"
#include "remote/session/local_board.h"
#include "remote/session/server_end.h"

#include <functional>

namespace tenon::remote {

/// Not thread-safe.
class ArtifactSession : public LocalSession
{
public:
    ArtifactSession(const RunRequest& request, std::unique_ptr<ServerEnd> server,
                    std::unique_ptr<RpcSession> rpc);

    /// Loads the artifact and makes its executor.
    core::Status load(const core::JobContext& job);
    core::Status setInputs(const NamedTensors& inputs, const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> run(const core::JobContext& job) override;
    core::Result<Timing> measure(const TimingRequest& request,
                                 const core::JobContext& job) override;
    core::Status execute(const core::JobContext& job) override;
    core::Result<std::vector<core::Tensor>> fetchOutputs(const core::JobContext& job) override;
    core::Status runInstrumented(const core::JobContext& job) override;

    const std::vector<TensorSpec>& inputs() const override { return m_inputs; }
    const std::vector<TensorSpec>& outputs() const override { return m_outputs; }
    bool isBroken() const override { return m_isDead || m_rpc->isBroken(); }
    bool hasEmulatorFailed() const override { return m_hasEmulatorFailed; }
    int crashedCall() const override { return m_crashedCall; }
    unsigned usableProcessors() const override { return m_usable; }
    void setTimeout(std::chrono::milliseconds timeout) override { m_timeout = timeout; }

private:
    void start(const core::JobContext& job) { m_rpc->setPatience({m_timeout, &job}); }
    core::Diagnostic explain(const core::Diagnostic& error);
    core::Diagnostic emulatorFault();
    core::Result<RemoteHandle> method(const std::string& name);
    core::Result<Reply> callMethod(const std::string& name, const PackedArgs& arguments);
    core::Status describe();
    core::Status describeByManifest();
    core::Status callIfPresent(const std::string& name, const PackedArgs& arguments);
    core::Result<Hygiene> hygiene();
    core::Result<int64_t> countOf(const std::string& name);
    core::Status setThreads();
    core::Result<RemoteTensor> inputBuffer(const TensorSpec& spec,
                                           const std::vector<int64_t>& shape);
    core::Result<RemoteHandle> makeEvaluator(const TimingRequest& request, int repeat);
    core::Result<std::vector<double>> timePortion(const TimingRequest& request, int samples);
    core::Status timeRuns(const TimingRequest& request, Timing& timing,
                          const core::JobContext& job);
    core::Status timeCalls(Timing& timing, int repeats);

    std::string m_path;
    std::string m_loadName;
    std::string m_emulator; ///< its program; empty: the server runs by itself
    unsigned m_threads;
    unsigned m_wantedThreads;
    bool m_mayExceed;
    unsigned m_usable = 0;
    bool m_poison;
    std::chrono::milliseconds m_timeout;
    std::unique_ptr<ServerEnd> m_server;
    std::unique_ptr<RpcSession> m_rpc;
    RemoteHandle m_executor;
    std::vector<std::pair<std::string, RemoteHandle>> m_methods;
    std::vector<std::pair<std::string, RemoteTensor>> m_buffers; ///< memory of inputs, by name
    std::vector<TensorSpec> m_inputs;
    std::vector<TensorSpec> m_outputs;
    bool m_isDead = false;
    bool m_hasEmulatorFailed = false;
    int m_crashedCall = -1;
};

using SessionOpener = std::function<core::Result<std::unique_ptr<LocalSession>>()>;
/// A crash in code without marks says nothing about the place; the instrumented entry point, run in
/// a fresh session on the same inputs, does. Other errors come back as they are.
core::Diagnostic locateCrash(const core::Diagnostic& error, const LocalSession& crashed,
                             const RunRequest& request, const SessionOpener& reopen,
                             const core::JobContext& job);

/// Adds "in call 17 `fused_conv2d` of nodes a, b" to the message, as far as the artifact's manifest
/// tells, and the first of the nodes as the error's place.
void addCall(const std::string& artifactPath, int call, core::Diagnostic& error);

} // namespace tenon::remote
