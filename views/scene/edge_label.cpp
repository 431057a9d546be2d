// SPDX-License-Identifier: GPL-3.0-or-later
// Stretches of an edge between the borders of frames.
#include "views/scene/edge_label.h"

#include <algorithm>

namespace tenon::views {

void placeLabel(const QString& text, const std::vector<QRectF>& frames, const Scene& scene,
                SceneEdge& edge)
{
    const QPointF* points = scene.points.data() + edge.first;
    const double top = points[0].y(), bottom = points[edge.count - 1].y();
    std::vector<double> stops{top, bottom};
    const QRectF& from = scene.items[static_cast<size_t>(edge.from)].rect;
    const QRectF& to = scene.items[static_cast<size_t>(edge.to)].rect;
    for (const QRectF& frame : frames) {
        const bool holdsFrom = frame.contains(from), holdsTo = frame.contains(to);
        if (holdsFrom && !holdsTo) stops.push_back(frame.bottom());
        if (holdsTo && !holdsFrom) stops.push_back(frame.top());
    }
    std::sort(stops.begin(), stops.end());
    double best = 0, place = top;
    for (size_t i = 1; i < stops.size(); ++i) {
        // A long way is labelled near its source.
        const double low = stops[i - 1], high = std::min(stops[i], stops[i - 1] + 96);
        if (high - low <= best + 1) continue;
        best = high - low;
        place = (low + high) / 2;
    }
    constexpr double kTextHeight = 12;
    if (best < kTextHeight) return;
    edge.label = text;
    edge.labelAt = {points[0].x(), place};
    for (uint32_t i = 1; i < edge.count; ++i) {
        const QPointF a = points[i - 1], b = points[i];
        if (a.y() > place || b.y() < place) continue;
        const double share = b.y() > a.y() ? (place - a.y()) / (b.y() - a.y()) : 0;
        edge.labelAt.setX(a.x() + (b.x() - a.x()) * share * share * (3 - 2 * share));
    }
}

} // namespace tenon::views
