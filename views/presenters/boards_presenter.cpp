// SPDX-License-Identifier: GPL-3.0-or-later
// Boards: list, probes, and what follows from selecting one.
#include "views/presenters/boards_presenter.h"

#include "core/base/board_code.h"
#include "views/models/machine_text.h"

#include <QDir>
#include <QFileInfo>
#include <QTime>

#include <algorithm>

namespace tenon::views {

namespace {

const QString kBoardKey = QStringLiteral("board");
const QString kHereKey = QStringLiteral("board.here");
constexpr int kPauseMs = 200;
const QString kSeparator = QStringLiteral("  ·  ");

} // namespace

BoardsPresenter::BoardsPresenter(WorkspacePresenter& workspace, BoardPrompt& prompt,
                                 QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_prompt(prompt)
    , m_boards{BoardEntry{.name = QStringLiteral("local")}}
    , m_model(makeBoardModel(this))
    , m_checks(makeCheckModel(this))
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &BoardsPresenter::refresh);
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    connect(&m_pause, &QTimer::timeout, this, &BoardsPresenter::lookAtList);
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] { m_pause.start(); });
    reload();
}

/// The folder: whoever writes the file puts another one in its place.
void BoardsPresenter::watchList()
{
    const QFileInfo file(m_workspace.engine().boards.file);
    if (file.filePath().isEmpty()) return;
    m_read = file.lastModified();
    if (m_watcher.directories().isEmpty() && file.dir().exists())
        m_watcher.addPath(file.absolutePath());
}

void BoardsPresenter::lookAtList()
{
    const QFileInfo file(m_workspace.engine().boards.file);
    if (file.lastModified() == m_read) return; // the session or the history is kept beside it
    if (isWorking()) return m_pause.start();
    reload();
}

std::vector<BoardKindEntry> BoardsPresenter::kinds() const
{
    const auto& list = m_workspace.engine().boards.kinds;
    return list ? list() : std::vector<BoardKindEntry>();
}

void BoardsPresenter::reload()
{
    const auto& list = m_workspace.engine().boards.list;
    if (!list) return refresh();
    watchList();
    auto boards = list();
    m_state.problem = boards ? QString() : QString::fromStdString(boards.error().message);
    if (boards && m_workspace.engine().boards.remark)
        m_state.problem = m_workspace.engine().boards.remark();
    if (!m_state.problem.isEmpty()) m_workspace.jobs().addLog(m_state.problem);
    if (boards && !boards->empty()) {
        const QString name = board().name;
        m_boards = *std::move(boards);
        const auto same = std::find_if(m_boards.begin(), m_boards.end(),
                                       [&](const BoardEntry& each) { return each.name == name; });
        const bool isGone = same == m_boards.end();
        m_selected = isGone ? 0 : static_cast<size_t>(same - m_boards.begin());
        if (isGone) showChecks();
        if (isGone) emit selected();
    }
    refresh();
}

bool BoardsPresenter::select(QString name)
{
    const auto found = std::find_if(m_boards.begin(), m_boards.end(),
                                    [&](const BoardEntry& each) { return each.name == name; });
    if (found == m_boards.end()) return false;
    m_selected = static_cast<size_t>(found - m_boards.begin());
    m_state.problem.clear();
    showChecks();
    refresh();
    emit selected();
    return true;
}

bool BoardsPresenter::choose(QString name)
{
    if (!m_state.canChange || !select(name)) return false;
    retarget(board().target);
    // Asking a tracker would take the board away from somebody else.
    if (!m_known.count(name) && board().way != BoardWay::Tracker) startProbe(true);
    return true;
}

void BoardsPresenter::retarget(const QString& target)
{
    if (target.isEmpty() || target == m_workspace.state().target) return;
    m_workspace.setTarget(target);
    if (m_workspace.document() && m_workspace.document()->isCompiled()) m_workspace.compile();
}

void BoardsPresenter::probe()
{
    if (m_state.canChange) startProbe(true);
}

void BoardsPresenter::probeIfHere()
{
    if (board().isHere() && !isBusy() && !m_known.count(board().name)) startProbe(false);
}

void BoardsPresenter::startProbe(bool isAskedFor)
{
    const auto& engine = m_workspace.engine().boards;
    if (!engine.probe) return;
    if (isAskedFor)
        m_state.working = tr("asking the board what it is");
    else
        m_isLooking = true;
    const QString name = board().name;
    const auto found = std::make_shared<core::Result<ProbeFindings>>(ProbeFindings());
    m_workspace.jobs().startQuietly(
        isAskedFor ? kBoardKey : kHereKey,
        [found, name, probe = engine.probe, ask = m_prompt.asker()](core::JobContext& job) {
            *found = probe(name, ask, job);
            return *found ? core::Status(core::kDone) : core::Status(found->error());
        },
        [this, name, found, isAskedFor](const core::Status& status) {
            finishProbe(name, status ? *found : core::Result<ProbeFindings>(status.error()),
                        isAskedFor);
        });
    refresh();
}

