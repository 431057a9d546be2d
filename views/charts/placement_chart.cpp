// SPDX-License-Identifier: GPL-3.0-or-later
// The map of the arena: hovering tells, clicking selects, keys walk in program order.
#include "views/charts/placement_chart.h"

#include "views/charts/byte_ticker.h"
#include "views/charts/placement_layer.h"
#include "views/models/format.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>

namespace tenon::views {

PlacementChart::PlacementChart(const ThemeSource& themes, QWidget* parent)
    : Chart(themes, parent)
    , m_layer(new PlacementLayer(plot().xAxis, plot().yAxis))
{
    plot().xAxis->setTicker(QSharedPointer<CountTicker>::create());
    plot().xAxis->setLabel(tr("kernel call"));
    setAccessibleName(tr("Placement: offset over program order"));
    applyTheme();
}

void PlacementChart::setPlacements(const std::vector<BufferRow>& rows,
                                   const std::vector<PoolBand>& bands, int callCount)
{
    m_layer->setRows(rows, bands);
    setExtent(0, callCount);
    setByteAxis(
        bands.empty() ? 0 : static_cast<double>(bands.back().bottom + bands.back().heightBytes()));
    setAccessibleDescription(tr("%1; the table beside has the same rows")
                                 .arg(countOf(static_cast<qint64>(rows.size()), tr("buffer"))));
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void PlacementChart::setCall(int call)
{
    m_layer->setCall(call);
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void PlacementChart::setSelected(int row)
{
    m_layer->setSelected(row < rectangleCount() ? row : -1);
    plot().replot(QCustomPlot::rpQueuedReplot);
}

int PlacementChart::rectangleCount() const { return static_cast<int>(m_layer->rows().size()); }

QRectF PlacementChart::pixelRect(int row) const
{
    return m_layer->pixelRect(m_layer->rows()[static_cast<size_t>(row)]);
}

int PlacementChart::rowAt(QPointF pixel) const { return m_layer->rowAt(pixel); }

void PlacementChart::applyTheme()
{
    Chart::applyTheme();
    m_layer->setTheme(theme());
}

void PlacementChart::mousePressEvent(QMouseEvent* event)
{
    Chart::mousePressEvent(event);
    if (event->button() == Qt::LeftButton) emit bufferRequested(m_layer->rowAt(event->position()));
}

void PlacementChart::mouseMoveEvent(QMouseEvent* event)
{
    Chart::mouseMoveEvent(event);
    const int row = m_layer->rowAt(event->position());
    if (row == m_layer->hovered()) return;
    m_layer->setHovered(row);
    setCursor(row >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void PlacementChart::leaveEvent(QEvent*)
{
    m_layer->setHovered(-1);
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void PlacementChart::keyPressEvent(QKeyEvent* event)
{
    const int step = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down ? 1
                     : event->key() == Qt::Key_Left || event->key() == Qt::Key_Up  ? -1
                                                                                   : 0;
    if (step == 0 || rectangleCount() == 0) return Chart::keyPressEvent(event);
    emit bufferRequested(std::clamp(m_layer->selected() + step, 0, rectangleCount() - 1));
}

bool PlacementChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return Chart::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = m_layer->rowAt(help->pos());
    if (row < 0) {
        QToolTip::hideText();
        return true;
    }
    const BufferRow& shown = m_layer->rows()[static_cast<size_t>(row)];
    QToolTip::showText(help->globalPos(),
                       tr("%1  %2\n%3\n%4 B at offset %5\ncalls %6 – %7")
                           .arg(shown.label, shown.origin, shown.type, countText(shown.bytes),
                                countText(shown.offset))
                           .arg(shown.firstCall)
                           .arg(shown.lastCall),
                       this);
    return true;
}

} // namespace tenon::views
