// SPDX-License-Identifier: GPL-3.0-or-later
// Qt's raster keeps the pixels that an outline touches in one list per row and walks it for each of
// them: a line that is nearly horizontal costs the square of its length. Lines of one pixel have a
// way of their own, eight times as fast; wider ones are cut at the borders of upright strips and
// filled strip by strip, as one shape each, so that lines that cross do not shine through.
#include "views/canvas/stroke_lines.h"

#include <QPaintEngine>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::views {

namespace {

constexpr int kStripWidth = 96;
constexpr double kWidestHairline = 1.4; ///< pixels of the device
constexpr double kOverlap = 2;          ///< pixels beyond the border, where the clip hides the cut

enum class Side
{
    Left,
    Right
};

/// What of a polygon lies on one side of an upright line.
QPolygonF cutAt(const QPolygonF& polygon, double x, Side side)
{
    const auto isKept = [&](QPointF p) { return side == Side::Left ? p.x() <= x : p.x() >= x; };
    QPolygonF kept;
    for (qsizetype i = 0; i < polygon.size(); ++i) {
        const QPointF a = polygon[i], b = polygon[(i + 1) % polygon.size()];
        if (isKept(a)) kept.append(a);
        if (isKept(a) != isKept(b))
            kept.append({x, a.y() + (b.y() - a.y()) * (x - a.x()) / (b.x() - a.x())});
    }
    return kept;
}

/// What lies within the strip's width leaves `outlines` for the answer; what goes on to the right
/// stays.
QPainterPath takeStrip(std::vector<QPolygonF>& outlines, double right)
{
    QPainterPath strip;
    strip.setFillRule(Qt::WindingFill);
    std::vector<QPolygonF> rest;
    for (const QPolygonF& outline : outlines) {
        const QRectF box = outline.boundingRect();
        if (box.left() > right + kOverlap) {
            rest.push_back(outline);
        } else if (box.right() < right - kOverlap) {
            strip.addPolygon(outline);
        } else {
            strip.addPolygon(cutAt(outline, right + kOverlap, Side::Left));
            rest.push_back(cutAt(outline, right - kOverlap, Side::Right));
        }
    }
    outlines = std::move(rest);
    return strip;
}

/// In pixels, their curves as polygons that are right to a small part of one.
std::vector<QPolygonF> outlinesOf(const QPainterPath& path, QPen pen, const QTransform& toPixels)
{
    constexpr double kFine = 4;
    const QTransform toFine = toPixels * QTransform::fromScale(kFine, kFine);
    pen.setWidthF(pen.widthF() * std::hypot(toFine.m11(), toFine.m12()));
    const QPainterPath outline = QPainterPathStroker(pen).createStroke(toFine.map(path));
    const QTransform toCoarse = QTransform::fromScale(1 / kFine, 1 / kFine);
    std::vector<QPolygonF> polygons;
    for (const QPolygonF& polygon : outline.toSubpathPolygons())
        polygons.push_back(toCoarse.map(polygon));
    return polygons;
}

/// A pen of one pixel that leaves as much ink as `pen`, as far as it can.
QPen hairline(QPen pen, double width)
{
    QColor ink = pen.color();
    ink.setAlphaF(std::min(1.0f, ink.alphaF() * static_cast<float>(width)));
    pen.setColor(ink);
    pen.setWidthF(pen.widthF() / width);
    return pen;
}

void strokeStrips(QPainter& painter, std::vector<QPolygonF> outlines, const QBrush& ink,
                  const QRect& area)
{
    takeStrip(outlines, area.left()); // what nobody sees
    for (int left = area.left(); left <= area.right() && !outlines.empty(); left += kStripWidth) {
        const QPainterPath strip = takeStrip(outlines, left + kStripWidth);
        if (strip.isEmpty()) continue;
        painter.save();
        painter.setClipRect(QRect(left, area.top(), kStripWidth, area.height()), Qt::IntersectClip);
        painter.fillPath(strip, ink);
        painter.restore();
    }
}

} // namespace

void strokeLines(QPainter& painter, const QPainterPath& path, const QPen& pen, const QRectF& seen)
{
    const QTransform toPixels = painter.worldTransform(), toDevice = painter.deviceTransform();
    const double width = pen.widthF() * std::hypot(toDevice.m11(), toDevice.m12());
    const bool isRaster = painter.paintEngine()->type() == QPaintEngine::Raster;
    if (!isRaster || pen.isCosmetic() || width <= 1) return painter.strokePath(path, pen);
    if (width <= kWidestHairline) return painter.strokePath(path, hairline(pen, width));
    painter.save();
    painter.resetTransform();
    strokeStrips(painter, outlinesOf(path, pen, toPixels), pen.brush(),
                 toPixels.mapRect(seen).toAlignedRect());
    painter.restore();
}

} // namespace tenon::views
