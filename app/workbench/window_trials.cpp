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

/// One name of a class in each line.
bool isLabels(const QString& path)
{
    return path.endsWith(QLatin1String(".txt"), Qt::CaseInsensitive);
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
        if (!m_workspace.state().hasDocument) return QString();
        const QString name = QFileInfo(file).fileName();
        if (isSample(file)) return tr("Drop to try the model on %1").arg(name);
        if (isLabels(file)) return tr("Drop to name the classes by %1").arg(name);
        if (QFileInfo(file).isDir() && shownPage() && shownPage()->takeExamples)
            return tr("Drop to take the examples in %1").arg(name);
        return QString();
    });
    connect(hint, &views::DropHint::dropped, this, &MainWindow::takeDropped);
}

void MainWindow::takeDropped(const QString& path)
{
    const bool hasModel = m_workspace.state().hasDocument;
    if (QFileInfo(path).isDir()) return takeFolder(path);
    if (isSample(path) && hasModel) return openTrial(path);
    if (isSample(path))
        return m_workspace.report(
            tr("No model is open"),
            core::makeError(core::DiagnosticCode::BadArgument,
                            "pictures and sounds are inputs of a model; open one first, "
                            "then drop the file again"));
    if (!isLabels(path) || !hasModel) return openModel(path);
    if (!part<views::TrialSheet>().isVisible()) openTrial({});
    m_trial.setLabels(path);
}

/// Of examples: only a page knows what for.
void MainWindow::takeFolder(const QString& path)
{
    const views::Page* page = shownPage();
    if (m_workspace.state().hasDocument && page && page->takeExamples)
        return page->takeExamples(path);
    m_workspace.report(
        tr("A folder was dropped"),
        core::makeError(core::DiagnosticCode::BadArgument,
                        "`" + QFileInfo(path).fileName().toStdString() +
                            "` is a folder; with a model open, the Quantize and the Compare page "
                            "take the examples in it"));
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
