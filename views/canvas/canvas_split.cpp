// SPDX-License-Identifier: GPL-3.0-or-later
// Two versions side by side in one canvas: both stay in view.
#include "views/canvas/graph_canvas.h"

#include <algorithm>

namespace tenon::views {

namespace {

constexpr double kSmallest = 0.62; ///< texts are still there
constexpr double kSplitMargin = 30;

} // namespace

/// Of the program, without what stands beside it: what is at the height that is looked at. A long
/// program drifts to one side, and all of it would be far wider than any part of it.
QRectF GraphCanvas::shownProgram() const
{
    const QRectF seen = m_camera.visible(size());
    QRectF program;
    for (const SceneItem& item : m_painter.scene().items)
        if (!item.isBeside && item.rect.bottom() >= seen.top() && item.rect.top() <= seen.bottom())
            program |= item.rect;
    return program;
}

/// With what stands beside it, weight transforms, unless that would make it too small to read.
QRectF GraphCanvas::shownBand() const
{
    const QRectF seen = m_camera.visible(size());
    QRectF band;
    for (const SceneItem& item : m_painter.scene().items)
        if (item.rect.bottom() >= seen.top() && item.rect.top() <= seen.bottom()) band |= item.rect;
    return width() / (band.width() + 2 * kSplitMargin) < kSmallest ? shownProgram() : band;
}

/// The width of both versions; the height stays.
void GraphCanvas::fitColumns()
{
    const QPointF before = m_camera.centre;
    const double top = m_camera.visible(size()).top();
    m_camera.zoom = m_zoomBeforeSplit;
    for (int round = 0; round < 4; ++round) { // a smaller zoom shows more rows, maybe wider ones
        m_camera.centre = {before.x(), top + height() / 2.0 / m_camera.zoom};
        const QRectF band = shownBand();
        if (band.isEmpty()) return;
        m_camera.zoom = std::clamp(width() / (band.width() + 2 * kSplitMargin),
                                   std::min(kSmallest, m_camera.zoom), m_camera.zoom);
        m_camera.centre = {band.center().x(), top + height() / 2.0 / m_camera.zoom};
    }
    m_isSplitFitted = true;
    update();
}

/// Into two versions and back: the zoom before comes back.
void GraphCanvas::followColumns(bool wasSplit)
{
    const bool isSplit = !m_painter.scene().columns.empty();
    if (m_painter.scene().items.empty()) return;
    if (isSplit && !wasSplit) m_zoomBeforeSplit = m_camera.zoom;
    if (isSplit && (!wasSplit || m_isSplitFitted)) return fitColumns();
    if (isSplit || !wasSplit) return;
    m_isSplitFitted = false;
    m_camera.zoom = m_zoomBeforeSplit > 0 ? m_zoomBeforeSplit : m_camera.zoom;
    if (const QRectF program = shownProgram(); !program.isEmpty())
        m_camera.centre.setX(program.center().x());
}

} // namespace tenon::views
