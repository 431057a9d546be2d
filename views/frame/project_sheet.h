// SPDX-License-Identifier: GPL-3.0-or-later
// ProjectSheet: the opened model as a folder that makes firmware: made, built, flashed, run.
#pragma once

#include "views/frame/file_question.h"
#include "views/frame/overlay.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/project_presenter.h"

#include <QGridLayout>
#include <QPlainTextEdit>

namespace tenon::views {

class ProjectSheet : public Overlay
{
    Q_OBJECT
public:
    ProjectSheet(const ThemeSource& themes, WorkspacePresenter& workspace, AskForFile askForFile,
                 QWidget* window);
    ProjectPresenter& project() { return m_project; }
    void openForm();
    PillTabs& kind() { return *m_kind; }
    QLineEdit& folder() { return *m_folder; }
    QLineEdit& workspace() { return *m_workspacePools; }
    PillButton& createButton() { return *m_create; }
    PillButton& buildButton() { return *m_build; }
    PillButton& flashButton() { return *m_flash; }
    PillButton& runButton() { return *m_run; }
    QPlainTextEdit& log() { return *m_log; }

private:
    void addRow(const QString& label, QWidget* part);
    QLineEdit* addField(const QString& label, const QString& hint);
    QWidget* folderRow();
    QLayout* buildButtons();
    void connectForm();
    void refresh();

    ProjectPresenter m_project;
    AskForFile m_askForFile;
    QGridLayout* m_grid;
    PillTabs* m_kind;
    QLineEdit* m_folder = nullptr;
    QLineEdit* m_workspacePools = nullptr;
    QLineEdit* m_constantPools = nullptr;
    ThemedLabel* m_title;
    ThemedLabel* m_command;
    ThemedLabel* m_problem;
    QPlainTextEdit* m_log;
    PillButton* m_create = nullptr;
    PillButton* m_build = nullptr;
    PillButton* m_flash = nullptr;
    PillButton* m_run = nullptr;
};

} // namespace tenon::views
