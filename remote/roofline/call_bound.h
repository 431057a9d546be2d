// SPDX-License-Identifier: Apache-2.0
// The least time that a kernel call can take on this computer, and why: the roofline of one call.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/roofline/machine_peak.h"

#include <string_view>
#include <vector>

namespace tenon::remote {

/// What a call cannot do without, in numbers; 0 where it is not known.
struct CallWork
{
    double flops = 0;        ///< ManifestCall::leastFlops
    double movedBytes = 0;   ///< inputs, weights and outputs, as far as they are looked at
    double writtenBytes = 0; ///< of those, the outputs
    double weightBytes = 0;  ///< of those, constants
    core::CallMethod method; ///< core::methodRun()
};

CallWork workOf(const core::ManifestCall& call);

struct CallBound
{
    double ms = 0;         ///< 0: not known
    bool isMemory = false; ///< moving its bytes takes longer than computing
};

/// No call takes less: it computes at the peak at best, and its data, which calls before it wrote,
/// lie in the nearest cache that holds them. `runBytes` are what a whole run goes through: weights
/// come from the cache that holds as many. Activations and weights may come at the same time. A
/// call that computes at a rate which is not known has no bound: moving its bytes may be far below
/// it.
CallBound boundOf(const CallWork& work, const MachinePeak& peak, double runBytes);

/// The part of the bound that `ms` is over, as a share: 1 is the bound itself. More than 1 and
/// noise says that the rates which were measured are not the computer's: nothing (0) is told then.
double shareOfBound(const CallBound& bound, double ms);

/// Weights that calls read, and the workspace of all. Rows that nobody looks up are not among them.
double runBytes(const core::Manifest& manifest);
double runBytes(double workspaceBytes, const std::vector<CallWork>& works);

} // namespace tenon::remote
