// SPDX-License-Identifier: GPL-3.0-or-later
// Rectangles below a third of a pixel are left out, so a far view costs no more than a near one.
#include "views/charts/placement_layer.h"

#include "views/models/format.h"

#include <algorithm>

namespace tenon::views {

namespace {

constexpr double kVisiblePixels = 0.34;
constexpr double kLabelHeight = 14;

/// `fill` as it looks on `ground`.
QColor blended(const QColor& fill, const QColor& ground)
{
    const auto mix = [&](int over, int under) {
        return static_cast<int>(fill.alphaF() * static_cast<float>(over) +
                                (1 - fill.alphaF()) * static_cast<float>(under));
    };
    return {mix(fill.red(), ground.red()), mix(fill.green(), ground.green()),
            mix(fill.blue(), ground.blue())};
}

/// White or nearly black, whichever reads better.
QColor inkOn(const QColor& fill)
{
    const QColor light(Qt::white), dark(0x10, 0x14, 0x1a);
    return contrastRatio(light, fill) >= contrastRatio(dark, fill) ? light : dark;
}

} // namespace

PlacementLayer::PlacementLayer(QCPAxis* keys, QCPAxis* values)
    : QCPAbstractPlottable(keys, values)
{
}

void PlacementLayer::setRows(std::vector<BufferRow> rows, std::vector<PoolBand> bands)
{
    m_rows = std::move(rows);
    m_bands = std::move(bands);
    m_selected = m_hovered = -1;
}

QRectF PlacementLayer::pixelRect(const BufferRow& row) const
{
    const QPointF low = coordsToPixels(row.firstCall, static_cast<double>(row.bottom));
    const QPointF high =
        coordsToPixels(row.lastCall + 1, static_cast<double>(row.bottom + row.bytes));
    return QRectF(low, high).normalized();
}

int PlacementLayer::rowAt(QPointF pixel) const
{
    int best = -1;
    double smallest = 0;
    for (size_t i = 0; i < m_rows.size(); ++i) {
        const QRectF area = pixelRect(m_rows[i]).adjusted(-1, -1, 1, 1); // thin ones stay clickable
        const double size = area.width() * area.height();
        if (!area.contains(pixel) || (best >= 0 && size >= smallest)) continue;
        best = static_cast<int>(i);
        smallest = size;
    }
    return best;
}

double PlacementLayer::selectTest(const QPointF& position, bool, QVariant*) const
{
    return rowAt(position) >= 0 ? 0 : -1;
}

QCPRange PlacementLayer::getKeyRange(bool& isFound, QCP::SignDomain) const
{
    isFound = !m_rows.empty();
    int last = 0;
    for (const BufferRow& row : m_rows) last = std::max(last, row.lastCall + 1);
    return {0, static_cast<double>(last)};
}

QCPRange PlacementLayer::getValueRange(bool& isFound, QCP::SignDomain, const QCPRange&) const
{
    isFound = !m_rows.empty();
    qint64 top = 0;
    for (const BufferRow& row : m_rows) top = std::max(top, row.bottom + row.bytes);
    return {0, static_cast<double>(top)};
}

void PlacementLayer::draw(QCPPainter* painter)
{
    painter->setAntialiasing(true);
    drawBands(painter);
    for (size_t i = 0; i < m_rows.size(); ++i)
        if (static_cast<int>(i) != m_selected) drawRow(painter, i);
    if (m_selected >= 0) drawRow(painter, static_cast<size_t>(m_selected)); // its line on top
    if (m_call < 0) return;
    const double x = coordsToPixels(m_call + 0.5, 0).x();
    painter->setPen(QPen(m_theme.text, 1, Qt::DotLine));
    painter->drawLine(QPointF(x, clipRect().top()), QPointF(x, clipRect().bottom()));
}

void PlacementLayer::drawBands(QCPPainter* painter) const
{
    if (m_bands.size() < 2 && (m_bands.empty() || m_bands[0].budgetBytes < 0)) return;
    painter->setFont(m_theme.secondaryFont);
    for (const PoolBand& band : m_bands) {
        const double top =
            coordsToPixels(0, static_cast<double>(band.bottom + band.heightBytes())).y();
        const double bottom = coordsToPixels(0, static_cast<double>(band.bottom)).y();
        painter->setPen(QPen(m_theme.secondary, 1, Qt::DashLine));
        painter->drawLine(QPointF(clipRect().left(), top), QPointF(clipRect().right(), top));
        const QString size =
            band.budgetBytes < 0
                ? byteText(band.peakBytes)
                : QObject::tr("%1 of %2").arg(byteText(band.peakBytes), byteText(band.budgetBytes));
        painter->setPen(m_theme.secondary);
        painter->drawText(QRectF(clipRect().left(), top + 2, clipRect().width() - 6,
                                 std::max(kLabelHeight, bottom - top)),
                          Qt::AlignRight | Qt::AlignTop, band.name + QStringLiteral("  ") + size);
    }
}

void PlacementLayer::drawRow(QCPPainter* painter, size_t index) const
{
    const BufferRow& row = m_rows[index];
    QRectF area = pixelRect(row);
    if (area.width() < kVisiblePixels || area.height() < kVisiblePixels ||
        !area.intersects(QRectF(clipRect())))
        return;
    const bool isSelected = static_cast<int>(index) == m_selected;
    const bool isAlive = row.firstCall <= m_call && m_call <= row.lastCall;
    QColor fill = m_theme.families[static_cast<size_t>(colourOf(row))];
    fill.setAlphaF(isSelected ? 1.0f : isAlive ? 0.92f : 0.66f);
    if (static_cast<int>(index) == m_hovered) fill = fill.lighter(m_theme.isDark ? 118 : 108);
    // A hair of space keeps touching neighbours apart; small ones need all they have.
    if (area.width() > 4) area.adjust(0.5, 0, -0.5, 0);
    if (area.height() > 4) area.adjust(0, 0.5, 0, -0.5);
    painter->setPen(isSelected ? QPen(m_theme.text, 1.6) : QPen(Qt::NoPen));
    painter->setBrush(fill);
    painter->drawRoundedRect(area, 2, 2);
    const QFontMetrics metrics(m_theme.secondaryFont);
    if (area.height() < kLabelHeight || area.width() < metrics.horizontalAdvance(row.label) + 10)
        return;
    painter->setFont(m_theme.secondaryFont);
    painter->setPen(inkOn(blended(fill, m_theme.panel)));
    painter->drawText(area.adjusted(5, 2, -4, -1), Qt::AlignLeft | Qt::AlignTop, row.label);
}

} // namespace tenon::views
