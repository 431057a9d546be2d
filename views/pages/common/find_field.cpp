// SPDX-License-Identifier: GPL-3.0-or-later
// What was found stands in the field, left of the cross that clears it.
#include "views/pages/common/find_field.h"

#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kClearWidth = 28; ///< of the style's button

} // namespace

FindField::FindField(const ThemeSource& themes, QWidget* parent)
    : QLineEdit(parent)
    , m_themes(themes)
{
    setClearButtonEnabled(true);
}

QString FindField::note() const
{
    if (!m_found.isSought) return {};
    if (m_found.count == 0) return tr("none");
    if (m_found.shown == 0) return QString::number(m_found.count);
    return QStringLiteral("%1/%2").arg(m_found.shown).arg(m_found.count);
}

int FindField::noteWidth() const
{
    const QString shown = note();
    return shown.isEmpty() ? 0
                           : QFontMetrics(m_themes.theme().secondaryFont).horizontalAdvance(shown);
}

void FindField::setFound(Found found)
{
    m_found = found;
    setTextMargins(0, 0, noteWidth(), 0);
    setAccessibleDescription(!found.isSought    ? QString()
                             : found.count == 0 ? tr("nothing found")
                             : found.shown == 0 ? tr("%n found", nullptr, found.count)
                                                : tr("%1 of %2").arg(found.shown).arg(found.count));
    update();
}

void FindField::paintEvent(QPaintEvent* event)
{
    QLineEdit::paintEvent(event);
    const QString shown = note();
    if (shown.isEmpty()) return;
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setFont(t.secondaryFont);
    painter.setPen(m_found.count == 0 ? t.removed : t.secondary);
    painter.drawText(rect().adjusted(0, 0, -kClearWidth, 0), Qt::AlignRight | Qt::AlignVCenter,
                     shown);
}

} // namespace tenon::views
