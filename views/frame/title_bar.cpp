// SPDX-License-Identifier: GPL-3.0-or-later
// The title row.
#include "views/frame/title_bar.h"

#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kHeight = 46;
constexpr int kNarrow = 1350; ///< below this the facts give way
constexpr int kTight = 1200;  ///< below this tabs, name and target do
constexpr int kTightest = 1100;
constexpr int kFactsGap = 14;

} // namespace

TitleBar::TitleBar(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* window)
    : m_themes(themes)
    , m_workspace(workspace)
    , m_menu(new PillButton(themes, PillButton::Look::Quiet, {}))
    , m_name(new ThemedLabel(themes, ThemedLabel::Role::Document))
    , m_facts(new ThemedLabel(themes, ThemedLabel::Role::Secondary))
    , m_tabs(new PillTabs(themes, PillTabs::Size::Large))
    , m_target(new TargetField(themes, workspace, window))
    , m_primary(new PillButton(themes, PillButton::Look::Primary, tr("Deploy & Benchmark")))
{
    setFixedHeight(kHeight);
    m_menu->setIconName(QStringLiteral("tenon"));
    m_menu->setToolTip(tr("Menu"));
    m_menu->setAccessibleName(tr("Menu"));
    m_name->setElision(Elision::Name);
    m_facts->setMinimumWidth(24);
    m_primary->setShortcutText(QStringLiteral("Ctrl+R"));
    m_target->setMinimumWidth(190);
    m_target->setMaximumWidth(300);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(10, 0, 14, 0);
    layout->setSpacing(10);
    auto* left = new QHBoxLayout;
    left->setSpacing(12);
    left->addWidget(m_menu);
    left->addWidget(m_name, 0);
    left->addWidget(m_facts, 1);
    auto* right = new QHBoxLayout;
    right->setSpacing(10);
    right->addStretch(1);
    right->addWidget(m_target, 4);
    right->addWidget(m_primary);
    layout->addLayout(left, 5);
    layout->addWidget(m_tabs, 0, Qt::AlignCenter);
    layout->addLayout(right, 5);
    connect(m_menu, &QPushButton::clicked, this,
            [this] { emit menuRequested(m_menu->mapToGlobal(QPoint(0, m_menu->height() + 4))); });
    connect(m_primary, &QPushButton::clicked, this, &TitleBar::deployRequested);
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &TitleBar::refresh);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
    refresh();
}

void TitleBar::setPerspectives(const QStringList& names)
{
    for (const QString& name : names) m_tabs->addTab(name);
}

void TitleBar::refresh()
{
    const WorkspaceState& state = m_workspace.state();
    fitName();
    fitTabs();
    fitFacts();
    m_tabs->setVisible(state.hasDocument);
    m_primary->setVisible(state.hasDocument);
    m_target->setVisible(state.hasDocument);
}

void TitleBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    m_facts->setVisible(width() >= kNarrow);
    m_target->setMinimumWidth(width() < kTightest ? 110 : width() < kTight ? 140 : 190);
    m_primary->setShortcutText(width() >= kNarrow ? QStringLiteral("Ctrl+R") : QString());
    m_primary->setText(width() < kTightest ? tr("Deploy") : tr("Deploy & Benchmark"));
    fitName();
    fitTabs();
    fitFacts();
}

/// Beside a long name, too, every tab can be read: tabs move together first, then the name gives
/// way.
void TitleBar::fitTabs()
{
    constexpr int kGaps = 150; // menu, margins and what is between the parts, with a hidden fact
    constexpr int kLeastName = 60;
    const auto lacking = [this] {
        return m_name->minimumWidth() + m_tabs->sizeHint().width() + m_target->minimumWidth() +
               m_primary->sizeHint().width() + kGaps - width();
    };
    m_tabs->setTight(false);
    m_tabs->setTight(width() < kTight || lacking() > 0);
    m_tabs->setMinimumWidth(m_tabs->sizeHint().width());
    if (const int less = lacking(); less > 0)
        m_name->setMinimumWidth(std::max(kLeastName, m_name->minimumWidth() - less));
}

/// Where room is short the suffix goes first: what is left of a name tells more than its end.
void TitleBar::fitName()
{
    const WorkspaceState& state = m_workspace.state();
    const QString name = state.hasDocument ? state.title : tr("Tenon");
    // "kws/model.tflite" has its folder because "model" says nothing.
    const QString folder = name.section(QLatin1Char('/'), 0, 0);
    m_name->setText(width() >= kTight                 ? name
                    : name.contains(QLatin1Char('/')) ? folder
                                                      : name.section(QLatin1Char('.'), 0, -2));
    if (m_name->text().isEmpty()) m_name->setText(name);
    const int most = width() < kTight ? 130 : 260;
    m_name->setMinimumWidth(
        std::min(most, m_name->fontMetrics().horizontalAdvance(m_name->text()) + 4));
}

/// Whole facts only: the last ones give way first, all of them stand in the tooltip in full digits.
void TitleBar::fitFacts()
{
    if (layout()) layout()->activate(); // a new name moves what stands behind it
    const QString whole = m_workspace.state().facts;
    QStringList facts = whole.split(QStringLiteral(" · "));
    const int room = m_tabs->x() - m_facts->x() - kFactsGap;
    while (facts.size() > 1 &&
           m_facts->fontMetrics().horizontalAdvance(facts.join(QStringLiteral(" · "))) > room)
        facts.removeLast();
    const QString text = facts.join(QStringLiteral(" · "));
    m_facts->setText(m_facts->fontMetrics().horizontalAdvance(text) > room ? QString() : text);
    m_facts->setToolTip(m_workspace.state().exactFacts);
}

void TitleBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_themes.theme().panel);
    painter.setPen(m_themes.theme().line);
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

} // namespace tenon::views
