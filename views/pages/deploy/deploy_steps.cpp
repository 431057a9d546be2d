// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of a deployment: what happened is read in full, in as many lines as that takes.
#include "views/pages/deploy/deploy_page.h"

#include <QHeaderView>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kTableHeaderHeight = 34;
constexpr int kLeastStepsHeight = 25 * 4 + kTableHeaderHeight;
constexpr int kDetail = 2, kTime = 3; ///< columns
constexpr int kTimeWidth = 104;       ///< with a bar beside the text
constexpr int kBarWidth = 40;

} // namespace

void DeployPage::buildSteps(const ThemeSource& themes)
{
    m_steps = new WrappedTable(themes, &m_deploy.steps(), {26, 82, 0, kTimeWidth}, kDetail);
    m_steps->setMinimumHeight(kLeastStepsHeight); // the rest is scrolled to
    const auto fit = [this] {
        m_steps->setMaximumHeight(
            std::max(kLeastStepsHeight, m_steps->verticalHeader()->length() + kTableHeaderHeight));
    };
    // Queued: the header tells of its rows one by one, and of the last before it counts that one.
    connect(m_steps->verticalHeader(), &QHeaderView::sectionResized, this, fit,
            Qt::QueuedConnection);
    connect(m_steps->verticalHeader(), &QHeaderView::sectionCountChanged, this, fit,
            Qt::QueuedConnection);
    m_steps->setAccessibleName(tr("Steps of the deployment"));
}

void DeployPage::showBars(bool isShown)
{
    m_steps->delegate().setBarColumn(isShown ? kTime : -1);
    m_steps->setColumnWidth(kTime, isShown ? kTimeWidth : kTimeWidth - kBarWidth);
}

} // namespace tenon::views
