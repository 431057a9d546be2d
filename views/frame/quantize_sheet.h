// SPDX-License-Identifier: GPL-3.0-or-later
// QuantizeSheet: the opened model as one of integers, and what every tensor loses.
#pragma once

#include "views/frame/file_question.h"
#include "views/frame/overlay.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/quantize_presenter.h"

#include <QGridLayout>

namespace tenon::views {

class QuantizeSheet : public Overlay
{
    Q_OBJECT
public:
    QuantizeSheet(const ThemeSource& themes, WorkspacePresenter& workspace, AskForFile askForFile,
                  QWidget* window);
    QuantizePresenter& quantization() { return m_quantization; }
    void openForm();
    QLineEdit& data() { return *m_data; }
    QLineEdit& evaluation() { return *m_evaluation; }
    QLineEdit& loss() { return *m_loss; }
    PillTabs& method() { return *m_method; }
    PillTabs& channels() { return *m_channels; }
    DataTable& tensors() { return *m_tensors; }
    PillButton& quantizeButton() { return *m_start; }
    PillButton& openButton() { return *m_open; }

private:
    void addRow(const QString& label, QWidget* part);
    QWidget* pathRow(QLineEdit& field, const FileQuestion& question);
    PillTabs* tabs(const QStringList& texts, const QString& name);
    void makeFields();
    void layOutForm();
    void connectForm();
    QLayout* buildButtons();
    void refresh();

    QuantizePresenter m_quantization;
    AskForFile m_askForFile;
    QGridLayout* m_grid;
    QLineEdit* m_data = nullptr;
    QLineEdit* m_evaluation = nullptr;
    QLineEdit* m_output = nullptr;
    QLineEdit* m_loss = nullptr;
    PillTabs* m_method = nullptr;
    PillTabs* m_activations = nullptr;
    PillTabs* m_weights = nullptr;
    PillTabs* m_channels = nullptr;
    ThemedLabel* m_command = nullptr;
    ThemedLabel* m_problem = nullptr;
    ThemedLabel* m_warnings = nullptr;
    ThemedLabel* m_summary = nullptr;
    DataTable* m_tensors = nullptr;
    PillButton* m_start = nullptr;
    PillButton* m_open = nullptr;
};

} // namespace tenon::views
