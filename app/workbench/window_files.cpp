// SPDX-License-Identifier: GPL-3.0-or-later
// Files that come into the window and go out of it: opened, dropped, exported, saved.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/canvas/export_picture.h"
#include "views/models/format.h"
#include "views/models/report.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/compare/compare_page.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QPainter>

namespace tenon::app {

namespace {

/// "mobilenet_v2" of mobilenet_v2/model.onnx, "resnet" of resnet.onnx.
QString stemOf(const QString& documentName)
{
    return documentName.contains(QLatin1Char('/')) ? documentName.section(QLatin1Char('/'), 0, 0)
                                                   : QFileInfo(documentName).completeBaseName();
}

/// In the folder of the last file; before there was one, beside the model where one may write, as
/// beside a packaged sample one may not.
QString startIn(const QString& last, const views::Document* document, const QString& name)
{
    QString folder = last;
    if (folder.isEmpty() && document) folder = QFileInfo(document->path).path();
    if (folder.isEmpty() || !QFileInfo(folder).isWritable()) folder = QDir::homePath();
    return folder + QLatin1Char('/') + name;
}

core::Status exportReport(MainWindow& window, const QString& path)
{
    if (!window.workspace().document())
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "a report is about a model; open one first");
    constexpr size_t kMostCards = 3000; // a browser shows that many in a second
    views::ReportParts parts;
    parts.madeBy = QStringLiteral("Tenon ") + QCoreApplication::applicationVersion();
    parts.date = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd HH:mm"));
    const views::GraphCanvas& graph = *views::pageOfModel(window.pages()).canvas;
    const size_t cards = graph.scene().items.size();
    if (cards == 0 || cards > kMostCards)
        parts.graphMissing =
            QObject::tr("The graph with %1 is left out; close groups to have it here.")
                .arg(views::countOf(static_cast<qint64>(cards), QObject::tr("card")));
    else
        parts.graph = views::graphElement(graph);
    parts.footprint = window.executors().footprint();
    auto& compare = window.part<views::ComparePage>().presenter();
    if (const views::CompareState& shown = compare.state(); shown.hasResult && !shown.isStale)
        parts.comparison = {shown.caption, shown.verdict, shown.notes, &compare.tensors()};
    return views::exportText(views::reportHtml(*window.workspace().document(), parts), path);
}

} // namespace

void MainWindow::chooseFile()
{
    const QString folder = m_settings.recents.isEmpty()
                               ? QDir::homePath()
                               : QFileInfo(m_settings.recents.first()).path();
    m_options.askForFile(this,
                         {views::FileQuestion::Kind::Open, tr("Open model"), folder,
                          modelFileFilters() << tr("All files (*)")},
                         [this](const QString& path) { openModel(path); });
}

core::Status MainWindow::exportView(const QString& path)
{
    if (path.endsWith(QLatin1String(".html"), Qt::CaseInsensitive))
        return exportReport(*this, path);
    if (auto* shown = canvas(); shown && !shown->scene().items.empty())
        return views::exportGraph(*shown, path);
    QWidget* page = m_stack->currentWidget();
    return views::exportPicture(
        page->size(),
        [page](QPainter& painter) {
            painter.setRenderHint(QPainter::Antialiasing);
            page->render(&painter);
        },
        path);
}

/// Asks where to; a name without a model's stands behind the model's.
void MainWindow::askToExport(const views::Export& what)
{
    QString name =
        m_workspace.document() ? stemOf(m_workspace.document()->name) : QStringLiteral("tenon");
    name += QLatin1Char('-') + what.name.toLower().replace(QLatin1Char(' '), QLatin1Char('-'));
    const views::FileQuestion question{views::FileQuestion::Kind::Save, what.title,
                                       startIn(m_saveFolder, m_workspace.document().get(), name),
                                       what.filters};
    m_options.askForFile(this, question, [this, write = what.write](const QString& path) {
        m_saveFolder = QFileInfo(path).path();
        m_workspace.forgetFailure();
        const core::Status done = write(path);
        if (done)
            m_workspace.jobs().tell(tr("Exported %1").arg(path));
        else
            m_workspace.report(tr("%1 was not exported").arg(path), done.error());
    });
}

void MainWindow::chooseExport()
{
    const views::Page* page = shownPage();
    askToExport(
        {tr("Export the view"),
         (page ? page->name : QStringLiteral("start")) + QStringLiteral(".svg"),
         {tr("Vector picture (*.svg)"), tr("Picture (*.png)"), tr("Report of all pages (*.html)")},
         [this](const QString& path) { return exportView(path); }});
}

void MainWindow::chooseSave()
{
    const QStringList formats = m_workspace.engine().saveFormats(m_workspace.state().target);
    if (!m_workspace.state().canBuild || formats.isEmpty()) return;
    const QString suffix = formats.first().section(QLatin1Char('*'), 1).chopped(1);
    const views::FileQuestion question{views::FileQuestion::Kind::Save, tr("Save the model"),
                                       startIn(m_saveFolder, m_workspace.document().get(),
                                               stemOf(m_workspace.document()->name) + suffix),
                                       formats};
    m_options.askForFile(this, question, [this](const QString& path) {
        m_saveFolder = QFileInfo(path).path();
        m_workspace.save(path);
    });
}

} // namespace tenon::app
