// SPDX-License-Identifier: GPL-3.0-or-later
// Counting sort of rectangles into the cells of a uniform grid.
#include "views/canvas/spatial_grid.h"

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kRectsPerCell = 4;
constexpr int kLargestSpan = 64;

bool touches(const QRectF& a, const QRectF& b)
{
    return a.left() <= b.right() && b.left() <= a.right() && a.top() <= b.bottom() &&
           b.top() <= a.bottom();
}

} // namespace

SpatialGrid::SpatialGrid(const std::vector<QRectF>& rects)
    : m_rects(rects)
{
    if (rects.empty()) return;
    double left = rects[0].left(), right = rects[0].right();
    double top = rects[0].top(), bottom = rects[0].bottom();
    for (const QRectF& rect : rects) {
        left = std::min(left, rect.left());
        right = std::max(right, rect.right());
        top = std::min(top, rect.top());
        bottom = std::max(bottom, rect.bottom());
    }
    m_bounds = QRectF(left, top, std::max(1.0, right - left), std::max(1.0, bottom - top));
    const double cells = std::max(1.0, static_cast<double>(rects.size()) / kRectsPerCell);
    const double side = std::sqrt(m_bounds.width() * m_bounds.height() / cells);
    m_columns = std::clamp(static_cast<int>(m_bounds.width() / side) + 1, 1, 4096);
    m_rows = std::clamp(static_cast<int>(m_bounds.height() / side) + 1, 1, 65536);
    m_cellWidth = m_bounds.width() / m_columns;
    m_cellHeight = m_bounds.height() / m_rows;

    std::vector<bool> isLong(rects.size());
    m_cellStart.assign(static_cast<size_t>(m_columns) * static_cast<size_t>(m_rows) + 1, 0);
    const auto eachCell = [&](const QRectF& rect, auto&& visit) {
        for (int row = rowOf(rect.top()); row <= rowOf(rect.bottom()); ++row)
            for (int column = columnOf(rect.left()); column <= columnOf(rect.right()); ++column)
                visit(static_cast<size_t>(row) * static_cast<size_t>(m_columns) +
                      static_cast<size_t>(column));
    };
    for (size_t i = 0; i < rects.size(); ++i) {
        const int rows = rowOf(rects[i].bottom()) - rowOf(rects[i].top()) + 1;
        const int columns = columnOf(rects[i].right()) - columnOf(rects[i].left()) + 1;
        isLong[i] = rows * columns > kLargestSpan;
        if (isLong[i])
            m_long.push_back(static_cast<uint32_t>(i));
        else
            eachCell(rects[i], [&](size_t cell) { ++m_cellStart[cell + 1]; });
    }
    for (size_t c = 1; c < m_cellStart.size(); ++c) m_cellStart[c] += m_cellStart[c - 1];
    m_cellItems.resize(m_cellStart.back());
    std::vector<uint32_t> fill(m_cellStart.begin(), m_cellStart.end() - 1);
    for (size_t i = 0; i < rects.size(); ++i)
        if (!isLong[i])
            eachCell(rects[i],
                     [&](size_t cell) { m_cellItems[fill[cell]++] = static_cast<uint32_t>(i); });
}

int SpatialGrid::columnOf(double x) const
{
    return std::clamp(static_cast<int>((x - m_bounds.left()) / m_cellWidth), 0, m_columns - 1);
}

int SpatialGrid::rowOf(double y) const
{
    return std::clamp(static_cast<int>((y - m_bounds.top()) / m_cellHeight), 0, m_rows - 1);
}

std::vector<uint32_t> SpatialGrid::query(const QRectF& area) const
{
    std::vector<uint32_t> found;
    if (m_rects.empty() || !touches(area, m_bounds)) return found;
    if (area.contains(m_bounds)) {
        found.resize(m_rects.size());
        for (uint32_t i = 0; i < found.size(); ++i) found[i] = i;
        return found;
    }
    for (int row = rowOf(area.top()); row <= rowOf(area.bottom()); ++row)
        for (int column = columnOf(area.left()); column <= columnOf(area.right()); ++column) {
            const size_t cell = static_cast<size_t>(row) * static_cast<size_t>(m_columns) +
                                static_cast<size_t>(column);
            for (uint32_t k = m_cellStart[cell]; k < m_cellStart[cell + 1]; ++k)
                if (touches(m_rects[m_cellItems[k]], area)) found.push_back(m_cellItems[k]);
        }
    for (const uint32_t i : m_long)
        if (touches(m_rects[i], area)) found.push_back(i);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

} // namespace tenon::views
