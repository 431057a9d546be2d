// SPDX-License-Identifier: GPL-3.0-or-later
// TitleBar: document and facts, perspectives, target, the one primary button.
#pragma once

#include "app/workbench/target_field.h"
#include "views/pages/common/pill_tabs.h"

namespace tenon::app {

class TitleBar : public QWidget
{
    Q_OBJECT
public:
    TitleBar(const views::ThemeSource& themes, views::WorkspacePresenter& workspace,
             QWidget* window);

    void setPerspectives(const QStringList& names);
    views::PillTabs& tabs() { return *m_tabs; }
    TargetField& target() { return *m_target; }
    views::PillButton& primary() { return *m_primary; }

signals:
    void menuRequested(QPoint globalPosition);
    void deployRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void fitFacts();
    void fitName();

    const views::ThemeSource& m_themes;
    views::WorkspacePresenter& m_workspace;
    views::PillButton* m_menu;
    views::ThemedLabel* m_name;
    views::ThemedLabel* m_facts;
    views::PillTabs* m_tabs;
    TargetField* m_target;
    views::PillButton* m_primary;
};

} // namespace tenon::app
