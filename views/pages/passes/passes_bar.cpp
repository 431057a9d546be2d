// SPDX-License-Identifier: GPL-3.0-or-later
// What stands around the graph and the list: the way from before to after by hand, and whether the
// numbers hold.
#include "views/pages/passes/passes_page.h"

#include <QHBoxLayout>
#include <QStyle>

namespace tenon::views {

namespace {

constexpr int kScrubSteps = 100;
constexpr int kScrubWidth = 92;

} // namespace

/// Left: before the pass, right: after it; in between as it moves when it is played.
void PassesPage::buildScrubber(const ThemeSource& themes)
{
    m_play = new PillButton(themes, PillButton::Look::Quiet, tr("▷"));
    m_play->setAccessibleName(tr("Play how the pass changed the graph"));
    m_play->setToolTip(tr("Play how the pass changed the graph (M)"));
    m_play->setFocusPolicy(Qt::TabFocus);
    m_scrubber = new QSlider(Qt::Horizontal);
    m_scrubber->setRange(0, kScrubSteps);
    m_scrubber->setValue(kScrubSteps);
    m_scrubber->setFixedWidth(kScrubWidth);
    m_scrubber->setAccessibleName(tr("From before the pass to after it"));
    m_scrubber->setToolTip(tr("From before the pass (left) to after it (right)"));
    m_graphPanel->header()->addWidget(m_play);
    m_graphPanel->header()->addWidget(m_scrubber);
    connect(m_play, &QPushButton::clicked, this, [this] {
        m_scrubber->setValue(kScrubSteps);
        playPass();
    });
    connect(m_scrubber, &QSlider::valueChanged, this, &PassesPage::scrub);
    // Two versions side by side have no way from one to the other.
    connect(&m_presenter, &PassesPresenter::stateChanged, m_play, [this] {
        const PassesState& state = m_presenter.state();
        const bool hasWay = state.isReady && state.mode != DiffMode::Split;
        m_play->setVisible(hasWay);
        m_scrubber->setVisible(hasWay);
    });
}

/// In a narrow window the pass keeps its name, and the way between its two sides gets shorter.
void PassesPage::resizeEvent(QResizeEvent* event)
{
    constexpr int kNarrow = 1100, kNarrowScrubWidth = 52;
    QWidget::resizeEvent(event);
    m_scrubber->setFixedWidth(width() < kNarrow ? kNarrowScrubWidth : kScrubWidth);
}

void PassesPage::scrub(int value)
{
    if (!m_scrubbed) m_scrubbed = m_presenter.sceneBefore();
    m_canvas->hold(m_scrubbed, static_cast<double>(value) / kScrubSteps);
}

void PassesPage::showNumbers(const ThemeSource& themes, NumbersPresenter& numbers)
{
    auto* text = makeSentence(themes, ThemedLabel::Role::Secondary);
    auto* check = new PillButton(themes, PillButton::Look::Quiet, tr("Check numbers"));
    check->setToolTip(tr("Evaluates the model behind every pass on the same inputs and compares "
                         "the results with the imported model's"));
    m_listPanel->content()->addLayout(indented(text));
    m_listPanel->content()->addWidget(check, 0, Qt::AlignLeft);
    connect(check, &QPushButton::clicked, &numbers, &NumbersPresenter::check);
    const auto refreshNumbers = [text, check, &numbers] {
        const NumbersState& state = numbers.state();
        text->setText(state.text);
        text->setRole(state.isBroken ? ThemedLabel::Role::Error : ThemedLabel::Role::Secondary);
        text->setVisible(!state.text.isEmpty());
        check->setEnabled(state.canCheck);
    };
    connect(&numbers, &NumbersPresenter::stateChanged, this, refreshNumbers);
    connect(&numbers, &NumbersPresenter::broke, &m_presenter, &PassesPresenter::showVersion);
    refreshNumbers();
}

void PassesPage::showSteps(const ThemeSource& themes, StepsPresenter& steps)
{
    auto* enter = new PillButton(themes, PillButton::Look::Quiet, tr("Step inside"));
    auto* leave = new PillButton(themes, PillButton::Look::Quiet, tr("Whole passes"));
    leave->setToolTip(tr("Back to one step for each pass (Shift+I)"));
    auto* row = new QHBoxLayout;
    row->setSpacing(2);
    row->addWidget(enter);
    row->addWidget(leave);
    row->addStretch(1);
    m_listPanel->content()->addLayout(row);
    connect(enter, &QPushButton::clicked, &steps, &StepsPresenter::enter);
    connect(leave, &QPushButton::clicked, &steps, &StepsPresenter::leave);
    const auto refreshSteps = [enter, leave, &steps] {
        const StepsState& state = steps.state();
        enter->setEnabled(state.canEnter);
        enter->setToolTip(tr("%1 (I)").arg(state.text));
        leave->setVisible(state.isInside);
    };
    connect(&steps, &StepsPresenter::stateChanged, this, refreshSteps);
    refreshSteps();
}

} // namespace tenon::views
