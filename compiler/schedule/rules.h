// SPDX-License-Identifier: Apache-2.0
// Schedule rules: from an unscheduled PrimFunc and facts about the target to a tiled, vectorized,
// register-blocked one.
#pragma once

#include "compiler/schedule/schedule.h"
#include "core/target/target_facts.h"

#include <span>
#include <string_view>

namespace tenon::compiler {

/// Attr of a function whose sums are computed as written: term by term in order, each product and
/// each sum rounded.
inline constexpr std::string_view kOrderedSumsAttr = "ordered_sums";
bool hasOrderedSums(const tir::PrimFunc& function);

struct ScheduledKernel
{
    tir::PrimFunc function;
    std::vector<TraceStep> trace;
    std::string rule; ///< name of the rule that chose it
    /// "RULE: reason" when the rule of its family could not take it, so that its loops are plain
    /// ones; else empty.
    std::string refusal;
};

/// A rule claims kernels by the function's `kind` attr (te tag of the anchor) and schedules them.
struct ScheduleRule
{
    std::string_view name;
    bool (*matches)(const tir::PrimFunc&, const TargetFacts&);
    void (*apply)(Schedule&, const TargetFacts&);
    std::string_view axes; ///< of the anchor: AxesForm
};

std::span<const ScheduleRule>
allScheduleRules(); ///< first match wins; the last one matches everything

Result<ScheduledKernel> scheduleKernel(const tir::PrimFunc& unscheduled, const TargetFacts& facts);

/// Scheduled TIR -> flat TIR the code generators read: no blocks, 1-D buffers, explicit init,
/// vector Ramp/Broadcast expressions, simplified indices; loops left: serial, parallel, unrolled.
Result<tir::PrimFunc> lowerToLoops(const tir::PrimFunc& scheduled);

} // namespace tenon::compiler
