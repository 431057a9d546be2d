// SPDX-License-Identifier: GPL-3.0-or-later
// PlacementChart: one rectangle per buffer, offset over program order.
#pragma once

#include "views/charts/chart.h"
#include "views/models/memory_rows.h"

namespace tenon::views {

class PlacementLayer;

class PlacementChart : public Chart
{
    Q_OBJECT
public:
    explicit PlacementChart(const ThemeSource& themes, QWidget* parent = nullptr);

    void setPlacements(const std::vector<BufferRow>& rows, const std::vector<PoolBand>& bands,
                       int callCount);
    void setCall(int call);
    /// Index into the rows, or -1.
    void setSelected(int row);
    /// How many rectangles there are: as many as rows of the table.
    int rectangleCount() const;
    /// Where a rectangle is painted now.
    QRectF pixelRect(int row) const;
    int rowAt(QPointF pixel) const; ///< -1: none

signals:
    void bufferRequested(int row); ///< -1: none

protected:
    void applyTheme() override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    PlacementLayer* m_layer; ///< owned by the plot
};

} // namespace tenon::views
