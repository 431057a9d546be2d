// SPDX-License-Identifier: GPL-3.0-or-later
// Empty notices and banners.
#include "views/pages/common/notice.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPainter>

namespace tenon::views {

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

void EmptyNotice::setActionEnabled(bool isEnabled) { m_button->setEnabled(isEnabled); }

Banner::Banner(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_title(new ThemedLabel(themes, ThemedLabel::Role::Strong))
    , m_text(new ThemedLabel(themes, ThemedLabel::Role::Body))
    , m_node(new PillButton(themes, PillButton::Look::Quiet, tr("Go to node")))
    , m_issues(new PillButton(themes, PillButton::Look::Quiet, tr("Show issues")))
{
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* copy = new PillButton(themes, PillButton::Look::Quiet, tr("Copy details"));
    auto* close = new PillButton(themes, PillButton::Look::Quiet, tr("Dismiss"));
    connect(m_node, &QPushButton::clicked, this, &Banner::nodeRequested);
    connect(m_issues, &QPushButton::clicked, this, &Banner::detailsRequested);
    connect(copy, &QPushButton::clicked, this, [this] {
        QGuiApplication::clipboard()->setText(m_title->text() + QStringLiteral(": ") +
                                              m_text->text());
    });
    connect(close, &QPushButton::clicked, this, &Banner::dismissed);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(kPanelMargin, 8, 8, 8);
    layout->setSpacing(10);
    layout->addWidget(m_title);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_node);
    layout->addWidget(m_issues);
    layout->addWidget(copy);
    layout->addWidget(close);
    hide();
}

void Banner::showMessage(const QString& title, const QString& text, Leads leads)
{
    m_title->setText(title);
    m_text->setText(text);
    m_node->setVisible(leads.hasNode);
    m_issues->setVisible(leads.hasIssues);
    setVisible(!title.isEmpty());
    setAccessibleName(title + QStringLiteral(": ") + text);
}

void Banner::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(t.removed);
    painter.setBrush(t.removedTint);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), kPanelRadius,
                            kPanelRadius);
}

} // namespace tenon::views
