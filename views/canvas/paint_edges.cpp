// SPDX-License-Identifier: GPL-3.0-or-later
// Edges with their shapes, and the ribbons between two versions side by side.
#include "views/canvas/scene_painter.h"
#include "views/canvas/stroke_lines.h"

#include <QFontMetricsF>
#include <QPainterPath>

#include <algorithm>
#include <array>

namespace tenon::views {

namespace {

/// A curve between two points stays within their rectangle.
bool mayTouch(QPointF a, QPointF b, const QRectF& area)
{
    return std::min(a.x(), b.x()) <= area.right() && std::max(a.x(), b.x()) >= area.left() &&
           std::min(a.y(), b.y()) <= area.bottom() && std::max(a.y(), b.y()) >= area.top();
}

/// Four points of a cubic curve.
using Curve = std::array<QPointF, 4>;

QPointF between(QPointF a, QPointF b, double t) { return a + (b - a) * t; }

/// The part of a curve from its start to `t`.
Curve headOf(const Curve& c, double t)
{
    const QPointF ab = between(c[0], c[1], t), bc = between(c[1], c[2], t);
    const QPointF cd = between(c[2], c[3], t);
    const QPointF abc = between(ab, bc, t), bcd = between(bc, cd, t);
    return {c[0], ab, abc, between(abc, bcd, t)};
}

Curve reversed(const Curve& c) { return {c[3], c[2], c[1], c[0]}; }

/// Where an edge from `a` down to `b` is at the height `y`, from 0 at `a` to 1 at `b`.
double parameterAt(QPointF a, QPointF b, double y)
{
    if (y <= a.y()) return 0;
    if (y >= b.y()) return 1;
    const double wanted = (y - a.y()) / (b.y() - a.y());
    double low = 0, high = 1;
    for (int step = 0; step < 30; ++step) {
        const double t = (low + high) / 2;
        (t * (1.5 + t * (t - 1.5)) < wanted ? low : high) = t;
    }
    return low;
}

/// The part of the edge from `a` down to `b` within the area's heights; the raster would walk all
/// of one that is thousands of lines long.
Curve visiblePart(QPointF a, QPointF b, const QRectF& area)
{
    const QPointF bend(0, (b.y() - a.y()) / 2);
    const double from = parameterAt(a, b, area.top()), to = parameterAt(a, b, area.bottom());
    const Curve head = headOf({a, a + bend, b - bend, b}, to);
    return to <= 0 ? head : reversed(headOf(reversed(head), 1 - from / to));
}

/// What of an edge may be seen: most of a long one stands elsewhere.
void addEdge(const Scene& scene, const SceneEdge& edge, const QRectF& area, bool isFar,
             QPainterPath& path)
{
    const QPointF* points = scene.points.data() + edge.first;
    bool isDrawn = false; // up to the point before
    for (uint32_t i = 1; i < edge.count; ++i) {
        const QPointF a = points[i - 1], b = points[i];
        if (!mayTouch(a, b, area)) {
            isDrawn = false;
            continue;
        }
        const bool isDown = b.y() > a.y() && !edge.isSideways;
        const bool isCut = isDown && (a.y() < area.top() || b.y() > area.bottom());
        const QPointF bend =
            edge.isSideways ? QPointF((b.x() - a.x()) / 2, 0) : QPointF(0, (b.y() - a.y()) / 2);
        const Curve curve = isCut ? visiblePart(a, b, area) : Curve{a, a + bend, b - bend, b};
        if (!isDrawn || isCut) path.moveTo(curve[0]);
        isDrawn = !isCut;
        if (isFar || a.x() == b.x())
            path.lineTo(curve[3]);
        else
            path.cubicTo(curve[1], curve[2], curve[3]);
    }
}

} // namespace

void ScenePainter::paintEdges(QPainter& painter, const SceneIndex& index, const QRectF& area,
                              double zoom, const CanvasFocus& focus)
{
    const Scene& scene = *index.scene;
    const std::vector<uint32_t> edges = index.edges.query(area);
    const bool isFar = kCardHeight * zoom < 12;
    constexpr double kWidestLine = 4;
    const double margin = std::max(kWidestLine, kWidestLine / zoom);
    const QRectF seen = area.adjusted(-margin, -margin, margin, margin);
    QPainterPath plain, dim, gone, near;
    for (const uint32_t e : edges) {
        const SceneEdge& edge = scene.edges[e];
        const bool isNear =
            focus.selected >= 0 && (edge.from == focus.selected || edge.to == focus.selected);
        QPainterPath& path = isNear && edge.state != DiffState::Removed ? near
                             : edge.state == DiffState::Removed         ? gone
                             : isDim(edge.state)                        ? dim
                                                                        : plain;
        addEdge(scene, edge, seen, isFar, path);
    }
    const auto stroke = [&](const QPainterPath& path, QColor colour, double width,
                            Qt::PenStyle style) {
        if (path.isEmpty()) return;
        QPen pen(colour, std::max(width, 0.8 / zoom), style);
        if (isFar) pen.setCosmetic(true), pen.setWidthF(1);
        strokeLines(painter, path, pen, area);
    };
    QColor faded = m_theme.edge;
    faded.setAlphaF(0.55f);
    stroke(dim, faded, 1.2, Qt::SolidLine);
    stroke(plain, m_theme.edge, 1.3, Qt::SolidLine);
    stroke(gone, m_theme.removed, 1.1, Qt::DashLine);
    stroke(near, m_theme.accent, 1.8, Qt::SolidLine);
    if (kCardHeight * zoom >= kTextHeight) paintLabels(painter, scene, edges, seen);
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
                               const std::vector<uint32_t>& edges, const QRectF& seen)
{
    QFont font = m_theme.code;
    font.setPixelSize(9);
    painter.setFont(font);
    const QFontMetricsF metrics(font);
    for (const uint32_t index : edges) {
        const SceneEdge& edge = scene.edges[index];
        if (edge.isStub) {
            const QPointF top = scene.points[edge.first];
            if (!seen.contains(top)) continue;
            painter.setPen(QPen(m_theme.edge, 1.2));
            painter.setBrush(m_theme.canvas);
            painter.drawEllipse(top, 3, 3);
            continue;
        }
        constexpr double kHeight = 20;
        const bool isNear =
            edge.labelAt.y() > seen.top() - kHeight && edge.labelAt.y() < seen.bottom() + kHeight;
        if (edge.label.isEmpty() || !isNear) continue;
        const QPointF place = edge.labelAt + QPointF(7, metrics.ascent() / 2 - 1);
        const QRectF box(place.x() - 2, place.y() - metrics.ascent(),
                         metrics.horizontalAdvance(edge.label) + 4, metrics.height());
        if (!box.intersects(seen)) continue;
        QColor shade = m_theme.canvas;
        shade.setAlphaF(0.8f);
        painter.fillRect(box, shade);
        QColor ink = m_theme.secondary;
        painter.setPen(ink);
        painter.drawText(place, edge.label);
    }
}

} // namespace tenon::views
