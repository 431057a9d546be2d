// SPDX-License-Identifier: GPL-3.0-or-later
// What the board engine would say, without any board.
#include "tests/app/workbench/fake_boards.h"

#include <chrono>
#include <mutex>
#include <thread>

namespace tenon::tests {

using namespace views;

namespace {

const QString kHere = QStringLiteral("local");
const QString kBroken = QStringLiteral("broken");
const QString kAsking = QStringLiteral("asking");
const char* const kSteps[] = {"look",   "connect", "probe",   "compile", "check",
                              "upload", "run",     "measure", "history", "clean up"};

struct Boards
{
    std::mutex mutex;
    std::vector<BoardEntry> entries;

    std::vector<BoardEntry> list()
    {
        const std::scoped_lock lock(mutex);
        return entries;
    }
    BoardEntry named(const QString& name)
    {
        for (const BoardEntry& each : list())
            if (each.name == name) return each;
        return {.name = name};
    }
    void add(const BoardEntry& entry)
    {
        const std::scoped_lock lock(mutex);
        std::erase_if(entries, [&](const BoardEntry& each) { return each.name == entry.name; });
        entries.push_back(entry);
    }
    void remove(const QString& name)
    {
        const std::scoped_lock lock(mutex);
        std::erase_if(entries, [&](const BoardEntry& each) { return each.name == name; });
    }
};

/// As long as something that can be cancelled takes.
core::Status pause(core::JobContext& job)
{
    constexpr std::chrono::milliseconds kPause{2};
    std::this_thread::sleep_for(kPause);
    return job.checkStop();
}

core::Result<ProbeFindings> look(const BoardEntry& board, const BoardAsk& ask,
                                 core::JobContext& job)
{
    if (const core::Status going = pause(job); !going) return going.error();
    if (board.name == kBroken)
        return core::makeError(core::DiagnosticCode::BoardFailure, "nobody answers");
    if (board.name == kAsking && ask &&
        !ask({BoardQuestion::Kind::HostKey,
              board.name,
              {},
              QStringLiteral("ED25519"),
              QStringLiteral("SHA256:none"),
              false},
             job))
        return core::makeError(core::DiagnosticCode::BoardFailure, "nobody vouched for it");
    ProbeFindings findings;
    findings.board = board;
    findings.board.summary = QStringLiteral("made up, 4 cores");
    findings.checks = {{CheckVerdict::Good, QStringLiteral("processor"), QStringLiteral("any"), {}},
                       {CheckVerdict::Doubtful, QStringLiteral("clock"), QStringLiteral("slow"),
                        QStringLiteral("set the governor")}};
    findings.proposedTarget = board.target;
    findings.condition = QStringLiteral("51 °C");
    return findings;
}

std::shared_ptr<Document> timed(const Document& compiled, const QString& board)
{
    auto document = std::make_shared<Document>(compiled);
    Measurement measured;
    measured.board = board;
    measured.isEmulated = board == kAsking;
    measured.runs = 3;
    measured.medianUs = 1000;
    measured.lowUs = 990;
    measured.highUs = 1010;
    measured.runUs = {990, 1000, 1010};
    measured.calls.assign(document->calls.size(), {10, 5, true});
    document->measurement = measured;
    ++document->revision;
    return document;
}

DeployOutcome deploy(const Engine& engine, const BoardEntry& board, const DeployQuestion& question,
                     const BoardAsk& ask, const DeployWatcher& watch, core::JobContext& job)
{
    DeployOutcome outcome;
    Deployment& report = outcome.report;
    report.board = board.name;
    for (const char* name : kSteps) report.steps.push_back({QString::fromLatin1(name)});
    core::Status status = core::kDone;
    for (size_t i = 0; i < report.steps.size() && status; ++i) {
        report.steps[i].state = StepState::Running;
        watch(report);
        if (i == 2) {
            auto found = look(board, ask, job);
            if (found) report.findings = *std::move(found);
            status = found ? core::Status(core::kDone) : core::Status(found.error());
        } else if (i == 3) {
            auto compiled = engine.compile(question.document, question.options, job);
            if (compiled) outcome.document = *std::move(compiled);
            status = compiled ? core::Status(core::kDone) : core::Status(compiled.error());
        } else {
            status = pause(job);
        }
        report.steps[i].state = status ? StepState::Done : StepState::Failed;
        report.log << report.steps[i].name;
    }
    report.isFinished = true;
    report.isCancelled = job.stopRequested();
    report.isConnected = bool(status) && !board.isHere();
    if (status)
        outcome.document = timed(*outcome.document, board.name);
    else
        outcome.error = status.error();
    if (!status) report.error = QString::fromStdString(status.error().message);
    return outcome;
}

core::Result<QString> measure(Boards& boards, const QString& name, core::JobContext& job)
{
    if (const core::Status going = pause(job); !going) return going.error();
    if (name == kBroken)
        return core::makeError(core::DiagnosticCode::BoardFailure, "nobody answers");
    BoardEntry board = boards.named(name);
    board.target = QStringLiteral("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 "
                                  "-machine=float_macs=7,l2_bytes=524288");
    boards.add(board);
    return board.target;
}

BoardEntry entryOf(const BoardRequest& request)
{
    return {.name = request.name,
            .way = request.way,
            .address = request.host,
            .target = QStringLiteral("llvm -mcpu=native")};
}

void takeDeployments(Engine& engine, const std::shared_ptr<Boards>& boards)
{
    engine.boards.deploy = [boards, whole = engine](const DeployQuestion& question,
                                                    const BoardAsk& ask, const DeployWatcher& watch,
                                                    core::JobContext& job) {
        return deploy(whole, boards->named(question.board), question, ask, watch, job);
    };
    engine.boards.history = [](const DocumentPtr&, const QString& board) {
        std::vector<HistoryRow> rows(static_cast<size_t>(board.size() % 4));
        for (size_t i = 0; i < rows.size(); ++i) {
            rows[i].id = static_cast<qint64>(i);
            rows[i].medianUs = 1000 + 100 * static_cast<double>(i);
            rows[i].lowUs = rows[i].medianUs - 1;
            rows[i].highUs = rows[i].medianUs + 1;
        }
        return core::Result<std::vector<HistoryRow>>(rows);
    };
    engine.boards.disconnect = [] { return core::Status(core::kDone); };
}

} // namespace

void useFakeBoards(Engine& engine)
{
    const auto boards = std::make_shared<Boards>();
    const QString arm = QStringLiteral("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72");
    boards->entries = {
        {.name = kHere, .target = QStringLiteral("llvm -mcpu=native")},
        {.name = QStringLiteral("pi"), .way = BoardWay::Ssh, .address = kHere, .target = arm},
        {.name = kBroken, .way = BoardWay::Tracker, .target = arm},
        {.name = kAsking, .way = BoardWay::Virtual, .target = QStringLiteral("llvm")}};
    BoardEngine& made = engine.boards;
    made.list = [boards] { return core::Result<std::vector<BoardEntry>>(boards->list()); };
    made.probe = [boards](const QString& name, const BoardAsk& ask, core::JobContext& job) {
        return look(boards->named(name), ask, job);
    };
    made.add = [boards](const BoardRequest& request, const BoardAsk& ask, core::JobContext& job) {
        auto found = look(entryOf(request), ask, job);
        if (found) boards->add(found->board);
        return found;
    };
    made.addVirtual = [boards](const QString& kind, core::JobContext& job) {
        BoardRequest request;
        request.name = kind;
        request.way = BoardWay::Virtual;
        auto found = look(entryOf(request), {}, job);
        if (found) boards->add(found->board);
        return found;
    };
    made.measure = [boards](const QString& name, const BoardAsk&, core::JobContext& job) {
        return measure(*boards, name, job);
    };
    made.remove = [boards](const QString& name, core::JobContext& job) {
        boards->remove(name);
        return pause(job);
    };
    takeDeployments(engine, boards);
}

} // namespace tenon::tests
