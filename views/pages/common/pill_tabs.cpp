// SPDX-License-Identifier: GPL-3.0-or-later
// Painting of pill-shaped tabs and buttons.
#include "views/pages/common/pill_tabs.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kIconSize = 15;

} // namespace

PillTabs::PillTabs(const ThemeSource& themes, Size size, QWidget* parent)
    : QTabBar(parent)
    , m_themes(themes)
    , m_size(size)
{
    setDrawBase(false);
    setExpanding(size == Size::Small);
    setMouseTracking(true);
    setUsesScrollButtons(false);
    setElideMode(Qt::ElideNone);
    setFont(themes.theme().body);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

QSize PillTabs::tabSizeHint(int index) const
{
    const int text = QFontMetrics(m_themes.theme().bodyStrong).horizontalAdvance(tabText(index));
    if (m_size == Size::Small) return {text + 18, 26};
    return {m_isTight ? text + 18 : std::max(84, text + 36), 30};
}

void PillTabs::setTight(bool isTight)
{
    if (isTight == m_isTight) return;
    m_isTight = isTight;
    if (count() > 0) setTabText(0, tabText(0)); // measures the tabs again
    updateGeometry();
}

QSize PillTabs::minimumTabSizeHint(int index) const { return tabSizeHint(index); }

void PillTabs::mouseMoveEvent(QMouseEvent* event)
{
    const int hovered = tabAt(event->pos());
    if (hovered != m_hovered) update();
    m_hovered = hovered;
    QTabBar::mouseMoveEvent(event);
}

void PillTabs::leaveEvent(QEvent* event)
{
    m_hovered = -1;
    update();
    QTabBar::leaveEvent(event);
}

void PillTabs::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (int i = 0; i < count(); ++i) {
        const QRectF area = QRectF(tabRect(i)).adjusted(2, 1.5, -2, -1.5);
        const bool isCurrent = i == currentIndex();
        if (isCurrent || i == m_hovered) {
            QColor fill = t.accentTint;
            if (!isCurrent) fill.setAlphaF(0.5f);
            painter.setPen(isCurrent && hasFocus() ? QPen(t.accent, 1) : QPen(Qt::NoPen));
            painter.setBrush(fill);
            painter.drawRoundedRect(area, 5, 5);
        }
        painter.setFont(isCurrent ? t.bodyStrong : t.body);
        painter.setPen(!isTabEnabled(i) ? t.faint : isCurrent ? t.accentInk : t.secondary);
        painter.drawText(area, Qt::AlignCenter, tabText(i));
    }
}

PillButton::PillButton(const ThemeSource& themes, Look look, const QString& text, QWidget* parent)
    : QPushButton(text, parent)
    , m_themes(themes)
    , m_look(look)
{
    setCursor(Qt::PointingHandCursor);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void PillButton::setShortcutText(const QString& text)
{
    m_shortcutText = text;
    updateGeometry();
}

void PillButton::setIconName(const QString& name)
{
    m_iconName = name;
    updateGeometry();
}

QSize PillButton::sizeHint() const
{
    const QFontMetrics metrics(m_look == Look::Quiet ? m_themes.theme().body
                                                     : m_themes.theme().bodyStrong);
    int width = metrics.horizontalAdvance(text()) + (m_look == Look::Quiet ? 14 : 26);
    if (!m_shortcutText.isEmpty()) width += metrics.horizontalAdvance(m_shortcutText) + 10;
    if (!m_iconName.isEmpty()) width += kIconSize + (text().isEmpty() ? 0 : 6);
    return {width, m_look == Look::Quiet ? 24 : 30};
}

QColor PillButton::ink() const
{
    const Theme& t = m_themes.theme();
    if (!isEnabled()) return t.faint;
    if (m_look == Look::Primary) return t.accentText;
    return m_isHovered ? t.accentInk : m_look == Look::Quiet ? t.secondary : t.text;
}

void PillButton::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool isLit = m_isHovered && isEnabled();
    if (m_look == Look::Primary) {
        QColor fill =
            isEnabled() ? (isLit ? t.accent.lighter(t.isDark ? 108 : 112) : t.accent) : t.line;
        if (isDown()) fill = t.accent.darker(110);
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(area, 5, 5);
    } else if (m_look == Look::Plain || isLit) {
        painter.setPen(m_look == Look::Plain ? QPen(isLit ? t.accent : t.line) : QPen(Qt::NoPen));
        painter.setBrush(isLit ? t.accentTint : t.panel);
        painter.drawRoundedRect(area, 5, 5);
    }
    if (hasFocus()) {
        painter.setPen(QPen(m_look == Look::Primary ? t.text : t.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(area.adjusted(1.5, 1.5, -1.5, -1.5), 4, 4);
    }
    const QColor colour = ink();
    painter.setFont(m_look == Look::Quiet ? t.body : t.bodyStrong);
    QRectF inner =
        area.adjusted(m_look == Look::Quiet ? 7 : 13, 0, m_look == Look::Quiet ? -7 : -13, 0);
    if (!m_iconName.isEmpty()) {
        themedIcon(m_iconName, colour)
            .paint(&painter, QRect(static_cast<int>(inner.left()), (height() - kIconSize) / 2,
                                   kIconSize, kIconSize));
        inner.setLeft(inner.left() + kIconSize + 6);
    }
    painter.setPen(colour);
    if (m_shortcutText.isEmpty()) {
        painter.drawText(inner,
                         m_iconName.isEmpty() ? Qt::AlignCenter : Qt::AlignLeft | Qt::AlignVCenter,
                         text());
        return;
    }
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, text());
    QColor weak = colour;
    weak.setAlphaF(0.8f);
    painter.setPen(weak);
    painter.setFont(t.body);
    painter.drawText(inner, Qt::AlignRight | Qt::AlignVCenter, m_shortcutText);
}

/// Qt gives Return to buttons of dialogs alone.
void PillButton::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return click();
    QPushButton::keyPressEvent(event);
}

void PillButton::enterEvent(QEnterEvent*)
{
    m_isHovered = true;
    update();
}

void PillButton::leaveEvent(QEvent*)
{
    m_isHovered = false;
    update();
}

} // namespace tenon::views