void BoardsPresenter::finishProbe(const QString& name, const core::Result<ProbeFindings>& found,
                                  bool isAskedFor)
{
    if (isAskedFor)
        m_state.working.clear();
    else
        m_isLooking = false;
    m_state.problem.clear();
    if (found) {
        const bool hadTarget = !board().target.isEmpty();
        take(*found);
        if (name == board().name && !hadTarget) retarget(board().target);
    } else if (found.error().code != core::DiagnosticCode::Cancelled) {
        m_known[name].isReachable = false;
        m_state.problem = QString::fromStdString(found.error().message);
        if (isAskedFor)
            m_workspace.report(tr("The board %1 could not be probed").arg(name), found.error());
    }
    refresh();
}

void BoardsPresenter::take(const ProbeFindings& findings)
{
    m_known[findings.board.name] = {true, QTime::currentTime().toString(QStringLiteral("HH:mm")),
                                    findings};
    for (BoardEntry& each : m_boards)
        if (each.name == findings.board.name) each = findings.board;
    showChecks();
    emit selected(); // its budget may be known now
}

void BoardsPresenter::noteFindings(const ProbeFindings& findings)
{
    take(findings);
    refresh();
}

void BoardsPresenter::noteOffline()
{
    m_known[board().name].isReachable = false;
    refresh();
}

void BoardsPresenter::noteFailure(const QString& name, const core::Diagnostic& error)
{
    const auto& code = error.code;
    if (code != core::BoardCode::BoardUnreachable && code != core::BoardCode::ConnectTimedOut &&
        code != core::BoardCode::LinkLost)
        return;
    m_known[name].isReachable = false;
    refresh();
}

void BoardsPresenter::useProposedTarget() { retarget(m_state.proposedTarget); }

void BoardsPresenter::add(BoardRequest request)
{
    const auto& engine = m_workspace.engine().boards;
    if (!engine.add) return;
    startAdding(tr("Add the board %1").arg(request.name),
                [request, add = engine.add, ask = m_prompt.asker()](core::JobContext& job) {
                    return add(request, ask, job);
                });
}

void BoardsPresenter::addVirtual(QString kind)
{
    const auto& engine = m_workspace.engine().boards;
    if (!engine.addVirtual) return;
    startAdding(tr("Make a virtual board"),
                [kind, add = engine.addVirtual](core::JobContext& job) { return add(kind, job); });
}

void BoardsPresenter::startAdding(const QString& what, const Find& find)
{
    if (!m_state.canChange) return;
    m_workspace.forgetFailure();
    m_state.working = what;
    const auto found = std::make_shared<ProbeFindings>();
    m_workspace.jobs().start(
        kBoardKey, what,
        [found, find](core::JobContext& job) -> core::Status {
            auto result = find(job);
            if (!result) return result.error();
            *found = *std::move(result);
            return core::kDone;
        },
        [this, what, found](const core::Status& status) {
            m_state.working.clear();
            if (!status) {
                m_workspace.report(tr("%1: it did not work").arg(what), status.error());
                return refresh();
            }
            reload();
            take(*found);
            choose(found->board.name);
            emit added(found->board.name);
        });
    refresh();
}

void BoardsPresenter::measure()
{
    const auto& engine = m_workspace.engine().boards;
    if (!m_state.canMeasure || !engine.measure) return;
    const QString name = board().name, title = board().titleInText();
    m_state.working = tr("measuring %1").arg(title);
    m_workspace.forgetFailure();
    const auto target = std::make_shared<QString>();
    m_workspace.jobs().start(
        kBoardKey, tr("Measure %1").arg(title),
        [target, name, measure = engine.measure, ask = m_prompt.asker()](core::JobContext& job) {
            const auto found = measure(name, ask, job);
            if (found) *target = *found;
            return found ? core::Status(core::kDone) : core::Status(found.error());
        },
        [this, name, title, target](const core::Status& status) {
            m_state.working.clear();
            if (!status)
                m_workspace.report(tr("Measuring %1 did not work").arg(title), status.error());
            reload(); // figures that contradict themselves are gone from its target, too
            if (status && name == board().name) retarget(*target);
        });
    refresh();
}

