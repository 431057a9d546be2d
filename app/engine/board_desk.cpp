// SPDX-License-Identifier: GPL-3.0-or-later
// Boards for the window; what happens in a deployment is in deploy_model.cpp.
#include "app/engine/board_desk.h"

#include "app/engine/backing.h"
#include "app/engine/board_builder.h"
#include "app/engine/compare_builder.h"
#include "app/engine/deploy_model.h"
#include "app/engine/measure_here.h"
#include "app/engine/qt_text.h"
#include "app/engine/quantize_builder.h"
#include "app/engine/trial_builder.h"
#include "compiler/driver/target_cores.h"
#include "core/base/board_code.h"
#include "core/base/text.h"
#include "core/ir/module_hash.h"
#include "remote/board/profile.h"
#include "remote/deploy/deploy_record.h"
#include "remote/deploy/measure_board.h"
#include "remote/peer/peer.h"
#include "remote/virtual/virtual_board.h"

#include <QFile>

#include <utility>

namespace tenon::app {

using core::JobContext;
using core::Result;
using core::Status;
using remote::Board;
using views::BoardAsk;
using views::BoardQuestion;
using views::ProbeFindings;

namespace {

constexpr std::chrono::milliseconds kGlance{50};
constexpr size_t kHistoryRows = 200;

/// What makes a connection another one.
std::string keyOf(const Board& board)
{
    return board.name + "\n" + board.address() + "\n" + board.key + "\n" + board.identityFile +
           "\n" + board.folder + "\n" + board.project + "\n" + board.flash;
}

} // namespace

bool DeskPrompt::acceptHostKey(const remote::HostKeyQuestion& question)
{
    BoardQuestion asked;
    asked.kind = BoardQuestion::Kind::HostKey;
    asked.host = text(question.host);
    asked.keyType = text(question.keyType);
    asked.fingerprint = text(question.fingerprint);
    return m_ask && m_job && m_ask(asked, *m_job).has_value();
}

std::optional<std::string> DeskPrompt::secret(const remote::SecretQuestion& question)
{
    BoardQuestion asked;
    asked.kind = BoardQuestion::Kind::Secret;
    asked.text = text(question.text);
    asked.mayBeShown = question.mayBeShown;
    return m_ask && m_job ? m_ask(asked, *m_job) : std::nullopt;
}

BoardDesk::BoardDesk(EngineOptions options)
    : m_options(std::move(options))
    , m_store(m_options.configFolder.toStdString(), [this](const core::Diagnostic& note) {
        const std::lock_guard lock(m_remarkMutex);
        m_remark = text(note.message);
    })
{
}

Status BoardDesk::wait(std::unique_lock<std::timed_mutex>& lock, const JobContext& job)
{
    while (!lock.try_lock_for(kGlance))
        if (Status go = job.checkStop(); !go) return go;
    return core::kDone;
}

remote::Deployer& BoardDesk::deployerFor(const Board& board)
{
    if (!m_deployer || m_boardKey != keyOf(board)) {
        m_deployer.reset(); // hangs up
        m_boardKey = keyOf(board);
        m_deployer = std::make_unique<remote::Deployer>(
            board, remote::DeployEnvironment{
                       .ssh = {.knownHostsFile = m_store.knownHostsPath(), .prompt = &m_prompt}});
    }
    return *m_deployer;
}

QString BoardDesk::takeRemark()
{
    const std::lock_guard lock(m_remarkMutex);
    return std::exchange(m_remark, {});
}

Result<std::vector<views::BoardEntry>> BoardDesk::list() const
{
    const auto boards = m_store.list();
    if (!boards) return boards.error();
    std::vector<views::BoardEntry> entries;
    for (const Board& board : **boards) entries.push_back(boardEntry(board));
    return entries;
}

Result<ProbeFindings> BoardDesk::look(Board& board, const BoardAsk& ask, JobContext& job)
{
    std::unique_lock lock(m_mutex, std::defer_lock);
    if (Status mine = wait(lock, job); !mine) return mine.error();
    m_prompt.serve(ask, &job);
    remote::Deployer& deployer = deployerFor(board);
    const bool wasConnected = deployer.isConnected();
    auto facts = deployer.probe({}, job);
    if (!facts && wasConnected && job.checkStop()) { // the old connection may have died since
        static_cast<void>(deployer.close());
        facts = deployer.probe({}, job);
    }
    const Status closed = wasConnected && facts ? Status(core::kDone) : deployer.close();
    m_prompt.serve({}, nullptr);
    if (!facts) return facts.error();
    if (!closed) return closed.error();
    board.summary = remote::summaryLine(*facts);
    board.threads = facts->usableCores();
    if (const auto target = remote::proposedTarget(*facts); target && board.target.empty())
        board.target = *target;
    return findingsOf(board, *facts);
}

Result<ProbeFindings> BoardDesk::add(const views::BoardRequest& request, const BoardAsk& ask,
                                     JobContext& job)
{
    auto board = boardOf(request);
    if (!board) return board.error();
    if (m_store.find(board->name))
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "there is a board " + core::quoted(board->name) +
                                   " already; give this one another name");
    job.progress(0.3, "asking the board what it is");
    auto seen = look(*board, ask, job);
    if (!seen) return seen;
    if (const auto kept = m_store.add(*board); !kept) return kept.error();
    return seen;
}

