// SPDX-License-Identifier: GPL-3.0-or-later
// MixChart: error against size or time of all mixes of precisions, measured and predicted, and the
// one that is chosen; a click or the arrow keys choose another.
#pragma once

#include "views/models/precision_mix.h"
#include "views/theme/theme_source.h"

#include <QWidget>

namespace tenon::views {

class MixChart : public QWidget
{
    Q_OBJECT
public:
    explicit MixChart(const ThemeSource& themes, QWidget* parent = nullptr);

    void setCurve(const MixCurve& curve);
    const MixCurve& curve() const { return m_curve; }
    /// Where a dot of the predicted curve is painted.
    QPointF placeOf(size_t widerLayers) const;
    QSize sizeHint() const override { return {420, 260}; }
    QSize minimumSizeHint() const override { return {220, 140}; }

signals:
    void widerChosen(int layers);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Extent
    {
        double least = 0;
        double most = 1;
        double loss = 1; ///< the largest
    };
    QRectF area() const;
    Extent extent() const;
    QPointF place(const MixDot& dot) const;
    int nearest(QPointF at) const;
    QString textOf(const MixDot& dot) const;
    QString axisText(double value) const;
    QString tickText(double value) const;
    bool countsInstructions() const;
    void paintGrid(QPainter& painter) const;
    void paintDots(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    const ThemeSource& m_themes;
    MixCurve m_curve;
};

} // namespace tenon::views
