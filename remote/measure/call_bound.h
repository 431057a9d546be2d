// SPDX-License-Identifier: Apache-2.0
// The least time that a kernel call can take on this computer, and why: the roofline of one call.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/measure/machine_peak.h"

#include <string_view>
#include <vector>

namespace tenon::remote {

/// What a call does, in numbers; 0 where it is not known.
struct CallWork
{
    double flops = 0;
    double movedBytes = 0;   ///< inputs, weights and outputs
    double writtenBytes = 0; ///< of those, the outputs
    std::string_view method; ///< ManifestCall::method
};

CallWork workOf(const core::ManifestCall& call);

struct CallBound
{
    double ms = 0;         ///< 0: not known
    bool isMemory = false; ///< moving its bytes takes longer than computing
};

/// `runBytes` are what a whole run goes through: weights come from the cache that holds as many.
CallBound boundOf(const CallWork& work, const MachinePeak& peak, double runBytes);

/// Weights that calls read, and the workspace of all. Rows that nobody looks up are not among them.
double runBytes(const core::Manifest& manifest);
double runBytes(double workspaceBytes, const std::vector<CallWork>& works);

} // namespace tenon::remote
