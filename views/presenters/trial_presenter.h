// SPDX-License-Identifier: GPL-3.0-or-later
// TrialPresenter: the opened model on a picture or a sound: a draft of what to do, the job, and
// what the model said.
#pragma once

#include "views/presenters/board_prompt.h"
#include "views/presenters/boards_presenter.h"
#include "views/presenters/workspace_presenter.h"

namespace tenon::views {

struct TrialState
{
    TrialQuestion draft;
    QString problem; ///< why it cannot start; empty: it can
    QString commandLine;
    QString place;     ///< "on this computer"
    QString summary;   ///< of the last result, or why there is none
    QString effective; ///< everything that was done to the file, as a line
    QString note;
    Thumbnail seen;
    bool isRunning = false;
    bool canStart = false;
};

/// What holds for one model from then on.
struct TrialHabit
{
    QString preprocessing;
    QString labels;
    friend bool operator==(const TrialHabit&, const TrialHabit&) = default;
};

class TrialPresenter : public QObject
{
    Q_OBJECT
public:
    TrialPresenter(WorkspacePresenter& workspace, BoardsPresenter& boards, BoardPrompt& prompt,
                   QObject* parent = nullptr);

    const TrialState& state() const { return m_state; }
    TrialModel& results() { return *m_results; }
    const QString& model() const { return m_model; }
    QString keys() const { return m_workspace.engine().trying.keys; }

public slots:
    /// The draft is about the opened model; of another one `habit` is what was done to its files.
    void start(tenon::views::TrialHabit habit);
    void setFile(QString path);
    void setPreprocessing(QString line);
    void setLabels(QString path);
    void run();

signals:
    void stateChanged();
    /// The model ran: this is to be remembered for it.
    void settled(QString model, tenon::views::TrialHabit habit);

private:
    void finish(const TrialQuestion& asked, const TrialOutcome& outcome,
                const core::Status& status);
    void clearResult();
    QString problem() const;
    void refresh();

    WorkspacePresenter& m_workspace;
    BoardsPresenter& m_boards;
    BoardPrompt& m_prompt;
    TrialState m_state;
    QString m_model;
    TrialModel* m_results;
};

} // namespace tenon::views
