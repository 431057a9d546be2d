// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes: by method, outside blocks and why, in moving data and at what rate.
#pragma once

#include "core/artifact/manifest.h"
#include "remote/roofline/machine_peak.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::remote {

/// Calls that belong together.
struct AuditPart
{
    std::string what; ///< the method's words, or a reason
    int calls = 0;
    double ms = 0;
    double boundMs = 0;    ///< the least that those of them can take whose bound is known
    double boundedMs = 0;  ///< what these took
    std::string firstCall; ///< the slowest one's name
    double slowestMs = 0;
};

/// A call that computes nothing.
struct AuditMove
{
    std::string call;
    double ms = 0;
    double bytes = 0;   ///< read and written
    double boundMs = 0; ///< 0: not known
};

/// A move that takes more than this many times its bound is slow.
constexpr double kSlowMove = 1.3;
/// So is a convolution on rows: blocks would have been worth it.
constexpr double kSlowRows = 2;

struct SpeedAudit
{
    double ms = 0;         ///< of all calls
    double plainMs = 0;    ///< in plain loops
    double rowsMs = 0;     ///< in convolutions on rows
    double slowRowsMs = 0; ///< of these, in slow ones, and in those whose bound is not known
    double movingMs = 0;
    double slowMovingMs = 0; ///< of these, in slow moves, and in those whose bound is not known
    std::vector<AuditPart> methods;  ///< the longest first, as below
    std::vector<AuditPart> declined; ///< on rows or in plain loops, by the reason
    std::vector<AuditMove> moves;

    double share(double part) const { return ms > 0 ? part / ms : 0; }
};

/// `callMs`: a time for each call of the manifest. Without a peak no bound is known.
SpeedAudit auditOf(const core::Manifest& manifest, const std::vector<double>& callMs,
                   const std::optional<MachinePeak>& peak);

} // namespace tenon::remote
