// SPDX-License-Identifier: GPL-3.0-or-later
// The status bar.
#include "views/frame/status_strip.h"

#include "views/pages/deploy/board_list.h"

#include <QPainter>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kHeight = 29;
constexpr int kProgressWidth = 130;

} // namespace

StatusStrip::StatusStrip(const ThemeSource& themes, WorkspacePresenter& workspace,
                         PassesPresenter& passes, BoardsPresenter& boards, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_workspace(workspace)
    , m_passes(passes)
    , m_boards(boards)
    , m_board(new PillButton(themes, PillButton::Look::Quiet, {}))
    , m_text(new ThemedLabel(themes, ThemedLabel::Role::Secondary))
    , m_issues(new PillButton(themes, PillButton::Look::Quiet, {}))
    , m_log(new PillButton(themes, PillButton::Look::Quiet, tr("Log")))
    , m_cancel(new PillButton(themes, PillButton::Look::Quiet, tr("Cancel  Shift+F5")))
{
    setFixedHeight(kHeight);
    m_text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_text->setElision(Elision::Title);
    m_board->setToolTip(tr("The board that everything is compiled for and measured on (Ctrl+B)"));
    m_issues->setToolTip(tr("Show issues"));
    m_log->setToolTip(tr("Show the log of all jobs"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(26, 1, 10, 0);
    layout->setSpacing(6);
    layout->addWidget(m_board);
    layout->addWidget(m_text, 1);
    layout->addSpacing(kProgressWidth + 16);
    layout->addWidget(m_cancel);
    layout->addWidget(m_issues);
    layout->addWidget(m_log);
    connect(m_board, &QPushButton::clicked, this, &StatusStrip::boardsRequested);
    connect(m_cancel, &QPushButton::clicked, this, &StatusStrip::cancelRequested);
    connect(m_issues, &QPushButton::clicked, this, &StatusStrip::issuesRequested);
    connect(m_log, &QPushButton::clicked, this, &StatusStrip::logRequested);
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &StatusStrip::refresh);
    connect(&passes, &PassesPresenter::stateChanged, this, &StatusStrip::refresh);
    connect(&boards, &BoardsPresenter::stateChanged, this, &StatusStrip::refresh);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
    refresh();
}

void StatusStrip::setPositionShown(bool isShown)
{
    m_showsPosition = isShown;
    refresh();
}

void StatusStrip::refresh()
{
    const WorkspaceState& state = m_workspace.state();
    const JobState& job = m_workspace.jobs().state();
    QStringList parts;
    if (job.isRunning) {
        parts << job.title;
        if (!job.step.isEmpty()) parts << job.step;
    } else if (!job.news.isEmpty()) {
        parts << job.news;
    } else {
        if (m_showsPosition && state.hasDocument && m_passes.state().versionCount > 1)
            parts << m_passes.state().positionText;
        if (!state.staleText.isEmpty()) parts << state.staleText;
        if (!state.compileText.isEmpty()) parts << state.compileText;
        if (!state.measurementText.isEmpty()) parts << state.measurementText;
        if (parts.size() < 2 && !job.outcome.isEmpty()) parts << job.outcome;
    }
    m_text->setText(parts.join(QStringLiteral("   ·   ")));
    if (m_board->text() != m_boards.state().statusText) {
        m_board->setText(m_boards.state().statusText);
        m_board->setAccessibleName(tr("Board: %1").arg(m_boards.state().statusText));
        m_board->updateGeometry();
    }
    m_cancel->setVisible((job.isRunning && !job.isCancelling) || m_boards.isWorking());
    auto* row = static_cast<QHBoxLayout*>(layout());
    row->itemAt(2)->spacerItem()->changeSize(job.isRunning ? kProgressWidth + 16 : 0, 1);
    row->invalidate();
    m_issues->setVisible(state.hasDocument);
    m_issues->setText(state.issueCount == 0   ? tr("no issues")
                      : state.issueCount == 1 ? tr("1 issue")
                                              : tr("%1 issues").arg(state.issueCount));
    update();
}

void StatusStrip::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    const JobState& job = m_workspace.jobs().state();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), t.panel);
    painter.setPen(t.line);
    painter.drawLine(0, 0, width(), 0);
    paintBoardState(painter, t, m_boards.state().state, QPointF(20, height() / 2.0 + 0.5), 4.5);
    if (!job.isRunning) return;
    painter.setPen(Qt::NoPen);
    const QRectF bar(m_text->geometry().right() + 12, height() / 2.0 - 2.5, kProgressWidth, 6);
    painter.setBrush(t.line);
    painter.drawRoundedRect(bar, 3, 3);
    painter.setBrush(t.accent);
    const double share = job.fraction < 0 ? 0.3 : std::clamp(job.fraction, 0.02, 1.0);
    painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(bar.width() * share, bar.height())), 3, 3);
}

} // namespace tenon::views
