// SPDX-License-Identifier: Apache-2.0
// Methods, reasons and moves as tables.
#include "app/cli/explain_report.h"

#include "app/cli/short_title.h"
#include "core/base/text.h"
#include "remote/measure/statistics.h"

namespace tenon::cli {
namespace {

constexpr size_t kShownMoves = 10; ///< of which the rest takes less

Json partsJson(const std::vector<remote::AuditPart>& parts, const char* key)
{
    Json out = Json::array();
    for (const remote::AuditPart& part : parts) {
        out.push_back({{key, part.what},
                       {"calls", part.calls},
                       {"ms", part.ms},
                       {"slowest", part.firstCall}});
        if (part.boundMs > 0) out.back()["bound_share"] = part.boundMs / part.boundedMs;
    }
    return out;
}

Json moveJson(const remote::AuditMove& move)
{
    Json out = {{"call", move.call}, {"ms", move.ms}, {"bytes", move.bytes}};
    if (move.ms > 0) out["gb_s"] = move.bytes / move.ms * 1e-6;
    if (move.boundMs > 0) out["bound_ms"] = move.boundMs;
    return out;
}

std::string percent(double share) { return fixed(share * 100, 1) + " %"; }

std::string partsText(const remote::SpeedAudit& audit, const std::vector<remote::AuditPart>& parts,
                      const char* title)
{
    const auto unit = remote::TimeUnit::of(audit.ms);
    std::vector<std::vector<std::string>> rows{
        {title, "calls", unit.name, "%", "% of bound", "slowest"}};
    for (const remote::AuditPart& part : parts)
        rows.push_back({part.what, std::to_string(part.calls), unit.digits(part.ms),
                        fixed(audit.share(part.ms) * 100, 1),
                        part.boundMs > 0 ? fixed(part.boundMs / part.boundedMs * 100, 0) : "",
                        part.firstCall});
    return table(rows);
}

std::string movesText(const remote::SpeedAudit& audit)
{
    const auto unit = remote::TimeUnit::of(audit.ms);
    std::vector<std::vector<std::string>> rows{
        {"moves data", unit.name, "%", "KB", "GB/s", "times its bound"}};
    for (size_t i = 0; i < audit.moves.size() && i < kShownMoves; ++i) {
        const remote::AuditMove& move = audit.moves[i];
        rows.push_back({shortTitle(move.call), unit.digits(move.ms),
                        fixed(audit.share(move.ms) * 100, 1),
                        move.bytes > 0 ? fixed(move.bytes * 1e-3, 1) : "",
                        move.ms > 0 && move.bytes > 0 ? fixed(move.bytes / move.ms * 1e-6, 1) : "",
                        move.boundMs > 0 ? fixed(move.ms / move.boundMs, 1) : ""});
    }
    std::string out = table(rows);
    if (audit.moves.size() > kShownMoves)
        out += "and " + std::to_string(audit.moves.size() - kShownMoves) + " that take less\n";
    return out;
}

} // namespace

Json auditJson(const remote::SpeedAudit& audit)
{
    Json moves = Json::array();
    for (const remote::AuditMove& move : audit.moves) moves.push_back(moveJson(move));
    return {{"plain_share", audit.share(audit.plainMs)},
            {"rows_share", audit.share(audit.rowsMs)},
            {"slow_rows_share", audit.share(audit.slowRowsMs)},
            {"moving_share", audit.share(audit.movingMs)},
            {"slow_moving_share", audit.share(audit.slowMovingMs)},
            {"methods", partsJson(audit.methods, "method")},
            {"declined", partsJson(audit.declined, "reason")},
            {"moves", std::move(moves)}};
}

std::string auditText(const remote::SpeedAudit& audit)
{
    std::string out = "\n" + partsText(audit, audit.methods, "method");
    if (!audit.declined.empty())
        out += "\n" + partsText(audit, audit.declined, "on rows or plain because");
    if (!audit.moves.empty()) out += "\n" + movesText(audit);
    return out + "\nshare of time in plain loops " + percent(audit.share(audit.plainMs)) +
           ", on rows " + percent(audit.share(audit.rowsMs)) + " (" +
           percent(audit.share(audit.slowRowsMs)) + " in calls above " +
           fixed(remote::kSlowRows, 1) + " times their bound), in moving data " +
           percent(audit.share(audit.movingMs)) + " (" + percent(audit.share(audit.slowMovingMs)) +
           " in moves above " + fixed(remote::kSlowMove, 1) + " times what the bytes take)\n";
}

} // namespace tenon::cli
