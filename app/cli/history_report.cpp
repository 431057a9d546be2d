// SPDX-License-Identifier: Apache-2.0
// Rows of the run history as tables and JSON.
#include "app/cli/history_report.h"

#include "app/cli/open_for_build.h"
#include "core/base/text.h"
#include "core/ir/module_hash.h"
#include "remote/deploy/deploy_record.h"
#include "remote/history/call_changes.h"
#include "remote/history/compare_runs.h"
#include "remote/measure/statistics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <filesystem>

namespace tenon::cli {
namespace {

using remote::RunRecord;

constexpr size_t kMostRuns = 200;

std::string dateOf(const RunRecord& record)
{
    const std::time_t time = record.unixTimeS;
    std::tm parts{};
    localtime_r(&time, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
    return text;
}

/// Against the run before it on the same board.
std::string changeText(const RunRecord& now, const RunRecord& before)
{
    const remote::RunComparison change = remote::compareRuns(now, before);
    if (change.ratio <= 0) return change.noReason;
    const double percent = std::abs(1 - change.ratio) * 100;
    const bool counts = remote::countsInstructions(now);
    return fixed(percent, percent < 10 ? 1 : 0) + (change.ratio < 1
                                                       ? (counts ? " % fewer" : " % faster")
                                                       : (counts ? " % more" : " % slower"));
}

remote::Summary summaryOf(const RunRecord& record)
{
    remote::Summary out = remote::summarize(record.runsMs);
    out.areInstructions = remote::countsInstructions(record);
    return out;
}

std::string intervalText(const remote::Summary& summary)
{
    if (summary.areInstructions) return "exact";
    return fixed(summary.ci95Low, 3) + " to " + fixed(summary.ci95High, 3);
}

Json recordJson(const RunRecord& record)
{
    const remote::Summary summary = summaryOf(record);
    Json calls = Json::array();
    for (const remote::RunCall& call : record.calls)
        calls.push_back({{"title", call.title}, {"ms", call.ms}});
    return {{"id", record.id},
            {"unit", summary.areInstructions ? "millions of instructions" : "ms"},
            {"unix_time_s", record.unixTimeS},
            {"board", record.board},
            {"target", record.target},
            {"executor", record.executor},
            {"opt_level", record.optLevel},
            {"threads", record.threads},
            {"sha256", record.artifact},
            {"runs", record.runsMs},
            {"median_ms", summary.median},
            {"ci95_ms", {summary.ci95Low, summary.ci95High}},
            {"layers", std::move(calls)}};
}

int printAll(const std::vector<RunRecord>& records, bool isJson)
{
    Json list = Json::array();
    std::vector<std::vector<std::string>> rows{
        {"run", "when", "median", "95 % interval", "n", "threads", "target", "change"}};
    for (size_t i = 0; i < records.size(); ++i) {
        const RunRecord& record = records[i];
        const std::string change = i + 1 < records.size() ? changeText(record, records[i + 1]) : "";
        const remote::Summary summary = summaryOf(record);
        const std::string median = summary.areInstructions
                                       ? remote::TimeUnit::of(summary).text(summary.median)
                                       : fixed(summary.median, 3) + " ms";
        rows.push_back({std::to_string(record.id), dateOf(record), median, intervalText(summary),
                        std::to_string(record.runsMs.size()), std::to_string(record.threads),
                        record.target, change});
        list.push_back(recordJson(record));
        list.back()["change"] = change;
    }
    if (isJson)
        printJson({{"history", std::move(list)}});
    else
        print(records.empty() ? "nothing was measured of this model on that board yet\n"
                              : table(rows));
    return kSuccess;
}

int printChanges(const RunRecord& before, const RunRecord& now, bool isJson)
{
    const auto changes = remote::callChanges(now, before);
    if (changes.empty())
        return failure(makeError(DiagnosticCode::BadArgument,
                                 "the calls of these runs were not kept one by one; measure again "
                                 "with `tenon deploy` or `tenon bench --board NAME --per-layer`"));
    Json list = Json::array();
    std::vector<std::vector<std::string>> rows{{"before", "now", "difference", "in %", "call"}};
    for (const remote::CallChange& change : changes) {
        const bool isBoth = change.beforeMs >= 0 && change.nowMs >= 0;
        const double difference = isBoth ? change.nowMs - change.beforeMs : 0;
        const auto time = [](double ms) { return ms < 0 ? std::string("-") : fixed(ms, 4); };
        const std::string sign = difference > 0 ? "+" : "";
        const bool hasShare = isBoth && change.beforeMs > 0;
        rows.push_back(
            {time(change.beforeMs), time(change.nowMs), isBoth ? sign + fixed(difference, 4) : "",
             hasShare ? sign + fixed(100 * difference / change.beforeMs, 1) : "", change.title});
        Json row{{"title", change.title}};
        if (change.beforeMs >= 0) row["before_ms"] = change.beforeMs;
        if (change.nowMs >= 0) row["now_ms"] = change.nowMs;
        if (isBoth) row["difference_ms"] = difference;
        list.push_back(std::move(row));
    }
    if (isJson)
        printJson({{"before", before.id}, {"now", now.id}, {"layers", std::move(list)}});
    else
        print(std::string(remote::countsInstructions(now) ? "millions of instructions" : "ms") +
              ", run " + std::to_string(before.id) + " and run " + std::to_string(now.id) + "\n" +
              table(rows));
    return kSuccess;
}

/// The record with the number that `word` is; null when there is none.
const RunRecord* recordOf(const std::vector<RunRecord>& records, std::string_view word)
{
    int64_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) return nullptr;
    const auto found = std::find_if(records.begin(), records.end(),
                                    [&](const RunRecord& record) { return record.id == id; });
    return found == records.end() ? nullptr : &*found;
}

Result<std::vector<RunRecord>> recordsOf(const HistoryQuestion& question,
                                         const remote::Board& board, const Module& module)
{
    const std::string path = boardStore(question.where.config).historyPath();
    if (!std::filesystem::exists(path)) return std::vector<RunRecord>();
    const auto history = remote::RunHistory::open(path);
    if (!history) return history.error();
    if ((*history)->note()) printDiagnostic(*(*history)->note());
    auto records = (*history)->recent(kMostRuns, moduleHash(module));
    if (!records) return records;
    const std::string name = remote::historyName(board);
    std::erase_if(*records, [&](const RunRecord& record) { return record.board != name; });
    return records;
}

} // namespace

int printHistory(const HistoryQuestion& question)
{
    const auto board = chosenBoard(question.where);
    if (!board) return failure(board.error());
    const auto opened = openForBuild(question.path, question.common);
    if (!opened) return failure(opened.error());
    const auto records = recordsOf(question, *board, opened->loaded->module);
    if (!records) return failure(records.error());
    if (question.between.empty()) return printAll(*records, question.common.json);
    const std::vector<std::string> words = split(question.between, ',');
    const RunRecord* before = words.size() == 2 ? recordOf(*records, words[0]) : nullptr;
    const RunRecord* now = words.size() == 2 ? recordOf(*records, words[1]) : nullptr;
    if (!before || !now)
        return wrongUsage("--between takes the numbers of two runs that --history lists, such as "
                          "12,15; " +
                          core::quoted(question.between) + " names none");
    return printChanges(*before, *now, question.common.json);
}

} // namespace tenon::cli
