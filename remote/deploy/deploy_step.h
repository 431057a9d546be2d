// SPDX-License-Identifier: Apache-2.0
// The phases of a deployment: their names, limits, and how far each of them is.
#pragma once

#include "core/base/diagnostic.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::remote {

enum class DeployPhase : uint8_t
{
    Compile,
    Connect,
    Probe,
    Preflight,
    Upload,
    Load,
    Run,
    Benchmark,
    Fetch,
    CleanUp
};
inline constexpr size_t kDeployPhaseCount = 10;

/// "compile", "connect", ..., "clean up".
std::string_view phaseText(DeployPhase phase);

enum class StepState : uint8_t
{
    Waiting,
    Running,
    Done,
    Skipped,
    Failed
};

struct DeployStep
{
    DeployPhase phase = DeployPhase::Compile;
    StepState state = StepState::Waiting;
    double ms = 0;
    std::string detail; ///< what it did, in words: "14.2 MiB sent, 0 B were there"
};

/// How long each phase may take before it fails with its own code.
struct PhaseLimits
{
    std::chrono::milliseconds connect{std::chrono::seconds(20)};
    /// In a tracker's queue, before connecting.
    std::chrono::milliseconds queue{std::chrono::minutes(5)};
    std::chrono::milliseconds probe{std::chrono::seconds(30)};
    std::chrono::milliseconds upload{std::chrono::minutes(10)};
    std::chrono::milliseconds load{std::chrono::minutes(2)};
    std::chrono::milliseconds run{std::chrono::minutes(5)};
    std::chrono::milliseconds cleanUp{std::chrono::seconds(10)};

    /// Of `phase`; benchmark and fetch share the limit of run, for each single exchange.
    std::chrono::milliseconds of(DeployPhase phase) const;
};

/// Says which board it was, unless the model did not compile or the user stopped it. TimedOut
/// becomes the phase's own code and names it.
core::Diagnostic inPhase(core::Diagnostic error, DeployPhase phase, const std::string& board);

} // namespace tenon::remote
