// SPDX-License-Identifier: GPL-3.0-or-later
// OptionsSheet: how to compile, with the same as a command line, and the optimization levels side
// by side.
#pragma once

#include "views/frame/overlay.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/options_presenter.h"

#include <QGridLayout>

namespace tenon::views {

class OptionsSheet : public Overlay
{
    Q_OBJECT
public:
    OptionsSheet(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* window);
    OptionsPresenter& options() { return m_options; }
    void openForm();
    PillTabs& levelTabs() { return *m_level; }
    QListView& passes() { return *m_passes; }
    QLineEdit& passConfig() { return *m_passConfig; }
    DataTable& levels() { return *m_levels; }
    PillButton& compileButton() { return *m_compile; }
    PillButton& compareButton() { return *m_compare; }

private:
    void addRow(const QString& label, QWidget* part);
    PillTabs* tabs(const QStringList& texts, const QString& name);
    QWidget* buildKeys();
    QLayout* buildForm();
    QLayout* buildButtons();
    void choosePlanner();
    QLineEdit* poolField(const QString& tip);
    void chooseKey();
    void refresh();

    OptionsPresenter m_options;
    QGridLayout* m_grid;
    PillTabs* m_level = nullptr;
    PillTabs* m_executor = nullptr;
    QLineEdit* m_threads = nullptr;
    PillButton* m_planner = nullptr;
    QLineEdit* m_workspacePools = nullptr;
    QLineEdit* m_constantPools = nullptr;
    QLineEdit* m_passConfig = nullptr;
    QListView* m_passes = nullptr;
    ThemedLabel* m_command = nullptr;
    ThemedLabel* m_problem = nullptr;
    ThemedLabel* m_levelsCaption = nullptr;
    DataTable* m_levels = nullptr;
    PillButton* m_compile = nullptr;
    PillButton* m_compare = nullptr;
    PillButton* m_reset = nullptr;
};

} // namespace tenon::views
