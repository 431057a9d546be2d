// SPDX-License-Identifier: GPL-3.0-or-later
// BoardsPresenter: the list of boards, the selected one and what is known of it; selecting a board
// re-targets the window.
#pragma once

#include "views/models/deployment_rows.h"
#include "views/presenters/board_prompt.h"
#include "views/presenters/workspace_presenter.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QTimer>

#include <map>

namespace tenon::views {

struct BoardsState
{
    BoardState state = BoardState::Unknown; ///< of the selected board
    QString statusText;                     ///< "rpi4 · Raspberry Pi 4 Model B · ready · 51 °C"
    QString title;
    std::optional<GuestMachine> guest; ///< what the selected board, this computer, stands for
    QString machine;                   ///< that the target makes code for: "cortex-m4"
    QString working;                   ///< what is being done with a board; empty: nothing
    bool canChange = false;  ///< nothing runs: boards can be selected, probed, added, removed
    bool canMeasure = false; ///< a board that is not emulated, and whose target is known
    bool canForget = false;
    QString probeCaption; ///< when it was probed
    QString proposedTarget;
    bool canUseProposal = false; ///< it is another target than the window's
    QString problem;             ///< why the last probe or list failed
};

class BoardsPresenter : public QObject
{
    Q_OBJECT
public:
    BoardsPresenter(WorkspacePresenter& workspace, BoardPrompt& prompt, QObject* parent = nullptr);

    const BoardsState& state() const { return m_state; }
    const BoardEntry& board() const { return m_boards[m_selected]; }
    const std::vector<BoardEntry>& boards() const { return m_boards; }
    BoardModel& model() { return *m_model; }
    CheckModel& checks() { return *m_checks; }
    std::vector<BoardKindEntry> kinds() const;
    /// Something was asked for and is not done.
    bool isWorking() const { return !m_state.working.isEmpty(); }
    /// Also while this computer is looked at unasked.
    bool isBusy() const { return isWorking() || m_isLooking; }
    /// What a deployment found out about the selected board.
    void noteFindings(const ProbeFindings& findings);
    void noteOffline();
    /// Why a job with that board failed, which may be that it could not be reached.
    void noteFailure(const QString& name, const core::Diagnostic& error);

public slots:
    /// Reads the list again: another program may have changed it.
    void reload();
    /// Selects a board and compiles for it; looks at it if nobody did yet. False when there is no
    /// such board, or while something runs.
    bool choose(QString name);
    /// Selects without compiling or connecting: for a session that comes back.
    bool select(QString name);
    void probe();
    /// Probes this computer unasked: nobody is disturbed by that.
    void probeIfHere();
    /// What its processor reaches; compiles with these figures from then on.
    void measure();
    void useProposedTarget();
    void add(BoardRequest request);
    void addVirtual(QString kind);
    void forget();
    void cancel();

signals:
    void stateChanged();
    void selected(); ///< another board
    void added(QString name);

private:
    /// What this window has learned of a board.
    struct Known
    {
        bool isReachable = false;
        QString when;
        ProbeFindings findings;
    };
    using Find = std::function<core::Result<ProbeFindings>(core::JobContext&)>;
    void startProbe(bool isAskedFor);
    void finishProbe(const QString& name, const core::Result<ProbeFindings>& found,
                     bool isAskedFor);
    void startAdding(const QString& what, const Find& find);
    void take(const ProbeFindings& findings);
    void retarget(const QString& target);
    BoardState stateOf(const BoardEntry& board) const;
    bool isMismatch(const BoardEntry& board) const;
    QString stateTextOf(const BoardEntry& board, BoardState state) const;
    void followTarget();
    void watchList();
    void lookAtList();
    void refresh();
    void refreshRows();
    void showChecks();

    WorkspacePresenter& m_workspace;
    BoardPrompt& m_prompt;
    std::vector<BoardEntry> m_boards;
    size_t m_selected = 0;
    std::map<QString, Known> m_known;
    BoardsState m_state;
    bool m_isLooking = false;
    QFileSystemWatcher m_watcher; ///< of the list's file, which others write, too
    QTimer m_pause;               ///< until who writes it is done
    QDateTime m_read;             ///< the list as it was then
    QString m_followed;           ///< the target that `guest` and `machine` of the state are of
    BoardModel* m_model;
    CheckModel* m_checks;
};

} // namespace tenon::views
