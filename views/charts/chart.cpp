// SPDX-License-Identifier: GPL-3.0-or-later
// The plot's looks, and moving along its horizontal axis.
#include "views/charts/chart.h"

#include "views/charts/byte_ticker.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

/// The plot is as high as the chart without what stands below its horizontal axis.
void fitByteAxis(QCustomPlot& plot)
{
    constexpr int kBelow = 52;
    if (const auto bytes = plot.yAxis->ticker().dynamicCast<ByteTicker>())
        bytes->fit(*plot.yAxis, std::max(0, plot.height() - kBelow));
}

constexpr double kFewestShown = 4; ///< calls: closer than that there is nothing more to see

/// Drawn over the plot while the chart has the keyboard.
class FocusFrame : public QWidget
{
public:
    FocusFrame(const ThemeSource& themes, QWidget* parent)
        : QWidget(parent)
        , m_themes(themes)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        hide();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(m_themes.theme().accentSoft);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }

private:
    const ThemeSource& m_themes;
};

} // namespace

Chart::Chart(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_plot(new QCustomPlot(this))
    , m_focusFrame(new FocusFrame(themes, this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(160, 110);
    m_plot->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom);
    m_plot->axisRect()->setMargins(QMargins(0, 12, 10, 0));
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickPen(Qt::NoPen);
        axis->setSubTicks(false);
        axis->setTickLabelPadding(6);
    }
    m_plot->xAxis->grid()->setVisible(false);
    connect(&themes, &ThemeSource::changed, this, [this] {
        applyTheme();
        m_plot->replot(QCustomPlot::rpQueuedReplot);
    });
}

void Chart::paintOn(QPainter& painter) const
{
    const double scale = painter.transform().m11();
    painter.drawPixmap(rect(), m_plot->toPixmap(width(), height(), scale));
}

void Chart::setByteAxis(double most)
{
    m_plot->yAxis->setTicker(QSharedPointer<ByteTicker>::create(most));
    fitByteAxis(*m_plot);
}

void Chart::setExtent(double from, double to)
{
    m_from = from;
    m_to = std::max(to, from + 1);
    m_plot->xAxis->setRange(m_from, m_to);
}

void Chart::showRange(double from, double to)
{
    const double size = std::clamp(to - from, std::min(kFewestShown, m_to - m_from), m_to - m_from);
    const double start = std::clamp(from, m_from, m_to - size);
    m_plot->xAxis->setRange(start, start + size);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void Chart::applyTheme()
{
    const Theme& t = theme();
    m_plot->setBackground(QBrush(t.panel));
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setBasePen(QPen(t.line));
        axis->setTickLabelColor(t.secondary);
        axis->setTickLabelFont(t.secondaryFont);
        axis->setLabelFont(t.secondaryFont);
        axis->setLabelColor(t.secondary);
        axis->grid()->setPen(QPen(t.line));
        axis->grid()->setZeroLinePen(QPen(t.line));
    }
    m_plot->yAxis->setBasePen(Qt::NoPen);
    m_focusFrame->update();
}

QPointF Chart::valueAt(QPointF pixel) const
{
    return {m_plot->xAxis->pixelToCoord(pixel.x()), m_plot->yAxis->pixelToCoord(pixel.y())};
}

void Chart::resizeEvent(QResizeEvent*)
{
    m_plot->setGeometry(rect());
    m_focusFrame->setGeometry(rect());
    fitByteAxis(*m_plot);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void Chart::wheelEvent(QWheelEvent* event)
{
    if (!m_canZoom) return event->ignore();
    const double anchor = std::clamp(valueAt(event->position()).x(), m_from, m_to);
    const double factor = std::pow(0.999, event->angleDelta().y());
    const QCPRange shown = m_plot->xAxis->range();
    showRange(anchor - (anchor - shown.lower) * factor, anchor + (shown.upper - anchor) * factor);
    emit rangeChanged(m_plot->xAxis->range().lower, m_plot->xAxis->range().upper);
    event->accept();
}

void Chart::mousePressEvent(QMouseEvent* event)
{
    if (m_canZoom && event->button() == Qt::MiddleButton)
        m_panStart = valueAt(event->position()).x();
}

void Chart::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_panStart) return;
    const QCPRange shown = m_plot->xAxis->range();
    const double by = *m_panStart - valueAt(event->position()).x();
    showRange(shown.lower + by, shown.upper + by);
    emit rangeChanged(m_plot->xAxis->range().lower, m_plot->xAxis->range().upper);
}

void Chart::mouseReleaseEvent(QMouseEvent*) { m_panStart.reset(); }

void Chart::mouseDoubleClickEvent(QMouseEvent*)
{
    if (!m_canZoom) return;
    showRange(m_from, m_to);
    emit rangeChanged(m_from, m_to);
}

void Chart::focusInEvent(QFocusEvent*) { m_focusFrame->show(); }

void Chart::focusOutEvent(QFocusEvent*) { m_focusFrame->hide(); }

} // namespace tenon::views
