// SPDX-License-Identifier: Apache-2.0
// Rows of calls that have the same title.
#include "remote/history/call_changes.h"

#include "core/base/alignment.h"

namespace tenon::remote {

namespace {

std::vector<std::string> titlesOf(const std::vector<RunCall>& calls)
{
    std::vector<std::string> titles;
    for (const RunCall& call : calls) titles.push_back(call.title);
    return titles;
}

} // namespace

std::vector<CallChange> callChanges(const RunRecord& now, const RunRecord& before)
{
    if (now.calls.empty() || before.calls.empty()) return {};
    std::vector<CallChange> out;
    for (const core::AlignedRow& row : core::aligned(titlesOf(now.calls), titlesOf(before.calls))) {
        CallChange change;
        if (row.first >= 0) {
            const RunCall& call = now.calls[static_cast<size_t>(row.first)];
            change.title = call.title;
            change.nowMs = call.ms;
        }
        if (row.second >= 0) {
            const RunCall& call = before.calls[static_cast<size_t>(row.second)];
            change.title = call.title;
            change.beforeMs = call.ms;
        }
        out.push_back(std::move(change));
    }
    return out;
}

} // namespace tenon::remote
