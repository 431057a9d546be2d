// SPDX-License-Identifier: GPL-3.0-or-later
// SpatialGrid: which rectangles may touch a given one, without looking at all of them.
#pragma once

#include <QRectF>

#include <cstdint>
#include <vector>

namespace tenon::views {

/// Built once over immutable rectangles; a rectangle longer than many cells is kept in a list of
/// its own.
class SpatialGrid
{
public:
    SpatialGrid() = default;
    explicit SpatialGrid(const std::vector<QRectF>& rects);

    /// Indices of all rectangles that may intersect `area`, ascending, each once.
    std::vector<uint32_t> query(const QRectF& area) const;

private:
    int columnOf(double x) const;
    int rowOf(double y) const;

    QRectF m_bounds;
    int m_columns = 0;
    int m_rows = 0;
    double m_cellWidth = 1;
    double m_cellHeight = 1;
    std::vector<uint32_t> m_cellStart;
    std::vector<uint32_t> m_cellItems;
    std::vector<uint32_t> m_long;
    std::vector<QRectF> m_rects;
};

} // namespace tenon::views
