// SPDX-License-Identifier: Apache-2.0
// A row for every level: time with its interval, calls, bytes.
#include "app/cli/levels_report.h"

#include "core/base/text.h"

namespace tenon::cli {

Json levelsJson(const std::vector<remote::OptLevel>& levels)
{
    Json rows = Json::array();
    for (const remote::OptLevel& level : levels) {
        const remote::Summary& time = level.timing.summaryMs;
        rows.push_back({{"level", level.level},
                        {"emulated", level.isEmulated},
                        {"threads", level.timing.threads},
                        {"median_ms", time.median},
                        {"ci95_ms", {time.ci95Low, time.ci95High}},
                        {"samples", time.samples},
                        {"call_count", level.calls},
                        {"kernel_count", level.kernels},
                        {"workspace_bytes", level.memory.workspaceBytes},
                        {"constant_bytes", level.memory.constantBytes},
                        {"file_bytes", level.fileBytes}});
    }
    return {{"levels", std::move(rows)}};
}

std::string levelsText(const std::vector<remote::OptLevel>& levels)
{
    const auto bytes = [](int64_t count) { return bytesText(static_cast<uint64_t>(count)); };
    std::vector<std::vector<std::string>> rows{
        {"level", "median", "95 % interval", "calls", "kernels", "workspace", "constants", "file"}};
    bool isEmulated = false;
    for (const remote::OptLevel& level : levels) {
        const remote::Summary& time = level.timing.summaryMs;
        const auto unit = remote::TimeUnit::of(time.median);
        rows.push_back({std::to_string(level.level), unit.text(time.median),
                        time.hasInterval()
                            ? unit.digits(time.ci95Low) + " to " + unit.digits(time.ci95High)
                            : "too few samples",
                        std::to_string(level.calls), std::to_string(level.kernels),
                        bytes(level.memory.workspaceBytes), bytes(level.memory.constantBytes),
                        bytes(level.fileBytes)});
        isEmulated |= level.isEmulated;
    }
    return table(rows) +
           (isEmulated ? "note: these times are emulated and say nothing about a real processor\n"
                       : "");
}

} // namespace tenon::cli
