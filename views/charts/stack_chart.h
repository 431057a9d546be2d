// SPDX-License-Identifier: GPL-3.0-or-later
// StackChart: one horizontal stacked bar per executor with its total; hatched while estimated.
#pragma once

#include "views/models/footprint_rows.h"
#include "views/theme/theme_source.h"

#include <QWidget>

class QPainter;

namespace tenon::views {

class StackChart : public QWidget
{
    Q_OBJECT
public:
    explicit StackChart(const ThemeSource& themes, QWidget* parent = nullptr);

    void setBars(std::vector<StackBar> bars);
    void setSelected(int bar);
    const std::vector<StackBar>& bars() const { return m_bars; }
    QRectF pixelRect(int bar, int part) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void barRequested(int bar);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF rowRect(int bar) const;
    QRectF barRect(int bar) const;
    int barAt(QPointF pixel) const;
    void paintBar(QPainter& painter, int index) const;
    void paintLegend(QPainter& painter) const;
    QString describe(const StackBar& bar) const;

    const ThemeSource& m_themes;
    std::vector<StackBar> m_bars;
    int m_selected = 0;
};

/// What a used and an available amount look like: one gauge with its text.
class FitGauge : public QWidget
{
    Q_OBJECT
public:
    FitGauge(const ThemeSource& themes, const QString& name, QWidget* parent = nullptr);
    void setFit(const Fit& fit);
    const Fit& fit() const { return m_fit; }
    QSize sizeHint() const override { return {220, 40}; }
    QSize minimumSizeHint() const override { return {140, 40}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    QString m_name;
    Fit m_fit;
};

} // namespace tenon::views
