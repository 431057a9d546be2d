// SPDX-License-Identifier: GPL-3.0-or-later
// InspectorPanel: facts of the selected node above its members, schedule and code.
#pragma once

#include "views/pages/common/code_view.h"
#include "views/pages/common/notice.h"
#include "views/presenters/inspector_presenter.h"

#include <QStackedWidget>

namespace tenon::views {

class InspectorPanel : public Panel
{
    Q_OBJECT
public:
    InspectorPanel(const ThemeSource& themes, InspectorPresenter& presenter,
                   QWidget* parent = nullptr);

    /// "members", "schedule", "tir", "llvm" or "assembly".
    void showTab(const QString& name);
    /// What stands there while no node is selected: a group and its size, or, without title, how to
    /// select one.
    void setGroup(const QString& title, const QString& size);

signals:
    void nodeRequested(tenon::core::NodeId node);
    void compileRequested();

private:
    void buildCode();
    void refresh();
    void refreshFacts();
    void refreshCode();
    void showLine(int line);
    void fillRows(QVBoxLayout* layout, const std::vector<FactRow>& rows, bool isMembers);
    QWidget* factRow(const FactRow& row, bool isMember);

    InspectorPresenter& m_presenter;
    QWidget* m_facts;
    QVBoxLayout* m_factsLayout;
    PillTabs* m_tabs;
    QStackedWidget* m_stack;
    QWidget* m_members;
    QVBoxLayout* m_membersLayout;
    CodeView* m_code;
    QWidget* m_linked;
    ThemedLabel* m_linkedTitle;
    CodeView* m_linkedCode;
    EmptyNotice* m_notice;
    EmptyNotice* m_nothing;
    int m_line = 0;
};

} // namespace tenon::views
