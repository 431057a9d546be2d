// SPDX-License-Identifier: Apache-2.0
// A deployment's measurement as an entry of the run history.
#include "remote/deploy/deploy_record.h"

#include "remote/history/run_history.h"

#include <ctime>
#include <filesystem>

namespace tenon::remote {

using core::Result;

namespace {

core::Diagnostic asWarning(core::Diagnostic error)
{
    error.severity = core::Severity::Warning;
    return error;
}

/// The program's calls with their times; empty where they were not measured one by one.
std::vector<RunCall> callsOf(const DeployReport& report)
{
    std::vector<RunCall> calls;
    const std::vector<core::ManifestCall>& known = report.manifest.calls;
    if (report.timing->callMs.size() != known.size()) return calls;
    for (size_t i = 0; i < known.size(); ++i)
        calls.push_back({known[i].shownTitle(), report.timing->callMs[i]});
    return calls;
}

} // namespace

std::string historyName(const Board& board)
{
    return board.name + (board.isEmulated() ? " (emulated)" : "");
}

std::optional<core::Diagnostic> keepInHistory(const std::string& path, const DeployReport& report,
                                              int optLevel, const std::string& toolVersion)
{
    if (!report.timing) return std::nullopt;
    std::error_code ignored; // opening says why when the folder could not be made
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    const Result<std::unique_ptr<RunHistory>> history = RunHistory::open(path);
    if (!history) return asWarning(history.error());
    const Result<int64_t> id = (*history)->add({.unixTimeS = std::time(nullptr),
                                                .modelName = report.manifest.modelName,
                                                .modelHash = report.manifest.modelHash,
                                                .target = report.target,
                                                .executor = report.manifest.executor,
                                                .board = historyName(report.board),
                                                .toolVersion = toolVersion,
                                                .threads = report.timing->threads,
                                                .optLevel = optLevel,
                                                .artifact = report.sha256,
                                                .runsMs = report.timing->runsMs,
                                                .hygiene = hygieneJson(report.timing->hygiene),
                                                .calls = callsOf(report)});
    if (!id) return asWarning(id.error());
    return (*history)->note();
}

} // namespace tenon::remote