void BoardsPresenter::forget()
{
    const auto& remove = m_workspace.engine().boards.remove;
    if (!m_state.canForget || !remove) return;
    const QString name = board().name;
    m_state.working = tr("Remove the board %1").arg(name);
    m_workspace.jobs().start(
        kBoardKey, m_state.working,
        [name, remove](core::JobContext& job) { return remove(name, job); },
        [this, name](const core::Status& status) {
            m_state.working.clear();
            if (!status)
                m_workspace.report(tr("The board %1 could not be removed").arg(name),
                                   status.error());
            m_known.erase(name);
            reload();
            if (board().isHere()) choose(board().name);
        });
    refresh();
}

void BoardsPresenter::cancel()
{
    if (isWorking()) m_workspace.jobs().cancelKey(kBoardKey);
}

bool BoardsPresenter::isMismatch(const BoardEntry& board) const
{
    const WorkspaceState& state = m_workspace.state();
    const auto& isSame = m_workspace.engine().boards.isSameMachine;
    if (!isSame || board.target.isEmpty() || board.target == state.target) return false;
    return state.isTargetValid && !isSame(state.target, board.target);
}

BoardState BoardsPresenter::stateOf(const BoardEntry& which) const
{
    const auto known = m_known.find(which.name);
    if (which.name == board().name) {
        if (isWorking() || m_workspace.state().isBusy) return BoardState::Busy;
        if (isMismatch(which))
            return which.isHere() && m_state.guest ? BoardState::Guest : BoardState::Mismatch;
    }
    if (known == m_known.end()) return which.isHere() ? BoardState::Ready : BoardState::Unknown;
    return known->second.isReachable ? BoardState::Ready : BoardState::Offline;
}

QString BoardsPresenter::stateTextOf(const BoardEntry& board, BoardState state) const
{
    if (state == BoardState::Guest && board.isHere() && !m_state.guest->isEmulated)
        return tr("runs %1").arg(m_state.machine);
    return boardStateText(state, m_state.machine);
}

/// Looking for an emulator asks the file system: once for each target.
void BoardsPresenter::followTarget()
{
    const QString& target = m_workspace.state().target;
    if (target == m_followed) return;
    m_followed = target;
    const auto& guestOf = m_workspace.engine().boards.guestOf;
    m_state.guest = guestOf ? guestOf(target) : std::nullopt;
    m_state.machine = machineText(target);
}

void BoardsPresenter::showChecks()
{
    const auto known = m_known.find(board().name);
    m_checks->setRows(known == m_known.end() ? std::vector<CheckRow>()
                                             : known->second.findings.checks);
}

void BoardsPresenter::refreshRows()
{
    std::vector<BoardRow> rows;
    for (size_t i = 0; i < m_boards.size(); ++i) {
        const BoardState state = stateOf(m_boards[i]);
        rows.push_back({m_boards[i], state, i == m_selected, stateTextOf(m_boards[i], state)});
    }
    const auto isSame = [](const BoardRow& a, const BoardRow& b) {
        return a.board.name == b.board.name && a.state == b.state && a.stateText == b.stateText &&
               a.isSelected == b.isSelected && a.board.target == b.board.target &&
               a.board.summary == b.board.summary;
    };
    // Progress of jobs comes often and changes no row.
    const auto& shown = m_model->rows();
    if (!std::equal(rows.begin(), rows.end(), shown.begin(), shown.end(), isSame))
        m_model->setRows(std::move(rows));
}

void BoardsPresenter::refresh()
{
    followTarget();
    const auto known = m_known.find(board().name);
    const bool isProbed = known != m_known.end() && !known->second.findings.checks.empty();
    m_state.canChange = !isWorking() && !m_workspace.state().isBusy;
    m_state.canMeasure = m_state.canChange && !board().isEmulated() &&
                         board().way != BoardWay::Serial && !board().target.isEmpty();
    m_state.canForget = m_state.canChange && !board().isHere();
    m_state.state = stateOf(board());
    m_state.title = board().title();
    QStringList parts{board().title()};
    if (!board().isHere()) parts << board().summary.section(QLatin1Char(','), 0, 0);
    parts << (isWorking() ? m_state.working : stateTextOf(board(), m_state.state));
    if (isProbed) parts << known->second.findings.condition;
    parts.removeAll(QString());
    m_state.statusText = parts.join(kSeparator);
    m_state.probeCaption = isWorking() ? m_state.working
                           : isProbed  ? tr("at %1").arg(known->second.when)
                                       : QString();
    m_state.proposedTarget = isProbed ? known->second.findings.proposedTarget : QString();
    m_state.canUseProposal = m_state.canChange && !m_state.proposedTarget.isEmpty() &&
                             m_state.proposedTarget != m_workspace.state().target;
    refreshRows();
    emit stateChanged();
}

} // namespace tenon::views
