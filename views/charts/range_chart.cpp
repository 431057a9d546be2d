// SPDX-License-Identifier: GPL-3.0-or-later
// Bars by logarithm, so that the tails are seen; those beyond the range in another colour.
#include "views/charts/range_chart.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kLegend = 18, kAxis = 34;

QString digits(double value) { return QString::number(value, 'g', 4); }

} // namespace

RangeChart::RangeChart(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setAccessibleName(tr("Values of the tensor and the range of its integers"));
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void RangeChart::setTensor(const QuantizeRow& tensor)
{
    m_tensor = tensor;
    setAccessibleDescription(tr("values from %1 to %2, integers from %3 to %4, %5 % clipped")
                                 .arg(digits(tensor.least), digits(tensor.greatest),
                                      digits(tensor.from), digits(tensor.to))
                                 .arg(tensor.clippedShare * 100, 0, 'g', 3));
    update();
}

double RangeChart::xOf(double value, const QRectF& where) const
{
    const double least = std::min(m_tensor.least, m_tensor.from);
    const double reach = std::max(std::max(m_tensor.greatest, m_tensor.to) - least, 1e-30);
    return where.left() + (value - least) / reach * where.width();
}

void RangeChart::paintBars(QPainter& painter, const QRectF& where) const
{
    const Theme& t = m_themes.theme();
    const auto parts = static_cast<double>(m_tensor.counts.size());
    const double step = (m_tensor.greatest - m_tensor.least) / parts;
    const qint64 most = *std::max_element(m_tensor.counts.begin(), m_tensor.counts.end());
    for (size_t i = 0; i < m_tensor.counts.size(); ++i) {
        const double value = m_tensor.least + step * static_cast<double>(i);
        const double left = xOf(value, where), right = xOf(value + step, where);
        const double high = where.height() * std::log1p(static_cast<double>(m_tensor.counts[i])) /
                            std::log1p(static_cast<double>(std::max<qint64>(most, 1)));
        const bool isClipped = value + step <= m_tensor.from || value >= m_tensor.to;
        painter.fillRect(QRectF(left, where.bottom() - high,
                                std::max(1.0, right - left - (right - left > 3 ? 1 : 0)), high),
                         isClipped ? t.removed : t.accentSoft);
    }
}

void RangeChart::paintRange(QPainter& painter, const QRectF& where) const
{
    const Theme& t = m_themes.theme();
    painter.setPen(QPen(t.changed, 1.6));
    for (const double end : {m_tensor.from, m_tensor.to})
        painter.drawLine(QPointF(xOf(end, where), where.top()),
                         QPointF(xOf(end, where), where.bottom()));
    painter.setPen(t.secondary);
    const QRectF below(where.left(), where.bottom() + 2, where.width(), 15);
    painter.drawText(below, Qt::AlignLeft, digits(std::min(m_tensor.least, m_tensor.from)));
    painter.drawText(below, Qt::AlignRight, digits(std::max(m_tensor.greatest, m_tensor.to)));
    painter.setPen(t.changed);
    painter.drawText(below.translated(0, 15), Qt::AlignHCenter,
                     tr("integers %1 to %2").arg(digits(m_tensor.from), digits(m_tensor.to)));
    painter.setPen(t.secondary);
    const QString clipped = m_tensor.clippedShare > 0
                                ? tr("%1 % clipped").arg(m_tensor.clippedShare * 100, 0, 'g', 3)
                                : tr("nothing clipped");
    painter.drawText(QRectF(where.left(), 0, where.width(), kLegend), Qt::AlignRight, clipped);
    painter.setPen(t.faint);
    const QFontMetrics metrics(t.secondaryFont);
    const QString axis = tr("elements, by logarithm");
    constexpr int kApart = 12;
    if (metrics.horizontalAdvance(axis + clipped) + kApart > where.width()) return;
    painter.drawText(QRectF(where.left(), 0, where.width(), kLegend), Qt::AlignLeft, axis);
}

void RangeChart::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setFont(t.secondaryFont);
    const QRectF where(2, kLegend, width() - 4.0, height() - kLegend - kAxis);
    if (m_tensor.counts.empty()) {
        painter.setPen(t.faint);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                         m_tensor.tensor.isEmpty() ? tr("Select a tensor or a layer")
                                                   : tr("All its values are the same"));
        return;
    }
    paintBars(painter, where);
    painter.setPen(t.line);
    painter.drawLine(where.bottomLeft(), where.bottomRight());
    paintRange(painter, where);
}

} // namespace tenon::views
