// SPDX-License-Identifier: GPL-3.0-or-later
// Cards and frames with their texts.
#include "views/canvas/scene_painter.h"

#include <QFontMetricsF>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr double kCardRadius = 5;
constexpr float kQuietBar = 0.45f;

/// Errors wear the colour of what is taken away, and a glyph of their own.
DiffState stateOf(const SceneItem& item) { return item.isFaulty ? DiffState::Removed : item.state; }

QString glyphOf(const SceneItem& item)
{
    return item.isFaulty ? QStringLiteral("!") : Theme::stateGlyph(item.state);
}

} // namespace

QColor ScenePainter::frameFill(const SceneItem& item, CardLook look) const
{
    if (look == CardLook::Selected) return m_theme.accentTint;
    if (item.state != DiffState::Plain && !isDim(item.state)) return m_theme.stateTint(item.state);
    return item.isScope ? m_theme.panel : m_theme.window;
}

void ScenePainter::paintFrame(QPainter& painter, const SceneItem& item, CardLook look)
{
    const bool isSelected = look == CardLook::Selected;
    QColor fill = frameFill(item, look);
    if (item.isScope && !isSelected) fill.setAlphaF(0.55f); // scopes in scopes
    painter.setPen(QPen(isSelected ? m_theme.accent : m_theme.stateColour(stateOf(item)),
                        isSelected ? 2 : 1.2));
    painter.setBrush(fill);
    painter.drawRoundedRect(item.rect, 7, 7);
    paintHeat(painter, item);
}

/// Over the edges that enter the frame, with the frame's own ground around the words.
void ScenePainter::paintFrameTitle(QPainter& painter, const SceneItem& item, CardLook look)
{
    const bool isSelected = look == CardLook::Selected;
    const QRectF band(item.rect.left() + 14, item.rect.top() + 4, item.rect.width() - 28, 22);
    const QString glyph = glyphOf(item);
    QStringList told{item.isScope ? item.detail : QString(), item.figure};
    told.removeAll(QString());
    const QString right = told.join(QStringLiteral(" · "));
    const QFontMetricsF strong(m_theme.bodyStrong), plain(m_theme.secondaryFont);
    const double glyphWidth = glyph.isEmpty() ? 0 : 16;
    const double rightWidth = right.isEmpty() ? 0 : plain.horizontalAdvance(right) + 8;
    const QString title =
        strong.elidedText(item.title, Qt::ElideMiddle, band.width() - glyphWidth - rightWidth);
    if (!item.isScope)
        painter.fillRect(QRectF(band.left() - 2, band.top() + 2,
                                strong.horizontalAdvance(title) + 4, band.height() - 4),
                         frameFill(item, look));
    if (!right.isEmpty())
        painter.fillRect(QRectF(band.right() - glyphWidth - rightWidth + 4, band.top() + 2,
                                rightWidth - 2, band.height() - 4),
                         frameFill(item, look));
    painter.setFont(m_theme.secondaryFont);
    painter.setPen(m_theme.secondary);
    painter.drawText(band.adjusted(0, 0, -glyphWidth, 0), Qt::AlignRight | Qt::AlignVCenter, right);
    painter.setFont(m_theme.bodyStrong);
    if (!glyph.isEmpty()) {
        painter.setPen(m_theme.stateInk(stateOf(item)));
        painter.drawText(band, Qt::AlignRight | Qt::AlignVCenter, glyph);
    }
    painter.setPen(isSelected          ? m_theme.accentInk
                   : isDim(item.state) ? m_theme.secondary
                                       : m_theme.text);
    painter.drawText(band, Qt::AlignLeft | Qt::AlignVCenter, title);
}

void ScenePainter::paintCard(QPainter& painter, const SceneItem& item, double zoom, CardLook look)
{
    const bool isSelected = look == CardLook::Selected;
    const bool isQuiet = isDim(item.state) && look == CardLook::Normal;
    QPen border(isSelected                  ? m_theme.accent
                : look == CardLook::Hovered ? m_theme.secondary
                                            : m_theme.stateColour(stateOf(item)),
                isSelected ? 2 : 1.1);
    if (item.state == DiffState::Removed && !isSelected) border.setStyle(Qt::DashLine);
    painter.setPen(border);
    // What did not change lies on the canvas rather than on it: weaker, but as readable.
    painter.setBrush(isColoured(item) ? Theme::rampColour(static_cast<double>(item.heat))
                     : isSelected     ? m_theme.accentTint
                     : isQuiet        ? m_theme.canvas
                                      : m_theme.stateTint(item.state));
    painter.drawRoundedRect(item.rect, kCardRadius, kCardRadius);
    QColor bar = isColoured(item) ? Theme::inkOn(painter.brush().color())
                                  : m_theme.familyColour(item.family);
    if (isQuiet) bar.setAlphaF(kQuietBar);
    painter.setPen(Qt::NoPen);
    painter.setBrush(bar);
    painter.drawRoundedRect(
        QRectF(item.rect.left() + 1, item.rect.top() + 6, 4, item.rect.height() - 12), 2, 2);
    paintHeat(painter, item);
    if (kCardHeight * zoom >= kTextHeight) paintCardText(painter, item, look);
}