Result<ProbeFindings> BoardDesk::addVirtual(const QString& kind, JobContext& job)
{
    const auto profile = remote::findProfile(kind.toStdString());
    if (!profile) return profile.error();
    std::string name = profile->name;
    for (int i = 2; m_store.find(name); ++i) name = profile->name + "-" + std::to_string(i);
    auto board =
        remote::makeVirtualBoard(name, *profile, m_store.folder() + "/virtual/" + name, job);
    if (!board) return board.error();
    job.progress(0.95, "asking the board what it is");
    auto seen = look(*board, {}, job);
    const auto kept = seen ? m_store.add(*board) : Result<remote::BoardList>(seen.error());
    if (!kept) {
        static_cast<void>(remote::removeVirtualBoard(*board)); // it is in no list
        return kept.error();
    }
    return seen;
}

Result<ProbeFindings> BoardDesk::probe(const QString& name, const BoardAsk& ask, JobContext& job)
{
    auto board = m_store.find(name.toStdString());
    if (!board) return board.error();
    auto seen = look(*board, ask, job);
    if (seen && board->kind != remote::BoardKind::ThisComputer)
        if (const auto kept = m_store.update(*board); !kept) return kept.error();
    return seen;
}

Result<QString> BoardDesk::measure(const QString& name, const BoardAsk& ask, JobContext& job)
{
    auto board = m_store.find(name.toStdString());
    if (!board) return board.error();
    std::unique_lock lock(m_mutex, std::defer_lock);
    if (Status mine = wait(lock, job); !mine) return mine.error();
    m_prompt.serve(ask, &job);
    remote::Deployer& deployer = deployerFor(*board);
    const bool wasConnected = deployer.isConnected();
    const auto found = remote::measureBoard(deployer, *board, {}, job);
    const Status closed = wasConnected && found ? Status(core::kDone) : deployer.close();
    m_prompt.serve({}, nullptr);
    if (board->kind != remote::BoardKind::ThisComputer)
        if (const auto kept = m_store.update(*board); !kept) return kept.error();
    if (!found) return found.error();
    if (!closed) return closed.error();
    return text(board->target);
}

Status BoardDesk::remove(const QString& name, JobContext& job)
{
    const auto board = m_store.find(name.toStdString());
    if (!board) return board.error();
    std::unique_lock lock(m_mutex, std::defer_lock);
    if (Status mine = wait(lock, job); !mine) return mine;
    m_deployer.reset();
    if (const auto list = m_store.remove(board->name); !list) return list.error();
    return remote::removeVirtualBoard(*board);
}

