// SPDX-License-Identifier: GPL-3.0-or-later
// One pixel of an image for each cell, drawn as large as there is room.
#include "views/charts/heat_map.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr int kTitleHeight = 18;
constexpr int kScaleHeight = 22;
constexpr int kRampHeight = 6;
constexpr double kLeastProportion = 0.25; ///< a vector is no line

QImage imageOf(const Raster& raster, const std::function<QRgb(double)>& colourOf)
{
    QImage image(std::max(1, raster.columns), std::max(1, raster.rows), QImage::Format_RGB32);
    image.fill(Qt::transparent);
    for (int row = 0; row < raster.rows; ++row)
        for (int column = 0; column < raster.columns; ++column)
            image.setPixel(column, row, colourOf(raster.at(row, column)));
    return image;
}

} // namespace

HeatMap::HeatMap(const ThemeSource& themes, const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_title(title)
{
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void HeatMap::setRaster(const Raster& raster, double least, double greatest)
{
    m_least = least;
    m_greatest = greatest;
    m_tall = raster.rows * raster.elementsPerRow;
    m_wide = raster.columns * raster.elementsPerColumn;
    const double width = greatest - least;
    const QRgb noNumber = m_themes.theme().removed.rgb();
    m_image = imageOf(raster, [&](double value) {
        if (std::isnan(value)) return noNumber;
        const double share = width > 0 ? std::clamp((value - least) / width, 0.0, 1.0) : 0;
        return Theme::rampColour(share).rgb();
    });
    update();
}

void HeatMap::setMagnitudes(const Raster& raster, double greatest)
{
    Raster magnitudes = raster;
    for (double& value : magnitudes.values) value = std::fabs(value);
    setRaster(magnitudes, 0, greatest);
}

void HeatMap::setCellText(std::function<QString(int, int)> text) { m_cellText = std::move(text); }

QColor HeatMap::colourAt(int row, int column) const { return m_image.pixelColor(column, row); }

QRectF HeatMap::cells() const
{
    const QRectF room(0, kTitleHeight, width(), height() - kTitleHeight - kScaleHeight);
    if (room.height() <= 0 || m_image.isNull()) return {};
    const double proportion =
        std::clamp(static_cast<double>(m_tall) / static_cast<double>(std::max<int64_t>(1, m_wide)),
                   kLeastProportion, 1 / kLeastProportion);
    QSizeF size(room.width(), room.width() * proportion);
    if (size.height() > room.height()) size = {room.height() / proportion, room.height()};
    return QRectF(room.topLeft(), size).toRect();
}

void HeatMap::paintScale(QPainter& painter) const
{
    const Theme& t = m_themes.theme();
    const QFontMetrics metrics(t.secondaryFont);
    const QRectF area = cells();
    const double top = area.bottom() + 5;
    const QString least = valueText(m_least), greatest = valueText(m_greatest);
    const double leastWidth = metrics.horizontalAdvance(least) + 6;
    painter.setPen(t.secondary);
    painter.drawText(QRectF(0, top, leastWidth, kScaleHeight - 5), Qt::AlignLeft | Qt::AlignVCenter,
                     least);
    const double room = width() - leastWidth - metrics.horizontalAdvance(greatest) - 6;
    const QRectF ramp(leastWidth, top + (kScaleHeight - 5 - kRampHeight) / 2.0,
                      std::clamp(room, 10.0, 110.0), kRampHeight);
    QLinearGradient colours(ramp.topLeft(), ramp.topRight());
    constexpr int kStops = 8;
    for (int i = 0; i <= kStops; ++i)
        colours.setColorAt(static_cast<double>(i) / kStops,
                           Theme::rampColour(static_cast<double>(i) / kStops));
    painter.fillRect(ramp, colours);
    painter.drawText(QRectF(ramp.right() + 6, top, width(), kScaleHeight - 5),
                     Qt::AlignLeft | Qt::AlignVCenter, greatest);
}

void HeatMap::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setFont(t.secondaryFont);
    painter.setPen(t.secondary);
    painter.drawText(QRectF(0, 0, width(), kTitleHeight - 3), Qt::AlignLeft | Qt::AlignVCenter,
                     m_title);
    if (m_image.isNull() || cells().isEmpty()) return;
    painter.drawImage(cells(), m_image);
    painter.setPen(t.line);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(cells().adjusted(0, 0, -1, -1));
    paintScale(painter);
}

bool HeatMap::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QRectF area = cells();
    if (!m_cellText || !area.contains(help->pos())) {
        QToolTip::hideText();
        return true;
    }
    const QPointF inside = help->pos() - area.topLeft();
    QToolTip::showText(help->globalPos(),
                       m_cellText(static_cast<int>(inside.y() / area.height() * m_image.height()),
                                  static_cast<int>(inside.x() / area.width() * m_image.width())),
                       this);
    return true;
}

} // namespace tenon::views
