// SPDX-License-Identifier: GPL-3.0-or-later
// The Deploy perspective: boards and what they are, a deployment step by step, its result and what
// was measured before.
#pragma once

#include "views/pages/common/notice.h"
#include "views/pages/common/wrapped_table.h"
#include "views/pages/deploy/board_list.h"
#include "views/presenters/deploy_presenter.h"

#include <QLineEdit>
#include <QPlainTextEdit>
#include <QStackedWidget>

namespace tenon::views {

class DeployPage : public QWidget
{
    Q_OBJECT
public:
    DeployPage(const ThemeSource& themes, WorkspacePresenter& workspace, BoardsPresenter& boards,
               DeployPresenter& deploy, QWidget* parent = nullptr);

    BoardList& boards() { return *m_boardList; }
    WrappedTable& checks() { return *m_checks; }
    DataTable& steps() { return *m_steps; }
    WrappedTable& preflight() { return *m_preflight; }
    DataTable& calls() { return *m_calls; }
    DataTable& history() { return *m_history; }
    QPlainTextEdit& log() { return *m_log; }
    PillButton& deployButton() { return *m_start; }
    QLineEdit& budget() { return *m_budget; }
    PillButton& virtualButton() { return *m_addVirtual; }
    PillButton& graphButton() { return *m_showOnGraph; }
    /// A menu of the kinds of boards that can be emulated here, above a point of the screen.
    void chooseVirtual(QPoint below);

signals:
    void addRequested();
    void forgetRequested();
    void graphRequested();
    void runRequested(int row); ///< of the history

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildBoards(const ThemeSource& themes);
    QWidget* buildChecklist(const ThemeSource& themes);
    void buildDeployHeader(const ThemeSource& themes);
    QWidget* buildDeployment(const ThemeSource& themes);
    QWidget* buildLog(const ThemeSource& themes);
    QWidget* buildResult(const ThemeSource& themes);
    void buildSteps(const ThemeSource& themes);
    void showBars(bool isShown);
    QWidget* buildHistory(const ThemeSource& themes);
    void connectParts();
    void refresh();
    void refreshBoards();
    QString deployAdvice() const;
    void refreshResult();
    void refreshHistory();
    void refreshLog();

    const ThemeSource& m_themes;
    WorkspacePresenter& m_workspace;
    BoardsPresenter& m_boards;
    DeployPresenter& m_deploy;
    BoardList* m_boardList = nullptr;
    ThemedLabel* m_boardsHint = nullptr;
    PillButton* m_add = nullptr;
    PillButton* m_addVirtual = nullptr;
    PillButton* m_forget = nullptr;
    Panel* m_checklistPanel = nullptr;
    QStackedWidget* m_checklistStack = nullptr;
    EmptyNotice* m_probeNotice = nullptr;
    WrappedTable* m_checks = nullptr;
    PillButton* m_probe = nullptr;
    ThemedLabel* m_proposedTitle = nullptr;
    ThemedLabel* m_proposed = nullptr;
    PillButton* m_useTarget = nullptr;
    Panel* m_deployPanel = nullptr;
    QStackedWidget* m_deployStack = nullptr;
    EmptyNotice* m_notice = nullptr;
    WrappedTable* m_steps = nullptr;
    ThemedLabel* m_preflightTitle = nullptr;
    WrappedTable* m_preflight = nullptr;
    ThemedLabel* m_error = nullptr;
    ThemedLabel* m_overhead = nullptr;
    PillButton* m_start = nullptr;
    PillButton* m_stop = nullptr;
    PillButton* m_disconnect = nullptr;
    QLineEdit* m_budget = nullptr;
    QPlainTextEdit* m_log = nullptr;
    Panel* m_resultPanel = nullptr;
    QStackedWidget* m_resultStack = nullptr;
    ThemedLabel* m_result = nullptr;
    ThemedLabel* m_emulated = nullptr;
    ThemedLabel* m_resultDetail = nullptr;
    ThemedLabel* m_hygiene = nullptr;
    DataTable* m_calls = nullptr;
    PillButton* m_showOnGraph = nullptr;
    Panel* m_historyPanel = nullptr;
    QStackedWidget* m_historyStack = nullptr;
    EmptyNotice* m_historyNotice = nullptr;
    DataTable* m_history = nullptr;
    PillButton* m_openRun = nullptr;
};

} // namespace tenon::views
