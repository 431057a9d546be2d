// SPDX-License-Identifier: Apache-2.0
// Running a model of steps for a target, as it is shipped, and comparing every bit that counts.
#pragma once

#include "core/jobs/job.h"
#include "tests/fuzz/steps/step_model.h"

#include <string>
#include <vector>

namespace tenon::test {

struct StepTarget
{
    const char* name;
    const char* target;
    const char* runner; ///< the program that runs it here; empty: none is needed
    const char* cc;     ///< of C source; empty: not C
    /// Sizes that a run tells need the VM, which these do not have.
    bool hasVm;
};

std::vector<StepTarget> stepTargets();

/// One build of a model: how it is compiled and run.
struct StepBuild
{
    StepTarget target;
    int optLevel;
    unsigned threads;

    std::string text() const;
};

/// "" when every output is what it must be; else what differs. The model, its inputs and the wanted
/// outputs lie in `folder` as a case for `tenon verify`.
std::string checkSteps(const StepModel& model, const StepBuild& build, const std::string& folder,
                       core::JobContext& job);
/// Writes the case that checkSteps reads.
core::Status writeSteps(const StepModel& model, const std::string& folder);

} // namespace tenon::test
