// SPDX-License-Identifier: GPL-3.0-or-later
// What was measured before, and the way to a run.
#include "views/pages/deploy/deploy_page.h"

namespace tenon::views {

QWidget* DeployPage::buildHistory(const ThemeSource& themes)
{
    m_historyPanel = new Panel(themes, tr("Measured before"));
    m_history = new DataTable(themes, &m_deploy.history());
    m_history->setColumnWidths({118, 70, 0, 138});
    m_history->setAccessibleName(tr("Earlier measurements of this model on this board"));
    m_history->setToolTip(tr("A double click or Return opens a run beside another"));
    m_openRun = new PillButton(themes, PillButton::Look::Quiet, tr("Open"));
    m_openRun->setToolTip(tr("The selected run: its samples, and its calls beside another run's"));
    m_openRun->setAccessibleName(tr("Open the selected measurement"));
    m_historyPanel->header()->addWidget(m_openRun);
    constexpr int kButtonMargin = 8;
    m_historyPanel->header()->setContentsMargins(kPanelMargin, 6, kButtonMargin, 4);
    m_historyNotice = new EmptyNotice(themes, {}, {}, {});
    m_historyStack = new QStackedWidget;
    m_historyStack->addWidget(m_historyNotice);
    m_historyStack->addWidget(m_history);
    m_historyPanel->content()->setContentsMargins(6, 0, 6, 8);
    m_historyPanel->content()->addWidget(m_historyStack, 1);
    return m_historyPanel;
}

void DeployPage::refreshHistory()
{
    const DeployState& state = m_deploy.state();
    const bool hasHistory = m_deploy.history().rowCount() > 0;
    m_historyStack->setCurrentIndex(hasHistory ? 1 : 0);
    constexpr int kMedian = 1, kWidestMedian = 110;
    m_history->fitColumn(kMedian, kWidestMedian);
    m_openRun->setVisible(hasHistory);
    m_historyPanel->setCaption(hasHistory ? state.historyCaption : QString());
    m_historyNotice->setText(
        state.historyProblem.isEmpty() ? tr("No earlier measurement")
                                       : tr("The history cannot be read"),
        state.historyProblem.isEmpty()
            ? tr("Every deployment's times are kept; what was faster or slower shows here.")
            : state.historyProblem);
}

} // namespace tenon::views