Status BoardDesk::disconnect()
{
    const std::scoped_lock lock(m_mutex);
    return m_deployer ? m_deployer->close() : Status(core::kDone);
}

namespace {

/// True when the connection that was kept had died before anything ran on it. What is known of the
/// board says nothing: it comes from the time when it lived.
bool isStale(const views::DeployOutcome& outcome)
{
    if (!outcome.error || outcome.error->code != core::BoardCode::LinkLost) return false;
    for (const views::StepRow& step : outcome.report.steps)
        if (step.name == text(std::string(remote::phaseText(remote::DeployPhase::Load))))
            return step.state != views::StepState::Done;
    return true;
}

} // namespace

views::DeployOutcome BoardDesk::deploy(const views::DeployQuestion& question, const BoardAsk& ask,
                                       const views::DeployWatcher& watch, JobContext& job)
{
    views::DeployOutcome outcome;
    const auto board = m_store.find(question.board.toStdString());
    if (!board) {
        outcome.error = board.error();
        return outcome;
    }
    std::unique_lock lock(m_mutex, std::defer_lock);
    if (Status mine = wait(lock, job); !mine) {
        outcome.error = mine.error();
        return outcome;
    }
    m_prompt.serve(ask, &job);
    remote::Deployer& deployer = deployerFor(*board);
    const DeployWork work{m_options, question, *board, watch, m_peaks};
    const bool wasConnected = deployer.isConnected();
    outcome = deployModel(work, deployer, job);
    if (wasConnected && isStale(outcome)) outcome = deployModel(work, deployer, job);
    m_prompt.serve({}, nullptr);
    outcome.report.isConnected = deployer.isConnected();
    return outcome;
}

namespace {

/// The board of a question; none is this computer.
Result<remote::Board> boardOf(const remote::BoardStore& store, const QString& name)
{
    return store.find(name.isEmpty() ? std::string(remote::kThisComputer) : name.toStdString());
}

} // namespace

template <class Outcome>
Result<Outcome> BoardDesk::workOn(const Board& board, unsigned threads, const BoardAsk& ask,
                                  JobContext& job,
                                  const std::function<Result<Outcome>(const runs::RunPlace&)>& work)
{
    if (board.kind == remote::BoardKind::ThisComputer)
        return work(runs::RunPlace{.threads = threads});
    std::unique_lock lock(m_mutex, std::defer_lock);
    if (Status mine = wait(lock, job); !mine) return mine.error();
    m_prompt.serve(ask, &job);
    remote::Deployer& deployer = deployerFor(board);
    const bool wasConnected = deployer.isConnected();
    runs::RunPlace place{&deployer, board.name, threads};
    place.boardProject = board.project;
    auto outcome = work(place);
    if (!outcome && wasConnected && outcome.error().code == core::BoardCode::LinkLost) {
        static_cast<void>(deployer.close()); // the kept connection had died
        outcome = work(place);
    }
    if (!wasConnected || !outcome) static_cast<void>(deployer.close());
    m_prompt.serve({}, nullptr);
    return outcome;
}

Result<views::CompareOutcome> BoardDesk::compare(const views::CompareQuestion& question,
                                                 const BoardAsk& ask, JobContext& job)
{
    const auto board = boardOf(m_store, question.board);
    if (!board) return board.error();
    views::CompareQuestion asked = question;
    if (asked.options.target.isEmpty())
        asked.options.target = text(compiler::withCores(board->target, board->threads));
    return workOn<views::CompareOutcome>(
        *board, static_cast<unsigned>(asked.options.threads), ask, job,
        [&](const runs::RunPlace& place) { return compareFile(m_options, asked, place, job); });
}

Result<views::QuantizeOutcome> BoardDesk::quantize(const views::QuantizeQuestion& question,
                                                   const BoardAsk& ask, JobContext& job)
{
    const auto board = boardOf(m_store, question.board);
    if (!board) return board.error();
    return workOn<views::QuantizeOutcome>(
        *board, static_cast<unsigned>(question.threads), ask, job,
        [&](const runs::RunPlace& place) { return quantizeFile(m_options, question, place, job); });
}

