// SPDX-License-Identifier: GPL-3.0-or-later
// CompareForm: what the model is compared with, on which data, and the command that does the same.
#pragma once

#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/pages/page.h"
#include "views/presenters/compare_presenter.h"

#include <QLineEdit>

namespace tenon::views {

class CompareForm : public Panel
{
    Q_OBJECT
public:
    CompareForm(const ThemeSource& themes, ComparePresenter& presenter, const PageHost& host);

    PillButton& reference() { return *m_reference; }
    QLineEdit& referencePath() { return *m_referencePath; }
    QLineEdit& data() { return *m_data; }
    PillTabs& noise() { return *m_noise; }
    PillButton& startButton() { return *m_start; }
    PillButton& stopButton() { return *m_stop; }
    ThemedLabel& problem() { return *m_problem; }
    ThemedLabel& command() { return *m_command; }

private:
    void addTitle(const QString& text);
    void addPath(QLineEdit& field, const QString& title);
    void addChoice(PillTabs& tabs, const QString& title, const QString& tip);
    void follow();
    QLayout* buildButtons();
    void chooseReference();
    void refresh();
    void showButtons(bool canStart, bool canStop);

    ComparePresenter& m_presenter;
    PageHost m_host;
    ThemedLabel* m_place;
    PillButton* m_reference;
    QLineEdit* m_referencePath;
    PillButton* m_chooseReference = nullptr;
    QLineEdit* m_data;
    PillTabs* m_kernels;
    PillTabs* m_noise;
    ThemedLabel* m_command;
    ThemedLabel* m_problem;
    ThemedLabel* m_notes;
    PillButton* m_start;
    PillButton* m_stop;
};

} // namespace tenon::views
