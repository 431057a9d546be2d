// SPDX-License-Identifier: GPL-3.0-or-later
// Bars for the reference, a line for the device; heights by logarithm, so that the tails are seen.
#include "views/charts/value_chart.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr int kValueLegendHeight = 18;
constexpr int kAxisHeight = 20;

} // namespace

ValueChart::ValueChart(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void ValueChart::setHistogram(const ValueHistogram& histogram)
{
    m_histogram = histogram;
    update();
}

QRectF ValueChart::area() const
{
    return {0, kValueLegendHeight, static_cast<double>(width()),
            static_cast<double>(height() - kValueLegendHeight - kAxisHeight)};
}

double ValueChart::heightOf(int64_t count) const
{
    int64_t most = 1;
    for (const auto* bins : {&m_histogram.reference, &m_histogram.device})
        for (const int64_t bin : *bins) most = std::max(most, bin);
    return std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
}

void ValueChart::paintAxis(QPainter& painter) const
{
    const Theme& t = m_themes.theme();
    const QRectF place = area();
    painter.setPen(t.line);
    painter.drawLine(place.bottomLeft(), place.bottomRight());
    painter.setPen(t.secondary);
    const QRectF below(place.left(), place.bottom() + 3, place.width(), kAxisHeight - 3);
    painter.drawText(below, Qt::AlignLeft, valueText(m_histogram.least));
    painter.drawText(below, Qt::AlignRight, valueText(m_histogram.greatest));
    const QString middle = tr("value");
    painter.drawText(below, Qt::AlignHCenter, middle);
    const QFontMetrics metrics(t.secondaryFont);
    double x = 0;
    const auto legend = [&](const QString& text, const QColor& colour) {
        painter.fillRect(QRectF(x, 5, 10, 8), colour);
        painter.setPen(t.secondary);
        painter.drawText(QRectF(x + 15, 0, width(), kValueLegendHeight),
                         Qt::AlignLeft | Qt::AlignVCenter, text);
        x += 15 + metrics.horizontalAdvance(text) + 14;
    };
    legend(tr("reference"), t.accentSoft);
    legend(tr("device"), t.changed);
    painter.setPen(t.faint);
    painter.drawText(QRectF(x, 0, width() - x, kValueLegendHeight),
                     Qt::AlignRight | Qt::AlignVCenter, tr("elements, by logarithm"));
}

void ValueChart::paintEvent(QPaintEvent*)
{
    if (m_histogram.reference.empty()) return;
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setFont(t.secondaryFont);
    const QRectF place = area();
    const double wide = place.width() / static_cast<double>(m_histogram.reference.size());
    QPolygonF line;
    for (size_t i = 0; i < m_histogram.reference.size(); ++i) {
        const double left = place.left() + wide * static_cast<double>(i);
        const double high = place.height() * heightOf(m_histogram.reference[i]);
        painter.fillRect(QRectF(left, place.bottom() - high, std::max(1.0, wide - 1), high),
                         t.accentSoft);
        const double y = place.bottom() - place.height() * heightOf(m_histogram.device[i]);
        line << QPointF(left, y) << QPointF(left + wide, y);
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(t.changed, 1.5));
    painter.drawPolyline(line);
    paintAxis(painter);
}

} // namespace tenon::views
