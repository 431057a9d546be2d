// SPDX-License-Identifier: GPL-3.0-or-later
// The board in use: what follows from choosing one, and where boards are chosen.
#include "app/workbench/main_window.h"
#include "views/pages/common/popup_menu.h"

namespace tenon::app {

void MainWindow::wireBoards()
{
    const auto budget = [this] { m_executors.setBoardBudget(m_boards.board().budget); };
    connect(&m_boards, &views::BoardsPresenter::selected, this, budget);
    connect(&m_boards, &views::BoardsPresenter::stateChanged, this,
            [this] { m_benchmarkPage->setBoard(m_boards.board().titleInText()); });
    connect(&m_deploy, &views::DeployPresenter::stateChanged, this, [this] {
        const bool canDeploy = m_deploy.state().canDeploy;
        const bool canChange = m_boards.state().canChange;
        m_title->primary().setEnabled(canDeploy);
        if (!m_palette) return;
        m_actions.setEnabled(QStringLiteral("deploy"), canDeploy);
        m_actions.setEnabled(QStringLiteral("cancel"),
                             m_workspace.state().isBusy || m_boards.isWorking());
        for (const char* id : {"add-board", "virtual-board", "probe-board"})
            m_actions.setEnabled(QLatin1String(id), canChange);
        m_actions.setEnabled(QStringLiteral("forget-board"), m_boards.state().canForget);
        m_actions.setEnabled(QStringLiteral("disconnect"), m_deploy.state().isConnected);
    });
    connect(m_title, &TitleBar::deployRequested, &m_deploy, &views::DeployPresenter::deploy);
    connect(m_benchmarkPage, &views::BenchmarkPage::deployRequested, &m_deploy,
            &views::DeployPresenter::deploy);
    connect(m_deployPage, &views::DeployPage::addRequested, this,
            [this] { m_addBoard->openForm(); });
    connect(m_deployPage, &views::DeployPage::forgetRequested, this, [this] { m_forget->ask(); });
    connect(m_deployPage, &views::DeployPage::graphRequested, this,
            [this] { showPerspective(QStringLiteral("passes")); });
    connect(m_status, &StatusStrip::boardsRequested, this, &MainWindow::showBoards);
    connect(m_status, &StatusStrip::cancelRequested, this, &MainWindow::cancelJobs);
    budget();
    m_benchmarkPage->setBoard(m_boards.board().titleInText());
}

void MainWindow::cancelJobs()
{
    m_workspace.cancel();
    m_boards.cancel();
}

bool MainWindow::chooseBoard(const QString& name) { return m_boards.choose(name); }

void MainWindow::showBoards()
{
    m_boards.reload();
    QMenu* menu = views::makePopupMenu(this);
    for (const views::BoardRow& row : m_boards.model().rows()) {
        QAction* action = menu->addAction(
            row.board.title() + QStringLiteral("   ·   ") + views::boardStateText(row.state), this,
            [this, name = row.board.name] { chooseBoard(name); });
        action->setCheckable(true);
        action->setChecked(row.isSelected);
        action->setEnabled(m_boards.state().canChange);
        action->setToolTip(row.board.address);
    }
    menu->addSeparator();
    for (const char* id : {"add-board", "virtual-board", "show-deploy"})
        menu->addAction(m_actions.action(QLatin1String(id)));
    menu->popup(m_status->boardCorner() - QPoint(0, menu->sizeHint().height() + 4));
}

} // namespace tenon::app
