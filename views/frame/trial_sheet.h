// SPDX-License-Identifier: GPL-3.0-or-later
// TrialSheet: the opened model on a picture or a sound, and what it says.
#pragma once

#include "views/frame/file_question.h"
#include "views/frame/overlay.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/pill_tabs.h"
#include "views/presenters/trial_presenter.h"

#include <QGridLayout>

namespace tenon::views {

/// A picture as large as there is room, its pixels as squares where they are few.
class SeenPicture : public QWidget
{
    Q_OBJECT
public:
    explicit SeenPicture(const ThemeSource& themes, QWidget* parent = nullptr);
    void show(const Thumbnail& picture);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    QImage m_picture;
};

class TrialSheet : public Overlay
{
    Q_OBJECT
public:
    TrialSheet(const ThemeSource& themes, TrialPresenter& trial, AskForFile askForFile,
               QWidget* window);
    TrialPresenter& trial() { return m_trial; }
    void openForm(const TrialHabit& habit);
    /// With the file in place, and run at once.
    void openWith(const QString& file, const TrialHabit& habit);
    QLineEdit& file() { return *m_file; }
    QLineEdit& preprocessing() { return *m_line; }
    QLineEdit& labels() { return *m_labels; }
    DataTable& results() { return *m_results; }
    PillButton& runButton() { return *m_run; }

private:
    void addRow(const QString& label, QWidget* part);
    QWidget* pathRow(QLineEdit& field, const FileQuestion& question);
    void makeFields();
    QLayout* buildResult();
    QLayout* buildButtons();
    void refresh();

    TrialPresenter& m_trial;
    AskForFile m_askForFile;
    QGridLayout* m_grid;
    QLineEdit* m_file = nullptr;
    QLineEdit* m_line = nullptr;
    QLineEdit* m_labels = nullptr;
    ThemedLabel* m_command = nullptr;
    ThemedLabel* m_problem = nullptr;
    ThemedLabel* m_effective = nullptr;
    ThemedLabel* m_summary = nullptr;
    SeenPicture* m_seen = nullptr;
    DataTable* m_results = nullptr;
    PillButton* m_run = nullptr;
};

} // namespace tenon::views
