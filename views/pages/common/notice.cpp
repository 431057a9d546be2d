// SPDX-License-Identifier: GPL-3.0-or-later
// Empty notices and banners.
#include "views/pages/common/notice.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPainter>

namespace tenon::views {

namespace {

/// Of a text that is read at ease: some 90 letters.
constexpr int kWidestText = 620;

} // namespace

EmptyNotice::EmptyNotice(const ThemeSource& themes, const QString& title, const QString& text,
                         const QString& action, QWidget* parent)
    : QWidget(parent)
    , m_title(new ThemedLabel(themes, ThemedLabel::Role::Strong, title))
    , m_text(new ThemedLabel(themes, ThemedLabel::Role::Secondary, text))
    , m_button(new PillButton(themes, PillButton::Look::Plain, action))
{
    m_title->setAlignment(Qt::AlignCenter);
    m_text->setAlignment(Qt::AlignCenter);
    m_text->setWordWrap(true);
    m_text->setMaximumWidth(kWidestText);
    m_button->setVisible(!action.isEmpty());
    connect(m_button, &QPushButton::clicked, this, &EmptyNotice::triggered);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(18, 12, 18, 12);
    layout->setSpacing(8);
    layout->addStretch(2);
    layout->addWidget(m_title);
    layout->addWidget(m_text);
    layout->addSpacing(4);
    layout->addWidget(m_button, 0, Qt::AlignCenter);
    layout->addStretch(3);
}

void EmptyNotice::setText(const QString& title, const QString& text)
{
    m_title->setText(title);
    m_text->setText(text);
}

/// Whoever works by keyboard stays here while the button cannot be pressed: the focus would go to
/// whatever is next in the window.
void EmptyNotice::setActionEnabled(bool isEnabled)
{
    if (!isEnabled && m_button->hasFocus()) setFocus(Qt::OtherFocusReason);
    m_button->setEnabled(isEnabled);
    if (isEnabled && hasFocus()) m_button->setFocus(Qt::OtherFocusReason);
}

/// And stays on the page when what was asked for takes its place.
void EmptyNotice::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    const bool hadFocus = hasFocus() || m_button->hasFocus();
    if (hadFocus && parentWidget()->isVisible()) parentWidget()->setFocus(Qt::OtherFocusReason);
}

NoticeBar::NoticeBar(const ThemeSource& themes, Kind kind, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_kind(kind)
    , m_title(new ThemedLabel(themes, ThemedLabel::Role::Strong))
    , m_text(new ThemedLabel(themes, ThemedLabel::Role::Body))
{
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
    m_text->setWordWrap(true);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(kPanelMargin, 8, 8, 8);
    layout->setSpacing(10);
    layout->addWidget(m_title);
    layout->addWidget(m_text, 1);
    hide();
}

PillButton* NoticeBar::addButton(PillButton::Look look, const QString& text)
{
    auto* button = new PillButton(m_themes, look, text);
    layout()->addWidget(button);
    return button;
}

void NoticeBar::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    const bool isFailure = m_kind == Kind::Failure;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(isFailure ? t.removed : t.accentSoft);
    painter.setBrush(isFailure ? t.removedTint : t.accentTint);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kPanelRadius,
                            kPanelRadius);
}

Banner::Banner(const ThemeSource& themes, QWidget* parent)
    : NoticeBar(themes, Kind::Failure, parent)
    , m_node(addButton(PillButton::Look::Quiet, tr("Go to node")))
    , m_issues(addButton(PillButton::Look::Quiet, tr("Show issues")))
{
    text().setTextInteractionFlags(Qt::TextSelectableByMouse);
    connect(m_node, &QPushButton::clicked, this, &Banner::nodeRequested);
    connect(m_issues, &QPushButton::clicked, this, &Banner::detailsRequested);
    connect(addButton(PillButton::Look::Quiet, tr("Copy details")), &QPushButton::clicked, this,
            [this] {
                QGuiApplication::clipboard()->setText(title().text() + QStringLiteral(": ") +
                                                      text().text());
            });
    connect(addButton(PillButton::Look::Quiet, tr("Dismiss")), &QPushButton::clicked, this,
            &Banner::dismissed);
}

void Banner::showMessage(const QString& title, const QString& text, Leads leads)
{
    this->title().setText(title);
    this->text().setText(text);
    m_node->setVisible(leads.hasNode);
    m_issues->setVisible(leads.hasIssues);
    setVisible(!title.isEmpty());
    setAccessibleName(title + QStringLiteral(": ") + text);
}

} // namespace tenon::views
