// SPDX-License-Identifier: GPL-3.0-or-later
// DeployPresenter: one click from model to times on the selected board, and what was measured there
// before.
#pragma once

#include "views/presenters/boards_presenter.h"

namespace tenon::views {

struct DeployState
{
    bool canDeploy = false;
    bool isRunning = false;
    bool hasReport = false;                  ///< of the selected board
    bool isConnected = false;                ///< the connection stays for the next deployment
    bool hasResult = false;                  ///< the model shown has been measured
    QString budget = QStringLiteral("10 s"); ///< the last one that was valid
    bool isBudgetValid = true;
    bool isEmulated = false; ///< the times that are shown are those of an emulated processor
    QString caption;         ///< "done in 3.10 s", "upload …", "failed: run"
    QString error;           ///< why it failed
    QString overheadText;    ///< "overhead 0.42 s · 3.40 MiB sent, 0 B were there"
    QString resultText;      ///< median and spread
    QString resultDetail;    ///< interval, threads, sum of the calls
    QString hygiene;         ///< what the board was like while measuring
    QString historyCaption;  ///< "12 measurements on rpi4"
    QString historyProblem;  ///< why there is no history
};

class DeployPresenter : public QObject
{
    Q_OBJECT
public:
    DeployPresenter(WorkspacePresenter& workspace, BoardsPresenter& boards, BoardPrompt& prompt,
                    QObject* parent = nullptr);

    const DeployState& state() const { return m_state; }
    const Deployment& report() const { return m_report; }
    StepModel& steps() { return *m_steps; }
    CheckModel& preflight() { return *m_preflight; }
    HistoryModel& history() { return *m_history; } ///< on the board in use
    HistoryModel& runs() { return *m_runs; }       ///< on every board
    bool isLoading() const { return m_isLoading; }

public slots:
    /// Seconds that measuring may take, "10" or "10 s"; what is no such number changes nothing.
    void setBudget(QString text);
    /// Compiles for the board, sends, runs, measures; nothing while another job runs.
    void deploy();
    /// Ends the connection that was kept; the board is as it was before.
    void disconnectBoard();
    void setDocument();

signals:
    void stateChanged();
    void logChanged();

private:
    void show(const Deployment& report);
    void finish(const DocumentPtr& deployed, const DeployOutcome& outcome,
                const core::Status& status);
    void markOld();
    void takeBoard();
    void loadHistory();
    void refresh();
    void refreshResult();

    WorkspacePresenter& m_workspace;
    BoardsPresenter& m_boards;
    BoardPrompt& m_prompt;
    Deployment m_report;
    QString m_boardName;
    DeployState m_state;
    double m_budgetS = 10;
    bool m_isLoading = false;
    bool m_isConnected = false;
    StepModel* m_steps;
    CheckModel* m_preflight;
    HistoryModel* m_history;
    HistoryModel* m_runs;
};

} // namespace tenon::views
