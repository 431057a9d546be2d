// SPDX-License-Identifier: GPL-3.0-or-later
// TitleBar: document and facts, perspectives, target, the one primary button.
#pragma once

#include "views/frame/target_field.h"
#include "views/pages/common/pill_tabs.h"

namespace tenon::views {

class TitleBar : public QWidget
{
    Q_OBJECT
public:
    TitleBar(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* window);

    void setPerspectives(const QStringList& names);
    PillTabs& tabs() { return *m_tabs; }
    TargetField& target() { return *m_target; }
    PillButton& primary() { return *m_primary; }

signals:
    void menuRequested(QPoint globalPosition);
    void deployRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void fitFacts();
    void fitTabs();
    void fitName();

    const ThemeSource& m_themes;
    WorkspacePresenter& m_workspace;
    PillButton* m_menu;
    ThemedLabel* m_name;
    ThemedLabel* m_facts;
    PillTabs* m_tabs;
    TargetField* m_target;
    PillButton* m_primary;
};

} // namespace tenon::views
