// SPDX-License-Identifier: GPL-3.0-or-later
// Chart: what all charts share: a themed plot, byte ticks, and zooming and panning along the
// horizontal axis. QCustomPlot stays inside this folder.
#pragma once

#include "views/theme/theme_source.h"

#include <QWidget>

#include <optional>

class QCustomPlot;
class QPainter;

namespace tenon::views {

class Chart : public QWidget
{
    Q_OBJECT
public:
    explicit Chart(const ThemeSource& themes, QWidget* parent = nullptr);

    /// As sharp as the painter's device is.
    void paintOn(QPainter& painter) const;

    /// Shows part of the horizontal axis; clipped to what there is.
    void showRange(double from, double to);

signals:
    /// The user zoomed or panned: charts over the same axis follow.
    void rangeChanged(double from, double to);

protected:
    const Theme& theme() const { return m_themes.theme(); }
    QCustomPlot& plot() { return *m_plot; }
    const QCustomPlot& plot() const { return *m_plot; }
    /// What the horizontal axis reaches over; shows all of it.
    void setExtent(double from, double to);
    void setByteAxis(double most);
    void canZoom(bool can) { m_canZoom = can; }
    /// Colours and fonts; called at construction's end by subclasses and on every theme change.
    virtual void applyTheme();
    QPointF valueAt(QPointF pixel) const;

    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    const ThemeSource& m_themes;
    QCustomPlot* m_plot;
    QWidget* m_focusFrame;
    double m_from = 0, m_to = 1;
    bool m_canZoom = true;
    std::optional<double> m_panStart; ///< value under the pointer when panning began
};

} // namespace tenon::views
