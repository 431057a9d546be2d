// SPDX-License-Identifier: Apache-2.0
// "This computer" as a board: server children, and finding the call in which one crashed.
#include "remote/session/local_board.h"

#include "compiler/driver/compile.h"
#include "core/base/program_files.h"
#include "core/base/text.h"
#include "remote/session/artifact_session.h"
#include "remote/session/child_process.h"
#include "remote/session/program_session.h"
#include "remote/session/wasm_session.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using core::Tensor;

Result<ChildProcess> startLocalServer(const RunRequest& request)
{
    const std::string server =
        request.serverPath.empty() ? core::siblingProgram("tenon-rpc-server") : request.serverPath;
    std::vector<std::string> command = request.emulator;
    std::error_code ignored;
    const bool loads = !request.artifactPath.empty(); // or it only asks what this computer is
    command.insert(
        command.end(),
        {server, "--fd", "3", "--trust-path",
         loads ? std::filesystem::absolute(request.artifactPath, ignored).string() : "/dev/null"});
    return ChildProcess::start(command.front(), {command.begin() + 1, command.end()},
                               request.emulator.empty() ? ErrorOutput::Inherited
                                                        : ErrorOutput::Kept);
}

Result<std::unique_ptr<ArtifactSession>> openLocalSession(const RunRequest& request,
                                                          const JobContext& job)
{
    if (access(request.artifactPath.c_str(), R_OK) != 0)
        return makeError(DiagnosticCode::IoFailure,
                         "cannot read " + core::quoted(request.artifactPath));
    Result<ChildProcess> child = startLocalServer(request);
    if (!child) return child.error();
    const int socket = child->takeSocket();
    Result<std::unique_ptr<RpcSession>> rpc = RpcSession::open(socket, {request.timeout, &job});
    if (!rpc) return rpc.error();
    auto session = std::make_unique<ArtifactSession>(
        request, std::make_unique<ChildProcess>(std::move(*child)), std::move(*rpc));
    if (Status loaded = session->load(job); !loaded) return loaded.error();
    return session;
}

namespace {

/// Of an artifact that exists: a library where its name says nothing.
compiler::OutputFormat formatOf(const RunRequest& request)
{
    const auto format = compiler::outputFormatOf(request.artifactPath);
    return format ? *format : compiler::OutputFormat::SharedLibrary;
}

bool needsNoServer(const RunRequest& request) { return compiler::standsAlone(formatOf(request)); }

Result<std::unique_ptr<LocalSession>> reopened(const RunRequest& request, const JobContext& job)
{
    Result<std::unique_ptr<ArtifactSession>> session = openLocalSession(request, job);
    if (!session) return session.error();
    return std::unique_ptr<LocalSession>(std::move(*session));
}

/// What a crash means to someone who only wanted the model to run.
core::Diagnostic withAdvice(core::Diagnostic error)
{
    if (error.crashSignal == 0) return error;
    error.message += error.crashSignal == SIGILL
                         ? "; the target may allow instructions that the processor lacks, check "
                           "its -mcpu and -mattr"
                         : "; try opt level 0, and please report this kernel";
    return error;
}

} // namespace

core::Diagnostic locateCrash(const core::Diagnostic& error, const LocalSession& crashed,
                             const RunRequest& request, const SessionOpener& reopen,
                             const JobContext& job)
{
    if (error.code != DiagnosticCode::BoardFailure || crashed.hasEmulatorFailed()) return error;
    if (crashed.crashedCall() >= 0) return withAdvice(error);
    const Result<std::unique_ptr<LocalSession>> session = reopen();
    if (!session || !(*session)->setInputs(request.inputs, job)) return withAdvice(error);
    const Status status = (*session)->runInstrumented(job);
    const int call = (*session)->crashedCall();
    core::Diagnostic located = error;
    if (!status && call >= 0) addCall(request.artifactPath, call, located);
    return withAdvice(located);
}

Result<std::unique_ptr<LocalSession>> LocalSession::open(const RunRequest& request,
                                                         const JobContext& job)
{
    Result<std::unique_ptr<LocalSession>> out = core::Diagnostic{};
    const compiler::OutputFormat format = formatOf(request);
    if (format == compiler::OutputFormat::WasmModule) {
        out = WasmSession::open(request);
    } else if (format == compiler::OutputFormat::Program) {
        out = ProgramSession::open(request);
    } else {
        out = reopened(request, job);
    }
    if (!out) return out.error();
    if (Status set = (*out)->setInputs(request.inputs, job); !set) return set.error();
    return out;
}

Result<std::vector<Tensor>> runArtifact(const RunRequest& request, const JobContext& job)
{
    if (needsNoServer(request)) {
        const auto alone = LocalSession::open(request, job);
        return alone ? (*alone)->run(job) : alone.error();
    }
    const Result<std::unique_ptr<ArtifactSession>> session = openLocalSession(request, job);
    if (!session) return session.error();
    if (Status set = (*session)->setInputs(request.inputs, job); !set) return set.error();
    Result<std::vector<Tensor>> outputs = (*session)->run(job);
    if (!outputs)
        return locateCrash(
            outputs.error(), **session, request, [&] { return reopened(request, job); }, job);
    return outputs;
}

Result<Timing> measureArtifact(const RunRequest& request, const TimingRequest& timing,
                               const JobContext& job)
{
    if (needsNoServer(request)) {
        const auto alone = LocalSession::open(request, job);
        return alone ? (*alone)->measure(timing, job) : alone.error();
    }
    const Result<std::unique_ptr<ArtifactSession>> session = openLocalSession(request, job);
    if (!session) return session.error();
    if (Status set = (*session)->setInputs(request.inputs, job); !set) return set.error();
    Result<Timing> measured = (*session)->measure(timing, job);
    if (!measured)
        return locateCrash(
            measured.error(), **session, request, [&] { return reopened(request, job); }, job);
    return measured;
}

} // namespace tenon::remote
