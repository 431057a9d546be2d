// SPDX-License-Identifier: Apache-2.0
// Times or instructions, memory, and how the line behaved.
#include "app/cli/server_report.h"

#include "core/base/board_code.h"
#include "core/base/printable.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::cli {
namespace {

/// "1,234,567 instructions" or "1.234 ms".
std::string durationText(double nanoseconds, int instructionNs)
{
    if (instructionNs > 0)
        return thousands(static_cast<int64_t>(nanoseconds / instructionNs + 0.5)) + " instructions";
    return fixed(nanoseconds / 1e6, 3) + " ms";
}

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

Result<ServerMeasurement> measureServer(remote::MicroModel& model, int number)
{
    constexpr int kRepeats = 3;
    ServerMeasurement out;
    if (number > 0) {
        auto seconds = model.time(number, kRepeats);
        if (!seconds) return seconds.error();
        out.runSeconds = std::move(*seconds);
        // Executors that note no calls say so; their times stand all the same.
        if (auto calls = model.profile())
            out.callNs = std::move(*calls);
        else if (calls.error().code != BoardCode::DataFault)
            return calls.error();
    }
    auto statistics = model.statistics();
    if (!statistics) return statistics.error();
    out.statistics = std::move(*statistics);
    out.line = model.lineCounters();
    out.restarts = model.restarts();
    return out;
}

std::string serverText(const Manifest& manifest, const ServerMeasurement& m)
{
    std::string out;
    if (!m.runSeconds.empty())
        out += "inference  " + durationText(median(m.runSeconds) * 1e9, m.instructionNs) +
               " on the board's clock\n";
    for (size_t i = 0; i < m.callNs.size(); ++i)
        out += "  " + durationText(static_cast<double>(m.callNs[i]), m.instructionNs) + "  " +
               (i < manifest.calls.size() ? elided(manifest.calls[i].name) : "") + "\n";
    const remote::MicroStatistics& s = m.statistics;
    out += "memory     workspace " + thousands(static_cast<int64_t>(s.workspaceBytes)) +
           " B, stack peak " + thousands(static_cast<int64_t>(s.stackPeakBytes)) + " of " +
           thousands(static_cast<int64_t>(s.stackBytes)) + " B watched\n";
    out += "board      " + std::to_string(s.runs) + " runs, " + std::to_string(s.frames) +
           " frames, " + std::to_string(s.badFrames) + " of them damaged, " +
           std::to_string(s.repeated) + " requests repeated\n";
    out += "line       " + thousands(m.line.bytesOut) + " B out, " + thousands(m.line.bytesIn) +
           " B in, " + std::to_string(m.line.resent) + " requests sent again, " +
           std::to_string(m.restarts) + " restarts of the board\n";
    return out;
}

Json serverJson(const Manifest& manifest, const ServerMeasurement& m)
{
    const remote::MicroStatistics& s = m.statistics;
    const auto instructions = [&](double nanoseconds) {
        return static_cast<int64_t>(nanoseconds / m.instructionNs + 0.5);
    };
    Json calls = Json::array();
    for (size_t i = 0; i < m.callNs.size(); ++i) {
        Json call{{"name", i < manifest.calls.size() ? manifest.calls[i].name : ""}};
        if (m.instructionNs > 0)
            call["instructions"] = instructions(static_cast<double>(m.callNs[i]));
        else
            call["ns"] = m.callNs[i];
        if (i < s.callCounts.size()) call["runs"] = s.callCounts[i];
        calls.push_back(std::move(call));
    }
    Json out{{"workspace_bytes", s.workspaceBytes},
             {"stack_peak_bytes", s.stackPeakBytes},
             {"stack_bytes", s.stackBytes},
             {"runs", s.runs},
             {"frames", s.frames},
             {"bad_frames", s.badFrames},
             {"repeated", s.repeated},
             {"requests", m.line.requests},
             {"resent", m.line.resent},
             {"restarts", m.restarts},
             {"bytes_out", m.line.bytesOut},
             {"bytes_in", m.line.bytesIn},
             {"calls", std::move(calls)}};
    if (m.runSeconds.empty()) return out;
    if (m.instructionNs > 0)
        out["instructions"] = instructions(median(m.runSeconds) * 1e9);
    else
        out["run_ms"] = median(m.runSeconds) * 1e3;
    return out;
}

} // namespace tenon::cli
