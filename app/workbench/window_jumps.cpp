// SPDX-License-Identifier: GPL-3.0-or-later
// From a node in any table, chart or graph to the other places that show it.
#include "app/workbench/window_jumps.h"

#include "app/workbench/main_window.h"
#include "views/models/serving.h"
#include "views/pages/benchmark/benchmark_page.h"
#include "views/pages/compare/compare_page.h"
#include "views/pages/passes/passes_page.h"

namespace tenon::app {

namespace {

using core::NodeId;

/// Of the model as it is open, which one of its calls serves the node.
bool isServed(MainWindow& window, NodeId node)
{
    const views::DocumentPtr document = window.workspace().document();
    return document && callServing(*document, node) >= 0;
}

void showMemory(MainWindow& window, NodeId node)
{
    window.showPerspective(QStringLiteral("memory"));
    window.workspace().selection().select(node);
    window.memory().showNode(node);
}

void showTime(MainWindow& window, NodeId node)
{
    window.showPerspective(QStringLiteral("benchmark"));
    window.workspace().selection().select(node);
    window.part<views::BenchmarkPage>().showNode(node);
}

bool isCompared(MainWindow& window, NodeId node)
{
    const views::DocumentPtr document = window.workspace().document();
    if (!document || !document->comparison) return false;
    for (size_t version = 0; version < document->versionCount(); ++version)
        if (const core::NodePtr& record = document->version(version).findNode(node))
            return views::tensorOfNode(*document->comparison, *record) >= 0;
    return false;
}

void showError(MainWindow& window, NodeId node)
{
    window.showPerspective(QStringLiteral("compare"));
    window.workspace().selection().select(node);
    window.part<views::ComparePage>().presenter().selectNode(node);
}

void showFilm(MainWindow& window, NodeId node)
{
    window.showPerspective(QStringLiteral("passes"));
    window.workspace().selection().seek(node);
    window.part<views::PassesPage>().showFilm();
}

std::vector<views::NodeJump> jumpsOf(MainWindow& window)
{
    const auto to = [&window](const QString& page) {
        return [&window, page](NodeId node) {
            window.showPerspective(page);
            window.workspace().selection().seek(node);
        };
    };
    const auto hasModel = [&window](NodeId) { return window.workspace().document() != nullptr; };
    const auto served = [&window](NodeId node) { return isServed(window, node); };
    const auto measured = [&window, served](NodeId node) {
        return served(node) && window.workspace().document()->measurement;
    };
    const auto with = [&window](void (*go)(MainWindow&, NodeId)) {
        return [&window, go](NodeId node) { go(window, node); };
    };
    return {{MainWindow::tr("Show in the model"), hasModel, to(QStringLiteral("inspect"))},
            {MainWindow::tr("Show in the passes"), hasModel, to(QStringLiteral("passes"))},
            {MainWindow::tr("Where did it go?"), hasModel, with(showFilm)},
            {MainWindow::tr("Show its memory"), served, with(showMemory)},
            {MainWindow::tr("Show its time"), measured, with(showTime)},
            {MainWindow::tr("Show its error"),
             [&window](NodeId node) { return isCompared(window, node); }, with(showError)}};
}

} // namespace

void hostExhibits(MainWindow& window)
{
    auto host = std::make_shared<views::ExhibitHost>();
    host->jumps = jumpsOf(window);
    host->ask = [&window](const views::Export& what) { window.askToExport(what); };
    for (auto* exhibit : window.findChildren<views::Exhibit*>()) exhibit->setHost(host);
}

} // namespace tenon::app
