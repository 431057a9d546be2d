// SPDX-License-Identifier: GPL-3.0-or-later
// QuantizeForm: how the model is quantized, on which examples, and the command that does the same.
#pragma once

#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/pages/page.h"
#include "views/presenters/quantize_presenter.h"

#include <QGridLayout>
#include <QLineEdit>

namespace tenon::views {

class QuantizeForm : public Panel
{
    Q_OBJECT
public:
    QuantizeForm(const ThemeSource& themes, QuantizePresenter& presenter, const PageHost& host);

    QLineEdit& data() { return *m_data; }
    QLineEdit& evaluation() { return *m_evaluation; }
    QLineEdit& output() { return *m_output; }
    QLineEdit& loss() { return *m_loss; }
    QLineEdit& flash() { return *m_flash; }
    QLineEdit& time() { return *m_time; }
    PillTabs& method() { return *m_method; }
    PillTabs& channels() { return *m_channels; }
    PillTabs& wider() { return *m_wider; }
    PillTabs& ends() { return *m_ends; }
    PillTabs& sensitivity() { return *m_sensitivity; }
    PillButton& quantizeButton() { return *m_start; }
    PillButton& stopButton() { return *m_stop; }
    PillButton& openButton() { return *m_open; }
    ThemedLabel& command() { return *m_command; }
    ThemedLabel& problem() { return *m_problem; }

private:
    void addTitle(const QString& text);
    void addRow(const QString& label, QWidget* part);
    void addPath(QLineEdit& field, const QString& title, bool isFolder);
    PillTabs* addTabs(const QStringList& texts, const QString& label, const QString& tip = {});
    void addChoices();
    void addLimits();
    void connectForm();
    QLayout* buildButtons();
    void refresh();

    QuantizePresenter& m_presenter;
    PageHost m_host;
    QGridLayout* m_grid;
    ThemedLabel* m_place;
    QLineEdit* m_data;
    QLineEdit* m_evaluation;
    QLineEdit* m_output;
    QLineEdit* m_loss;
    QLineEdit* m_flash;
    QLineEdit* m_time;
    PillTabs* m_method = nullptr;
    PillTabs* m_activations = nullptr;
    PillTabs* m_weights = nullptr;
    PillTabs* m_channels = nullptr;
    PillTabs* m_wider = nullptr;
    PillTabs* m_ends = nullptr;
    PillTabs* m_sensitivity = nullptr;
    ThemedLabel* m_command;
    ThemedLabel* m_replaces;
    ThemedLabel* m_problem;
    PillButton* m_start;
    PillButton* m_stop;
    PillButton* m_open;
};

} // namespace tenon::views
