// SPDX-License-Identifier: GPL-3.0-or-later
// What the colours of cards mean: the ramp with its ends, or the families of operators.
#include "views/canvas/scene_painter.h"

#include <QFontMetricsF>

#include <algorithm>
#include <set>

namespace tenon::views {

namespace {

constexpr double kInset = 12, kHeight = 24, kPad = 10;
constexpr double kRampWidth = 96, kSwatch = 9, kGap = 6;

} // namespace

void ScenePainter::paintLegend(QPainter& painter, const QString& note, QSizeF view) const
{
    const CardLooks looks = m_now.scene->looks;
    if (!looks.isColoured && !looks.hasLegend) return;
    const double above = note.isEmpty() ? 0 : kHeight + kGap;
    QRectF area(kInset, view.height() - kInset - above - kHeight, 0, kHeight);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(m_theme.secondaryFont);
    looks.isColoured ? paintRamp(painter, area) : paintTypes(painter, area);
}

namespace {

void paintPill(QPainter& painter, const Theme& theme, const QRectF& area)
{
    QColor back = theme.panel;
    back.setAlphaF(0.94f);
    painter.setPen(theme.line);
    painter.setBrush(back);
    painter.drawRoundedRect(area, 5, 5);
}

} // namespace

void ScenePainter::paintRamp(QPainter& painter, const QRectF& corner) const
{
    const CardLooks looks = m_now.scene->looks;
    const QFontMetricsF metrics(m_theme.secondaryFont);
    const Scene& scene = *m_now.scene;
    const QString title = colouringText(looks, scene.unit);
    const QString lowest = isCompared(looks.figure)
                               ? QStringLiteral("%1 dB").arg(qRound(scene.least))
                               : QStringLiteral("0");
    const QString highest =
        isCompared(looks.figure)
            ? QStringLiteral("%1 dB").arg(qRound(scene.largest))
            : figureText(looks.figure, static_cast<double>(scene.largest), scene.unit);
    const double titleWidth = metrics.horizontalAdvance(title);
    const double lowWidth = metrics.horizontalAdvance(lowest);
    QRectF area = corner;
    area.setWidth(2 * kPad + titleWidth + lowWidth + kRampWidth +
                  metrics.horizontalAdvance(highest) + 3 * kGap);
    paintPill(painter, m_theme, area);
    const QRectF words = area.adjusted(kPad, 0, -kPad, 0);
    painter.setPen(m_theme.text);
    painter.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, title);
    painter.setPen(m_theme.secondary);
    painter.drawText(words.adjusted(titleWidth + kGap, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     lowest);
    painter.drawText(words, Qt::AlignRight | Qt::AlignVCenter, highest);
    const QRectF ramp(words.left() + titleWidth + lowWidth + 2 * kGap, area.center().y() - 4,
                      kRampWidth, 8);
    QLinearGradient colours(ramp.topLeft(), ramp.topRight());
    constexpr int kStops = 8;
    for (int i = 0; i <= kStops; ++i)
        colours.setColorAt(static_cast<double>(i) / kStops,
                           Theme::rampColour(static_cast<double>(i) / kStops));
    painter.fillRect(ramp, colours);
}

void ScenePainter::paintTypes(QPainter& painter, const QRectF& corner) const
{
    std::set<OpFamily> shown;
    for (const SceneItem& item : m_now.scene->items)
        if (!item.isFrame) shown.insert(item.family);
    const QFontMetricsF metrics(m_theme.secondaryFont);
    QRectF area = corner;
    area.setWidth(kPad);
    for (const OpFamily family : shown)
        area.setWidth(area.width() + kSwatch + kGap +
                      metrics.horizontalAdvance(familyText(family)) + kPad);
    paintPill(painter, m_theme, area);
    double x = area.left() + kPad;
    for (const OpFamily family : shown) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(m_theme.familyColour(family));
        painter.drawRoundedRect(QRectF(x, area.center().y() - kSwatch / 2, kSwatch, kSwatch), 2, 2);
        x += kSwatch + kGap;
        painter.setPen(m_theme.secondary);
        const double width = metrics.horizontalAdvance(familyText(family));
        painter.drawText(QRectF(x, area.top(), width + 2, area.height()),
                         Qt::AlignLeft | Qt::AlignVCenter, familyText(family));
        x += width + kPad;
    }
}

} // namespace tenon::views
