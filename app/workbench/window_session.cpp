// SPDX-License-Identifier: GPL-3.0-or-later
// What was open when the window was closed, and bringing it back step by step as it gets ready.
#include "app/workbench/main_window.h"

#include <QFileInfo>
#include <QTimer>

#include <algorithm>

namespace tenon::app {

namespace {

SavedCamera cameraOf(const views::GraphCanvas& canvas)
{
    return {canvas.camera().zoom, canvas.camera().centre};
}

/// A name by which the node is found again in another run.
QString nodeName(const views::Document& document, core::NodeId node)
{
    for (size_t v = document.versionCount(); node.isValid() && v-- > 0;) {
        const core::Module& module = document.version(v);
        const core::NodePtr& found = module.findNode(node);
        if (!found) continue;
        // Names of the model file hold in every version; those that passes give do not.
        for (const core::SourceId source : found->origin)
            if (source.value < module.sources().size())
                return QString::fromStdString(module.sources()[source.value].name);
        if (!found->name.empty()) return QString::fromStdString(found->name);
    }
    return {};
}

} // namespace

Session MainWindow::session()
{
    Session session;
    session.planner = m_workspace.options().planner;
    session.board = m_boards.board().name;
    session.budget = m_deploy.state().budget;
    if (const views::Page* page = shownPage()) session.perspective = page->name;
    if (!m_workspace.document()) return session;
    const views::Document& document = *m_workspace.document();
    session.model = QFileInfo(document.path).absoluteFilePath();
    session.shapes = m_workspace.options().shapes;
    session.isCompiled = document.isCompiled();
    const auto version = static_cast<size_t>(m_passes.state().version);
    if (version > 0 && version <= document.passes.size())
        session.pass = document.passes[version - 1].name;
    session.node = nodeName(document, m_workspace.selection().node());
    for (const views::Page& page : m_pages)
        if (page.canvas && !page.canvas->scene().items.empty())
            session.cameras[page.name] = cameraOf(*page.canvas);
    return session;
}

void MainWindow::openModel(const QString& path, const QString& shapes)
{
    m_workspace.open(path, shapes);
}

/// What holds for any model.
void MainWindow::restoreChoices()
{
    const Session& saved = m_settings.session;
    if (!saved.planner.isEmpty()) m_workspace.setPlanner(saved.planner);
    if (!saved.budget.isEmpty()) m_deploy.setBudget(saved.budget);
    // Neither compiled for nor asked: nobody is disturbed by opening a window.
    if (!saved.board.isEmpty()) m_boards.select(saved.board);
}

void MainWindow::restoreSession()
{
    const Session& saved = m_settings.session;
    restoreChoices();
    if (saved.model.isEmpty() || !QFileInfo::exists(saved.model)) return;
    openModel(saved.model, saved.shapes);
    m_restoring = saved;
    const auto isSaved = [&](const views::Page& page) { return page.name == saved.perspective; };
    if (std::none_of(m_pages.begin(), m_pages.end(), isSaved))
        m_restoring->perspective = m_pages.front().name;
}

void MainWindow::continueRestore()
{
    if (!m_restoring || m_workspace.state().isBusy) return;
    if (!m_workspace.document()) {
        if (!m_workspace.state().bannerTitle.isEmpty()) m_restoring.reset(); // it cannot be read
        return;
    }
    if (QFileInfo(m_workspace.document()->path) != QFileInfo(m_restoring->model))
        return m_restoring.reset(); // something else was opened meanwhile
    for (const views::Page& page : m_pages)
        if (page.canvas && !page.isSettled()) return;
    if (m_restoring->isCompiled && m_workspace.state().canBuild) {
        m_restoring->isCompiled = false; // tried once
        if (!m_workspace.document()->isCompiled()) return m_workspace.compile();
    }
    const Session saved = *m_restoring;
    m_restoring.reset();
    if (!saved.pass.isEmpty()) showPass(saved.pass);
    if (!saved.node.isEmpty()) m_workspace.selection().seek(m_passes.findNode(saved.node));
    // After the pages took their sizes: fitting to them must not have the last word.
    QTimer::singleShot(0, this, [this, saved] {
        for (const views::Page& page : m_pages) {
            const auto camera = saved.cameras.find(page.name);
            if (page.canvas && camera != saved.cameras.end())
                page.canvas->setCamera({camera->second.centre, camera->second.zoom});
        }
    });
}

void MainWindow::keepSession()
{
    if (m_restoring) return;
    Settings now = m_settings;
    now.geometry = saveGeometry();
    if (m_workspace.state().isTargetValid) now.target = m_workspace.state().target;
    now.session = session();
    if (now.session == m_settings.session && now.geometry == m_settings.geometry &&
        now.target == m_settings.target)
        return;
    m_settings = std::move(now);
    save();
}

void MainWindow::save()
{
    if (m_options.isIsolated) return;
    const QString path = m_options.settingsPath.isEmpty() ? settingsPath() : m_options.settingsPath;
    m_settings.takeOver(loadSettings(path)); // another window may have opened models meanwhile
    if (const core::Status saved = saveSettings(m_settings, path); !saved)
        m_workspace.jobs().addLog(QString::fromStdString(saved.error().message));
}

} // namespace tenon::app
