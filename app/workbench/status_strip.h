// SPDX-License-Identifier: GPL-3.0-or-later
// StatusStrip: the board selector at the left, position, compile and issues or the running job at
// the right.
#pragma once

#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/boards_presenter.h"
#include "views/presenters/passes_presenter.h"
#include "views/presenters/workspace_presenter.h"

namespace tenon::app {

class StatusStrip : public QWidget
{
    Q_OBJECT
public:
    StatusStrip(const views::ThemeSource& themes, views::WorkspacePresenter& workspace,
                views::PassesPresenter& passes, views::BoardsPresenter& boards,
                QWidget* parent = nullptr);
    /// Where a menu of the boards belongs.
    QPoint boardCorner() const { return m_board->mapToGlobal(QPoint(0, 0)); }
    views::PillButton& boardButton() { return *m_board; }
    /// The position in the passes means something where they are looked at only.
    void setPositionShown(bool isShown);

signals:
    void issuesRequested();
    void logRequested();
    void boardsRequested();
    void cancelRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void refresh();

    const views::ThemeSource& m_themes;
    views::WorkspacePresenter& m_workspace;
    views::PassesPresenter& m_passes;
    views::BoardsPresenter& m_boards;
    views::PillButton* m_board;
    views::ThemedLabel* m_text;
    views::PillButton* m_issues;
    views::PillButton* m_log;
    views::PillButton* m_cancel;
    bool m_showsPosition = false;
};

} // namespace tenon::app
