// SPDX-License-Identifier: GPL-3.0-or-later
// PlacementLayer: paints the buffers' rectangles and the pools' borders in one pass.
#pragma once

#include "views/models/memory_rows.h"
#include "views/theme/theme.h"

#include <qcustomplot.h>

namespace tenon::views {

class PlacementLayer : public QCPAbstractPlottable
{
    Q_OBJECT
public:
    PlacementLayer(QCPAxis* keys, QCPAxis* values);

    void setRows(std::vector<BufferRow> rows, std::vector<PoolBand> bands);
    const std::vector<BufferRow>& rows() const { return m_rows; }
    void setTheme(const Theme& theme) { m_theme = theme; }
    void setCall(int call) { m_call = call; }
    void setSelected(int row) { m_selected = row; }
    void setHovered(int row) { m_hovered = row; }
    int selected() const { return m_selected; }
    int hovered() const { return m_hovered; }
    int rowAt(QPointF pixel) const;
    QRectF pixelRect(const BufferRow& row) const;

    double selectTest(const QPointF& position, bool onlySelectable,
                      QVariant* details) const override;
    QCPRange getKeyRange(bool& isFound, QCP::SignDomain domain) const override;
    QCPRange getValueRange(bool& isFound, QCP::SignDomain domain,
                           const QCPRange& keys) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

private:
    void drawBands(QCPPainter* painter) const;
    void drawRow(QCPPainter* painter, size_t index) const;

    Theme m_theme;
    std::vector<BufferRow> m_rows;
    std::vector<PoolBand> m_bands;
    int m_call = -1;
    int m_selected = -1;
    int m_hovered = -1;
};

} // namespace tenon::views