/// A bar at the lower edge, as long as the figure is of the largest; hatched where it is estimated.
void ScenePainter::paintHeat(QPainter& painter, const SceneItem& item) const
{
    if (item.heat <= 0) return;
    constexpr double kHeight = 2, kInset = 9;
    const double width = (item.rect.width() - 2 * kInset) * static_cast<double>(item.heat);
    const bool isOnRamp = isColoured(item) && (!item.isFrame || item.isCollapsed);
    const QColor ink =
        isOnRamp ? Theme::inkOn(Theme::rampColour(static_cast<double>(item.heat))) : m_theme.accent;
    const QRectF bar(item.rect.left() + kInset, item.rect.bottom() - kHeight - 1,
                     std::max(2.0, width), kHeight);
    if (!item.isEstimated) return painter.fillRect(bar, ink);
    constexpr double kDash = 3, kGap = 2;
    for (double x = bar.left(); x < bar.right(); x += kDash + kGap)
        painter.fillRect(QRectF(x, bar.top(), std::min(kDash, bar.right() - x), kHeight), ink);
}

const QStaticText& ScenePainter::text(QHash<QString, QStaticText>& cache, const QString& text,
                                      const QFont& font, double width)
{
    const QString key = text + QChar(0x1f) + QString::number(static_cast<int>(width));
    const auto it = cache.constFind(key);
    if (it != cache.constEnd()) return *it;
    QStaticText prepared(QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
    prepared.setTextFormat(Qt::PlainText);
    prepared.setPerformanceHint(QStaticText::AggressiveCaching);
    prepared.prepare(QTransform(), font);
    return *cache.insert(key, prepared);
}

void ScenePainter::paintCardText(QPainter& painter, const SceneItem& item, CardLook look)
{
    const double left = item.rect.left() + 14, width = item.rect.width() - 26;
    const bool hasOneLine = item.detail.isEmpty() && item.figure.isEmpty();
    const double top = item.rect.top() + (hasOneLine ? 12 : 4);
    const QString glyph = glyphOf(item);
    painter.setFont(m_theme.bodyStrong);
    const bool isQuiet = isDim(item.state) && look == CardLook::Normal;
    const QColor onRamp = isColoured(item)
                              ? Theme::inkOn(Theme::rampColour(static_cast<double>(item.heat)))
                              : QColor();
    painter.setPen(onRamp.isValid()             ? onRamp
                   : look == CardLook::Selected ? m_theme.accentInk
                   : isQuiet                    ? m_theme.secondary
                                                : m_theme.text);
    painter.drawStaticText(QPointF(left, top), text(m_titles, item.title, m_theme.bodyStrong,
                                                    width - (glyph.isEmpty() ? 0 : 14)));
    if (!glyph.isEmpty()) {
        painter.setPen(onRamp.isValid() ? onRamp : m_theme.stateInk(stateOf(item)));
        painter.drawText(QRectF(left, top, width, 17), Qt::AlignRight | Qt::AlignVCenter, glyph);
    }
    painter.setFont(m_theme.secondaryFont);
    painter.setPen(onRamp.isValid() ? onRamp : m_theme.secondary);
    double figureWidth = 0;
    if (!item.figure.isEmpty()) {
        figureWidth = QFontMetricsF(m_theme.secondaryFont).horizontalAdvance(item.figure) + 8;
        painter.drawText(QRectF(left, item.rect.top() + 21, width, 16),
                         Qt::AlignRight | Qt::AlignVCenter, item.figure);
    }
    if (!item.detail.isEmpty())
        painter.drawStaticText(
            QPointF(left, item.rect.top() + 21),
            text(m_details, item.detail, m_theme.secondaryFont, width - figureWidth));
}

} // namespace tenon::views