Result<views::TrialOutcome> BoardDesk::tryOn(const views::DocumentPtr& document,
                                             const views::BuildOptions& build,
                                             const views::TrialQuestion& question,
                                             const BoardAsk& ask, JobContext& job)
{
    const auto board = boardOf(m_store, question.board);
    if (!board) return board.error();
    return workOn<views::TrialOutcome>(
        *board, static_cast<unsigned>(build.threads), ask, job, [&](const runs::RunPlace& place) {
            return tryDocument(m_options, document, build, question, place, job);
        });
}

Result<std::vector<views::HistoryRow>> BoardDesk::history(const views::DocumentPtr& document,
                                                          const QString& name) const
{
    const auto board = m_store.find(name.toStdString());
    if (!board) return board.error();
    if (!QFile::exists(text(m_store.historyPath()))) return std::vector<views::HistoryRow>();
    const auto history = remote::RunHistory::open(m_store.historyPath());
    if (!history) return history.error();
    if ((*history)->note()) return *(*history)->note(); // said once; it is a new file now
    const auto records =
        (*history)->recent(kHistoryRows, core::moduleHash(backingOf(document)->loaded->module));
    if (!records) return records.error();
    return historyRows(*records, *board);
}

namespace {

views::BoardEngine boardEngine(const std::shared_ptr<BoardDesk>& desk)
{
    views::BoardEngine engine;
    engine.file = desk->file();
    engine.list = [desk] { return desk->list(); };
    engine.remark = [desk] { return desk->takeRemark(); };
    engine.kinds = boardKinds;
    engine.add = [desk](const auto& request, const auto& ask, JobContext& job) {
        return desk->add(request, ask, job);
    };
    engine.addVirtual = [desk](const QString& kind, JobContext& job) {
        return desk->addVirtual(kind, job);
    };
    engine.probe = [desk](const QString& board, const auto& ask, JobContext& job) {
        return desk->probe(board, ask, job);
    };
    engine.measure = [desk](const QString& board, const auto& ask, JobContext& job) {
        return desk->measure(board, ask, job);
    };
    engine.remove = [desk](const QString& board, JobContext& job) {
        return desk->remove(board, job);
    };
    engine.disconnect = [desk] { return desk->disconnect(); };
    engine.deploy = [desk](const auto& question, const auto& ask, const auto& watch,
                           JobContext& job) { return desk->deploy(question, ask, watch, job); };
    engine.history = [desk](const views::DocumentPtr& document, const QString& board) {
        return desk->history(document, board);
    };
    engine.guestOf = guestOf;
    engine.isSameMachine = isSameMachine;
    return engine;
}

} // namespace

void addBoards(const EngineOptions& options, views::Engine& engine)
{
    const auto desk = std::make_shared<BoardDesk>(options);
    engine.boards = boardEngine(desk);
    engine.comparing.run = [desk](const views::CompareQuestion& question, const BoardAsk& ask,
                                  JobContext& job) { return desk->compare(question, ask, job); };
    engine.quantize = [desk](const views::QuantizeQuestion& question, const BoardAsk& ask,
                             JobContext& job) { return desk->quantize(question, ask, job); };
    engine.comparing.values = [](const views::CompareOutcome& outcome, size_t tensor, JobContext&) {
        return valuesOf(outcome, tensor);
    };
    engine.trying = {
        .run = [desk](views::DocumentPtr document, const views::BuildOptions& build,
                      const views::TrialQuestion& question, const BoardAsk& ask,
                      JobContext& job) { return desk->tryOn(document, build, question, ask, job); },
        .checkLine = checkPreprocessing,
        .keys = preprocessingKeys()};
    engine.comparing.hasOnnxRuntime = !remote::libraryOfPeer().empty();
}

} // namespace tenon::app
