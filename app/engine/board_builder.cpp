// SPDX-License-Identifier: GPL-3.0-or-later
// Copies what the window shows out of remote's values.
#include "app/engine/board_builder.h"

#include "app/engine/qt_text.h"
#include "compiler/codegen/back_end.h"
#include "compiler/driver/target_cores.h"
#include "compiler/package/project_folder.h"
#include "core/base/board_code.h"
#include "core/target/thread_choice.h"
#include "remote/board/profile.h"
#include "remote/deploy/deploy_record.h"
#include "remote/history/compare_runs.h"
#include "remote/measure/statistics.h"
#include "views/models/deployment_rows.h"

#include <QDateTime>

#include <charconv>
#include <map>
#include <span>

namespace tenon::app {

using core::DiagnosticCode;
using core::Result;
using remote::Board;
using remote::BoardKind;
using views::BoardWay;

namespace {

BoardWay wayOf(BoardKind kind)
{
    switch (kind) {
    case BoardKind::ThisComputer: return BoardWay::ThisComputer;
    case BoardKind::Ssh: return BoardWay::Ssh;
    case BoardKind::RpcServer: return BoardWay::RpcServer;
    case BoardKind::TrackerKey: return BoardWay::Tracker;
    case BoardKind::Virtual:
    case BoardKind::Micro: return BoardWay::Virtual;
    case BoardKind::Serial: return BoardWay::Serial;
    }
    return BoardWay::ThisComputer;
}

BoardKind kindOf(BoardWay way)
{
    switch (way) {
    case BoardWay::ThisComputer: return BoardKind::ThisComputer;
    case BoardWay::Ssh: return BoardKind::Ssh;
    case BoardWay::RpcServer: return BoardKind::RpcServer;
    case BoardWay::Tracker: return BoardKind::TrackerKey;
    case BoardWay::Virtual: return BoardKind::Virtual;
    case BoardWay::Serial: return BoardKind::Serial;
    }
    return BoardKind::ThisComputer;
}

std::vector<views::CheckRow> checkRows(std::span<const remote::Check> checks)
{
    std::vector<views::CheckRow> rows;
    for (const remote::Check& check : checks) {
        const views::CheckVerdict verdict =
            check.verdict == remote::Verdict::Good       ? views::CheckVerdict::Good
            : check.verdict == remote::Verdict::Doubtful ? views::CheckVerdict::Doubtful
                                                         : views::CheckVerdict::Bad;
        rows.push_back({verdict, text(check.subject), text(check.outcome), text(check.advice)});
    }
    return rows;
}

views::StepState stepState(remote::StepState state)
{
    switch (state) {
    case remote::StepState::Waiting: return views::StepState::Waiting;
    case remote::StepState::Running: return views::StepState::Running;
    case remote::StepState::Done: return views::StepState::Done;
    case remote::StepState::Skipped: return views::StepState::Skipped;
    case remote::StepState::Failed: return views::StepState::Failed;
    }
    return views::StepState::Waiting;
}

/// "x86_64", "aarch64", "c" for C source; empty for what is no target.
std::string machineOf(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    if (!parsed) return {};
    const auto machine = compiler::machineSpec(*parsed);
    return std::string(machine ? machine->architecture() : std::string_view());
}

QString conditionOf(const remote::BoardFacts& facts)
{
    QStringList parts;
    if (facts.temperatureC >= 0) parts << QStringLiteral("%1 °C").arg(qRound(facts.temperatureC));
    if (!facts.governor.empty()) parts << QStringLiteral("governor ") + text(facts.governor);
    return parts.join(QStringLiteral("  ·  "));
}

/// What `now` says against the measurement before it.
void tellChange(const remote::RunRecord& now, const remote::RunRecord& before,
                views::HistoryRow& row)
{
    const remote::RunComparison compared = remote::compareRuns(now, before);
    row.change =
        compared.ratio > 0 ? views::changeText(compared.ratio, row.unit) : text(compared.noReason);
    if (!compared.settings.empty()) row.change += QStringLiteral(", ") + text(compared.settings);
}

} // namespace

std::vector<views::BoardKindEntry> boardKinds()
{
    std::vector<views::BoardKindEntry> kinds;
    const auto profiles = remote::boardProfiles();
    if (!profiles) return kinds; // without profiles nothing is offered
    for (const remote::BoardProfile& profile : *profiles)
        kinds.push_back({text(profile.name), text(profile.title), text(profile.target),
                         !profile.emulation.program.empty()});
    return kinds;
}

bool isSameMachine(const QString& target, const QString& boardTarget)
{
    const std::string mine = machineOf(target), theirs = machineOf(boardTarget);
    return mine.empty() || theirs.empty() || mine == theirs;
}

views::BoardEntry boardEntry(const Board& board)
{
    views::BoardEntry entry{
        text(board.name),      wayOf(board.kind),
        text(board.address()), text(compiler::withCores(board.target, board.threads)),
        text(board.profile),   text(board.summary)};
    entry.budget.name = entry.budget.title = entry.title();
    if (const auto profile = remote::findProfile(board.profile);
        !board.profile.empty() && profile) {
        entry.budget.flashBytes = profile->flashBytes;
        entry.budget.ramBytes = profile->ramBytes;
    }
    if (board.flashBytes > 0) entry.budget.flashBytes = board.flashBytes;
    if (board.ramBytes > 0) entry.budget.ramBytes = board.ramBytes;
    entry.countsInstructions = board.kind == BoardKind::Micro;
    return entry;
}

/// "10.0.0.7:9091" as it is written elsewhere; 0 where there is no port, or an address of IPv6.
std::pair<std::string, int> hostAndPort(const std::string& text)
{
    const size_t colon = text.find(':');
    int port = 0;
    if (colon == std::string::npos || text.find(':', colon + 1) != std::string::npos)
        return {text, 0};
    const char* last = text.data() + text.size();
    const auto read = std::from_chars(text.data() + colon + 1, last, port);
    return read.ec == std::errc() && read.ptr == last ? std::pair(text.substr(0, colon), port)
                                                      : std::pair(text, 0);
}

Result<Board> boardOf(const views::BoardRequest& request)
{
    constexpr int kRpcPort = 9090, kTrackerPort = 9190;
    Board board{.name = request.name.toStdString(),
                .kind = kindOf(request.way),
                .profile = request.profile.toStdString(),
                .host = request.host.toStdString(),
                .port = request.port,
                .user = request.user.toStdString(),
                .identityFile = request.identityFile.toStdString(),
                .key = request.key.toStdString()};
    const auto [host, port] = hostAndPort(board.host);
    if (port > 0) {
        board.host = host;
        board.port = port;
    }
    if (board.port == 0 && board.kind == BoardKind::RpcServer) board.port = kRpcPort;
    if (board.port == 0 && board.kind == BoardKind::TrackerKey) board.port = kTrackerPort;
    if (!board.profile.empty()) {
        const auto profile = remote::findProfile(board.profile);
        if (!profile) return profile.error();
        board.target = profile->target;
        board.threads = profile->cores;
    }
    if (board.kind == BoardKind::Serial) {
        board.project = request.project.toStdString();
        board.flash = request.flash.toStdString();
        board.baud = request.port;
        board.port = 0;
        const auto facts = compiler::readProject(board.project);
        if (!board.project.empty() && !facts) return facts.error();
        if (facts && board.target.empty()) board.target = facts->manifest.target;
    }
    if (const core::Status checked = remote::checkBoard(board); !checked) return checked.error();
    return board;
}

views::ProbeFindings findingsOf(const Board& board, const remote::BoardFacts& facts)
{
    views::ProbeFindings findings{boardEntry(board)};
    findings.board.summary = text(remote::summaryLine(facts));
    findings.checks = checkRows(remote::probeChecklist(facts));
    findings.condition = conditionOf(facts);
    if (const auto target = remote::proposedTarget(facts)) findings.proposedTarget = text(*target);
    if (findings.board.budget.ramBytes == 0) findings.board.budget.ramBytes = facts.ramBytes;
    return findings;
}

namespace {

void addSamples(const remote::SamplingState& sampling, views::Deployment& out)
{
    constexpr double kUs = 1000;
    for (const double ms : sampling.runsMs) out.sampleUs.push_back(ms * kUs);
    out.runningUs = sampling.summaryMs.median * kUs;
    out.lowUs = sampling.summaryMs.ci95Low * kUs;
    out.highUs = sampling.summaryMs.ci95High * kUs;
    out.leftS = sampling.leftS;
    if (sampling.summaryMs.areInstructions) out.unit = views::CostUnit::Instructions;
}

} // namespace

views::Deployment deploymentOf(const remote::DeployReport& report)
{
    views::Deployment out;
    out.board = text(report.board.name);
    out.target = text(report.target);
    out.sha256 = text(report.sha256);
    out.isEmulated = report.board.isEmulated();
    for (const remote::DeployStep& step : report.steps)
        out.steps.push_back({text(remote::phaseText(step.phase)), stepState(step.state), step.ms, 0,
                             text(step.detail)});
    const bool staysConnected = report.isFinished && !report.error &&
                                report.steps.back().state == remote::StepState::Skipped;
    if (staysConnected)
        out.steps.back().detail =
            QStringLiteral("still connected for the next one; cleaned up when that ends");
    views::shareOut(out.steps);
    if (!report.facts.machine.empty()) {
        out.findings = findingsOf(report.board, report.facts);
        const size_t known = out.findings.checks.size(); // those of the probe come first
        if (report.checks.size() > known)
            out.preflight = checkRows(std::span(report.checks).subspan(known));
    }
    for (const std::string& sentence : report.log) out.log << text(sentence);
    out.totalMs = report.totalMs;
    out.overheadMs = report.overheadMs();
    out.sentBytes = report.sentBytes;
    out.reusedBytes = report.reusedBytes;
    addSamples(report.sampling, out);
    out.isFinished = report.isFinished;
    if (!report.error) return out;
    out.isCancelled = report.error->code == DiagnosticCode::Cancelled;
    out.isLinkLost = report.error->code == core::BoardCode::LinkLost;
    out.error = text(report.error->message);
    for (const core::Diagnostic& note : report.error->notes)
        out.error += QLatin1Char('\n') + text(note.message);
    return out;
}

std::vector<views::HistoryRow> historyRows(const std::vector<remote::RunRecord>& records,
                                           const Board& board)
{
    std::vector<views::HistoryRow> rows;
    struct Newer
    {
        const remote::RunRecord* record;
        size_t row;
    };
    std::map<std::string, Newer> newer; // of each board
    const std::string here = remote::historyName(board);
    for (const remote::RunRecord& record : records) {
        const remote::Summary summary = remote::summarize(record.runsMs);
        constexpr double kUs = 1000;
        views::HistoryRow row;
        row.id = record.id;
        row.date = QDateTime::fromSecsSinceEpoch(record.unixTimeS)
                       .toString(QStringLiteral("yyyy-MM-dd HH:mm"));
        row.target = text(record.target);
        row.executor = text(record.executor);
        row.board = text(record.board);
        row.isOfBoard = record.board == here;
        row.threads = static_cast<int>(record.threads);
        row.runs = static_cast<int>(record.runsMs.size());
        row.medianUs = summary.median * kUs;
        row.lowUs = summary.ci95Low * kUs;
        row.highUs = summary.ci95High * kUs;
        row.isEmulated = remote::isEmulated(record);
        if (remote::countsInstructions(record)) row.unit = views::CostUnit::Instructions;
        row.artifact = text(record.artifact);
        for (const double ms : record.runsMs) row.runUs.push_back(ms * kUs);
        for (const remote::RunCall& call : record.calls)
            row.calls.push_back({text(call.title), call.ms * kUs});
        if (const auto found = newer.find(record.board); found != newer.end())
            tellChange(*found->second.record, record, rows[found->second.row]);
        newer[record.board] = {&record, rows.size()};
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace tenon::app
