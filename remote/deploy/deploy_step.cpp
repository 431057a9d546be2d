// SPDX-License-Identifier: Apache-2.0
// Names and limits of the phases of a deployment.
#include "remote/deploy/deploy_step.h"

#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/board/board.h"

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;

namespace {

struct PhaseRow
{
    std::string_view text;
    DiagnosticCode timedOut;
};

constexpr std::array<PhaseRow, kDeployPhaseCount> kPhases{{
    {"compile", DiagnosticCode::TimedOut},
    {"connect", BoardCode::ConnectTimedOut},
    {"probe", BoardCode::ProbeTimedOut},
    {"preflight", DiagnosticCode::TimedOut},
    {"upload", BoardCode::UploadTimedOut},
    {"load", BoardCode::LoadTimedOut},
    {"run", BoardCode::RunTimedOut},
    {"benchmark", BoardCode::BenchmarkTimedOut},
    {"fetch", BoardCode::FetchTimedOut},
    {"clean up", BoardCode::CleanUpTimedOut},
}};

const PhaseRow& row(DeployPhase phase) { return kPhases[static_cast<size_t>(phase)]; }

} // namespace

std::string_view phaseText(DeployPhase phase) { return row(phase).text; }

std::chrono::milliseconds PhaseLimits::of(DeployPhase phase) const
{
    switch (phase) {
    case DeployPhase::Connect: return connect;
    case DeployPhase::Probe: return probe;
    case DeployPhase::Upload: return upload;
    case DeployPhase::Load: return load;
    case DeployPhase::CleanUp: return cleanUp;
    default: return run;
    }
}

core::Diagnostic inPhase(core::Diagnostic error, DeployPhase phase, const std::string& board)
{
    if (error.code == DiagnosticCode::TimedOut) {
        error.code = row(phase).timedOut;
        error.message = core::quoted(phaseText(phase)) + " took too long: " + error.message;
    }
    if (phase != DeployPhase::Compile && error.code != DiagnosticCode::Cancelled)
        error.message =
            (board == kThisComputer ? "this computer" : "board " + core::quoted(board)) + ": " +
            error.message;
    return error;
}

} // namespace tenon::remote
