// SPDX-License-Identifier: GPL-3.0-or-later
// StatusStrip: the board selector at the left, position, compile and issues or the running job at
// the right.
#pragma once

#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/boards_presenter.h"
#include "views/presenters/passes_presenter.h"
#include "views/presenters/workspace_presenter.h"

namespace tenon::views {

class StatusStrip : public QWidget
{
    Q_OBJECT
public:
    StatusStrip(const ThemeSource& themes, WorkspacePresenter& workspace, PassesPresenter& passes,
                BoardsPresenter& boards, QWidget* parent = nullptr);
    /// Where a menu of the boards belongs.
    QPoint boardCorner() const { return m_board->mapToGlobal(QPoint(0, 0)); }
    PillButton& boardButton() { return *m_board; }
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

    const ThemeSource& m_themes;
    WorkspacePresenter& m_workspace;
    PassesPresenter& m_passes;
    BoardsPresenter& m_boards;
    PillButton* m_board;
    ThemedLabel* m_text;
    PillButton* m_issues;
    PillButton* m_log;
    PillButton* m_cancel;
    bool m_showsPosition = false;
};

} // namespace tenon::views
