// SPDX-License-Identifier: GPL-3.0-or-later
// Seeing all of a graph, as far as that can be read.
#include "views/canvas/graph_canvas.h"

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kClosest = 1.25;
constexpr double kReadable = ScenePainter::kTextHeight / kCardHeight;
constexpr double kFitMargin = 1.08;

/// Within [from, to] as far as `half` of the view goes, the middle where all of it fits.
double within(double at, double from, double to, double half)
{
    return to - from <= 2 * half ? (from + to) / 2 : std::clamp(at, from + half, to - half);
}

} // namespace

/// All of the graph's width, and as small as cards can still be read: there `look` stays in view.
Camera GraphCanvas::readableFit(QPointF look) const
{
    const QRectF all = m_painter.scene().visible;
    Camera camera;
    camera.zoom = std::clamp(width() / (all.width() * kFitMargin), kReadable, 1.0);
    const double x = width() / 2.0 / camera.zoom, y = height() / 2.0 / camera.zoom;
    const QRectF room = all.adjusted(-20, -20, 20, 20);
    camera.centre = {within(look.x(), room.left(), room.right(), x),
                     within(look.y(), room.top(), room.bottom(), y)};
    return camera;
}

/// A graph that would be dots is fitted to the width, around what is selected or looked at; again,
/// it is all of the graph, however small, and again.
void GraphCanvas::fit()
{
    m_isSplitFitted = false;
    m_isPlaced = true;
    m_hasLooked = true;
    Camera all = m_camera;
    all.fit(m_painter.scene().visible, size(), kClosest);
    if (all.zoom < kReadable && !m_painter.scene().visible.isEmpty()) {
        const Camera readable = readableFit(
            m_focus.selected >= 0
                ? m_painter.scene().items[static_cast<size_t>(m_focus.selected)].rect.center()
                : m_camera.centre);
        const bool isThere = std::abs(readable.zoom - m_camera.zoom) < 1e-9 &&
                             (readable.centre - m_camera.centre).manhattanLength() < 1;
        if (!isThere) all = readable;
    }
    m_camera = all;
    update();
}

void GraphCanvas::fitWhole()
{
    m_isSplitFitted = false;
    m_isPlaced = true;
    m_hasLooked = true;
    m_camera.fit(m_painter.scene().visible, size(), kClosest);
    update();
}

void GraphCanvas::zoomToSelection()
{
    if (m_focus.selected < 0) return fit();
    m_isSplitFitted = false;
    const QRectF rect = m_painter.scene().items[static_cast<size_t>(m_focus.selected)].rect;
    m_camera.fit(rect.adjusted(-160, -120, 160, 120), size(), 1.5);
    update();
}

} // namespace tenon::views
