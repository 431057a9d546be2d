// SPDX-License-Identifier: GPL-3.0-or-later
// The board in use: what follows from choosing one, and where boards are chosen.
#include "app/workbench/main_window.h"
#include "views/frame/run_sheet.h"
#include "views/pages/common/popup_menu.h"
#include "views/pages/deploy/deploy_page.h"

namespace tenon::app {

void MainWindow::wireBoards()
{
    connect(&m_deploy, &views::DeployPresenter::stateChanged, this, [this] {
        m_title->primary().setEnabled(m_deploy.state().canDeploy);
        m_actions.refresh();
    });
    connect(m_title, &views::TitleBar::deployRequested, &m_deploy, &views::DeployPresenter::deploy);
    connect(m_status, &views::StatusStrip::boardsRequested, this, &MainWindow::showBoards);
    connect(m_status, &views::StatusStrip::cancelRequested, this, &MainWindow::cancelJobs);
    connect(&part<views::DeployPage>(), &views::DeployPage::runRequested,
            new views::RunSheet(m_themes, m_deploy, this), &views::RunSheet::openRun);
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
        QAction* action =
            menu->addAction(row.board.title() + QStringLiteral("   ·   ") + row.stateText, this,
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
