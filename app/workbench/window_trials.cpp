// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures and sounds: the sheet that tries the model on them, files dropped on the window, and
// what is remembered for each model.
#include "app/workbench/main_window.h"
#include "views/frame/drop_hint.h"
#include "views/frame/trial_sheet.h"

#include <QFileInfo>

namespace tenon::app {

namespace {

bool isSample(const QString& path)
{
    return views::isPictureFile(path) || views::isSoundFile(path);
}

} // namespace

void MainWindow::wireTrials()
{
    new views::TrialSheet(m_themes, m_trial, m_options.askForFile, this);
    connect(&m_trial, &views::TrialPresenter::settled, this,
            [this](const QString& model, const views::TrialHabit& habit) {
                const SampleHabit kept{habit.preprocessing, habit.labels};
                if (m_settings.samples[QFileInfo(model).absoluteFilePath()] == kept) return;
                m_settings.keepSample(QFileInfo(model).absoluteFilePath(), kept);
                save();
            });
    auto* hint = new views::DropHint(m_themes, this);
    hint->setPurpose([this](const QString& file) {
        if (!isSample(file) || !m_workspace.state().hasDocument) return QString();
        return tr("Drop to try the model on %1").arg(QFileInfo(file).fileName());
    });
    connect(hint, &views::DropHint::dropped, this, &MainWindow::takeDropped);
}

void MainWindow::takeDropped(const QString& path)
{
    if (!isSample(path)) return openModel(path);
    if (m_workspace.state().hasDocument) return openTrial(path);
    m_workspace.report(tr("No model is open"),
                       core::makeError(core::DiagnosticCode::BadArgument,
                                       "pictures and sounds are inputs of a model; open one first, "
                                       "then drop the file again"));
}

void MainWindow::openTrial(const QString& file)
{
    const auto kept =
        m_settings.samples.find(QFileInfo(m_workspace.state().path).absoluteFilePath());
    views::TrialHabit habit;
    if (kept != m_settings.samples.end()) habit = {kept->second.preprocessing, kept->second.labels};
    auto& sheet = part<views::TrialSheet>();
    if (file.isEmpty())
        sheet.openForm(habit);
    else
        sheet.openWith(file, habit);
}

} // namespace tenon::app
