// SPDX-License-Identifier: Apache-2.0
// Times of calls, summed up by what they have in common.
#include "remote/roofline/speed_audit.h"

#include "remote/roofline/call_bound.h"

#include <algorithm>

namespace tenon::remote {
namespace {

using core::Manifest;
using core::ManifestCall;
using core::Method;

struct TimedCall
{
    const ManifestCall& call;
    double ms;
    double boundMs; ///< 0: not known
};

void add(std::vector<AuditPart>& parts, const std::string& what, const TimedCall& timed)
{
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const AuditPart& each) { return each.what == what; });
    if (part == parts.end()) part = parts.insert(parts.end(), AuditPart{.what = what});
    ++part->calls;
    part->ms += timed.ms;
    if (timed.boundMs > 0) {
        part->boundMs += timed.boundMs;
        part->boundedMs += timed.ms;
    }
    if (timed.ms <= part->slowestMs && part->calls > 1) return;
    part->slowestMs = timed.ms;
    part->firstCall = timed.call.shownTitle();
}

bool isSlow(const TimedCall& timed, double times)
{
    return timed.boundMs <= 0 || timed.ms > times * timed.boundMs;
}

/// What has no blocked form: loops as they were written, where a rule refused them.
void addPlain(SpeedAudit& audit, const TimedCall& timed, Method method)
{
    const bool isOnRows = method == Method::Rows && timed.call.refusal.empty();
    (isOnRows ? audit.rowsMs : audit.plainMs) += timed.ms;
    if (isOnRows && isSlow(timed, kSlowRows)) audit.slowRowsMs += timed.ms;
    const ManifestCall& call = timed.call;
    add(audit.declined, !call.refusal.empty() ? "rule " + call.refusal : call.plainReason, timed);
}

void addMove(SpeedAudit& audit, const TimedCall& timed)
{
    audit.movingMs += timed.ms;
    if (isSlow(timed, kSlowMove)) audit.slowMovingMs += timed.ms;
    audit.moves.push_back(
        {timed.call.shownTitle(), timed.ms, timed.call.movedBytes, timed.boundMs});
}

template <class Row>
void sortByTime(std::vector<Row>& rows)
{
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.ms > b.ms; });
}

} // namespace

SpeedAudit auditOf(const Manifest& manifest, const std::vector<double>& callMs,
                   const std::optional<MachinePeak>& peak)
{
    SpeedAudit audit;
    const double bytes = runBytes(manifest);
    for (size_t i = 0; i < callMs.size() && i < manifest.calls.size(); ++i) {
        const ManifestCall& call = manifest.calls[i];
        const double bound = peak ? boundOf(workOf(call), *peak, bytes).ms : 0;
        const TimedCall timed{call, callMs[i], bound};
        const core::CallMethod method = core::methodRun(call.method, call.refusal);
        audit.ms += timed.ms;
        add(audit.methods, method.kind == Method::None ? "one way only" : core::methodText(method),
            timed);
        if (method.kind == Method::PlainLoops || method.kind == Method::Rows ||
            !call.refusal.empty())
            addPlain(audit, timed, method.kind);
        if (method.kind == Method::Moves) addMove(audit, timed);
    }
    sortByTime(audit.methods);
    sortByTime(audit.declined);
    sortByTime(audit.moves);
    return audit;
}

} // namespace tenon::remote
