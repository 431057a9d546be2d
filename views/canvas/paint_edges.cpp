// SPDX-License-Identifier: GPL-3.0-or-later
// Edges with their shapes, and the ribbons between two versions side by side.
#include "views/canvas/scene_painter.h"

#include <QFontMetricsF>
#include <QPainterPath>

namespace tenon::views {

namespace {

QPainterPath edgePath(const Scene& scene, const SceneEdge& edge)
{
    const QPointF* points = scene.points.data() + edge.first;
    QPainterPath path(points[0]);
    if (edge.isSideways) {
        const QPointF bend((points[1].x() - points[0].x()) / 2, 0);
        path.cubicTo(points[0] + bend, points[1] - bend, points[1]);
        return path;
    }
    for (uint32_t i = 1; i < edge.count; ++i) {
        const QPointF a = points[i - 1], b = points[i];
        if (a.x() == b.x()) {
            path.lineTo(b);
        } else {
            const double bend = (b.y() - a.y()) * 0.5;
            path.cubicTo(a + QPointF(0, bend), b - QPointF(0, bend), b);
        }
    }
    return path;
}

bool isDim(DiffState state) { return state == DiffState::Unchanged; }

} // namespace

void ScenePainter::paintEdges(QPainter& painter, const SceneIndex& index, const QRectF& area,
                              double zoom, const CanvasFocus& focus)
{
    const Scene& scene = *index.scene;
    const std::vector<uint32_t> edges = index.edges.query(area);
    const bool isFar = kCardHeight * zoom < 12;
    QPainterPath plain, dim, gone, near;
    for (const uint32_t e : edges) {
        const SceneEdge& edge = scene.edges[e];
        const bool isNear =
            focus.selected >= 0 && (edge.from == focus.selected || edge.to == focus.selected);
        QPainterPath& path = isNear && edge.state != DiffState::Removed ? near
                             : edge.state == DiffState::Removed         ? gone
                             : isDim(edge.state)                        ? dim
                                                                        : plain;
        if (isFar) {
            path.moveTo(scene.points[edge.first]);
            for (uint32_t i = 1; i < edge.count; ++i) path.lineTo(scene.points[edge.first + i]);
        } else {
            path.addPath(edgePath(scene, edge));
        }
    }
    const auto stroke = [&](const QPainterPath& path, QColor colour, double width,
                            Qt::PenStyle style) {
        if (path.isEmpty()) return;
        QPen pen(colour, std::max(width, 0.8 / zoom), style);
        if (isFar) pen.setCosmetic(true), pen.setWidthF(1);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(pen);
        painter.drawPath(path);
    };
    QColor faded = m_theme.edge;
    faded.setAlphaF(0.55f);
    stroke(dim, faded, 1.2, Qt::SolidLine);
    stroke(plain, m_theme.edge, 1.3, Qt::SolidLine);
    stroke(gone, m_theme.removed, 1.1, Qt::DashLine);
    stroke(near, m_theme.accent, 1.8, Qt::SolidLine);
    if (kCardHeight * zoom >= kTextHeight) paintLabels(painter, scene, edges);
}

void ScenePainter::paintRibbons(QPainter& painter, const QRectF& area) const
{
    for (const SceneRibbon& ribbon : scene().ribbons) {
        const double top = std::min(ribbon.fromTop, ribbon.toTop);
        const double bottom = std::max(ribbon.fromBottom, ribbon.toBottom);
        if (bottom < area.top() || top > area.bottom()) continue;
        const double left = scene().items[static_cast<size_t>(ribbon.from)].rect.right();
        const double right = scene().items[static_cast<size_t>(ribbon.to)].rect.left();
        const QPointF bend((right - left) / 2, 0);
        const QPointF a(left, ribbon.fromTop), b(right, ribbon.toTop);
        const QPointF c(right, ribbon.toBottom), d(left, ribbon.fromBottom);
        QPainterPath path(a);
        path.cubicTo(a + bend, b - bend, b);
        path.lineTo(c);
        path.cubicTo(c - bend, d + bend, d);
        path.closeSubpath();
        QColor ink = m_theme.stateColour(ribbon.state), fill = ink;
        ink.setAlphaF(0.55f);
        fill.setAlphaF(m_theme.isDark ? 0.22f : 0.14f);
        painter.setPen(QPen(ink, 1));
        painter.setBrush(fill);
        painter.drawPath(path);
    }
}

void ScenePainter::paintLabels(QPainter& painter, const Scene& scene,
                               const std::vector<uint32_t>& edges)
{
    QFont font = m_theme.code;
    font.setPixelSize(9);
    painter.setFont(font);
    const QFontMetricsF metrics(font);
    for (const uint32_t index : edges) {
        const SceneEdge& edge = scene.edges[index];
        if (edge.isStub) {
            const QPointF top = scene.points[edge.first];
            painter.setPen(QPen(m_theme.edge, 1.2));
            painter.setBrush(m_theme.canvas);
            painter.drawEllipse(top, 3, 3);
            continue;
        }
        if (edge.label.isEmpty()) continue;
        const QPointF place = edge.labelAt + QPointF(7, metrics.ascent() / 2 - 1);
        const QRectF box(place.x() - 2, place.y() - metrics.ascent(),
                         metrics.horizontalAdvance(edge.label) + 4, metrics.height());
        QColor shade = m_theme.canvas;
        shade.setAlphaF(0.8f);
        painter.fillRect(box, shade);
        QColor ink = m_theme.secondary;
        painter.setPen(ink);
        painter.drawText(place, edge.label);
    }
}

} // namespace tenon::views
