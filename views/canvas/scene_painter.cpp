// SPDX-License-Identifier: GPL-3.0-or-later
// Frames, cards, edges and the minimap; nothing is computed here that does not depend on pixels.
#include "views/canvas/scene_painter.h"

#include <QFontMetricsF>
#include <QImage>
#include <QPainterPath>

#include <cmath>

namespace tenon::views {

namespace {

constexpr double kCardRadius = 5;
constexpr double kDimmed = 0.5;
constexpr int kLargestTextCache = 20000;

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

QRectF edgeRect(const Scene& scene, const SceneEdge& edge)
{
    QPointF low = scene.points[edge.first], high = low;
    for (uint32_t i = 1; i < edge.count; ++i) {
        const QPointF p = scene.points[edge.first + i];
        low = {std::min(low.x(), p.x()), std::min(low.y(), p.y())};
        high = {std::max(high.x(), p.x()), std::max(high.y(), p.y())};
    }
    return QRectF(low, high).adjusted(-1, -1, 1, 1);
}

bool isDim(DiffState state) { return state == DiffState::Unchanged; }

} // namespace

ScenePainter::ScenePainter(Theme theme)
    : m_theme(std::move(theme))
    , m_scene(std::make_shared<Scene>())
{
}

void ScenePainter::setTheme(Theme theme)
{
    m_theme = std::move(theme);
    m_titles.clear();
    m_details.clear();
    m_minimap = {};
}

void ScenePainter::setScene(ScenePtr scene)
{
    m_scene = std::move(scene);
    std::vector<QRectF> rects;
    rects.reserve(m_scene->items.size());
    for (const SceneItem& item : m_scene->items) rects.push_back(item.rect);
    m_itemGrid = SpatialGrid(rects);
    rects.clear();
    for (const SceneEdge& edge : m_scene->edges) rects.push_back(edgeRect(*m_scene, edge));
    m_edgeGrid = SpatialGrid(rects);
    m_minimap = {};
    if (m_titles.size() + m_details.size() > kLargestTextCache) {
        m_titles.clear();
        m_details.clear();
    }
}

int ScenePainter::itemAt(QPointF position) const
{
    const std::vector<uint32_t> found = m_itemGrid.query(QRectF(position, QSizeF(0.01, 0.01)));
    return found.empty() ? -1 : static_cast<int>(found.back());
}

QColor ScenePainter::fillOf(const SceneItem& item) const
{
    if (item.state == DiffState::Plain || isDim(item.state))
        return m_theme.familyColour(item.family);
    return m_theme.stateColour(item.state);
}

/// Far away a card is a few pixels: they are written straight into an image, so that a hundred
/// thousand of them take milliseconds.
void ScenePainter::paintQuads(QPainter& painter, const Camera& camera, QSizeF view,
                              const std::vector<uint32_t>& items) const
{
    QImage image(view.toSize(), QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const int width = image.width(), height = image.height();
    const QColor window = m_theme.canvas;
    const auto blend = [&](QColor c, double share) {
        return qRgb(static_cast<int>(c.red() * share + window.red() * (1 - share)),
                    static_cast<int>(c.green() * share + window.green() * (1 - share)),
                    static_cast<int>(c.blue() * share + window.blue() * (1 - share)));
    };
    std::array<QRgb, kOpFamilyCount> plain{}, dim{};
    for (size_t f = 0; f < plain.size(); ++f) {
        plain[f] = m_theme.families[f].rgb();
        dim[f] = blend(m_theme.families[f], kDimmed);
    }
    for (const uint32_t index : items) {
        const SceneItem& item = m_scene->items[index];
        if (item.isFrame && !item.isCollapsed) continue;
        const QPointF corner = camera.toPixel(item.rect.topLeft(), view);
        const int x0 = std::max(0, static_cast<int>(corner.x()));
        const int y0 = std::max(0, static_cast<int>(corner.y()));
        const int x1 =
            std::min(width, static_cast<int>(corner.x() + item.rect.width() * camera.zoom) + 1);
        const int y1 =
            std::min(height, static_cast<int>(corner.y() + item.rect.height() * camera.zoom) + 1);
        const auto family = static_cast<size_t>(item.family);
        const QRgb colour = item.state == DiffState::Plain ? plain[family]
                            : isDim(item.state)            ? dim[family]
                                                           : m_theme.stateColour(item.state).rgb();
        for (int y = y0; y < y1; ++y) {
            auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
            std::fill(line + x0, line + std::max(x0, x1), colour);
        }
    }
    painter.drawImage(0, 0, image);
}

void ScenePainter::paint(QPainter& painter, const Camera& camera, QSizeF view,
                         const CanvasFocus& focus)
{
    const QRectF area = camera.visible(view);
    const std::vector<uint32_t> items = m_itemGrid.query(area);
    const double cardPixels = kCardHeight * camera.zoom;
    if (cardPixels < kQuadHeight) {
        painter.save();
        painter.translate(view.width() / 2, view.height() / 2);
        painter.scale(camera.zoom, camera.zoom);
        painter.translate(-camera.centre);
        if (cardPixels > 1.5) paintEdges(painter, area, camera.zoom, focus);
        painter.restore();
        paintQuads(painter, camera, view, items);
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(view.width() / 2, view.height() / 2);
    painter.scale(camera.zoom, camera.zoom);
    painter.translate(-camera.centre);
    for (const uint32_t index : items) {
        const SceneItem& item = m_scene->items[index];
        if (item.isFrame && !item.isCollapsed)
            paintFrame(painter, item, camera.zoom, static_cast<int>(index) == focus.selected);
    }
    paintEdges(painter, area, camera.zoom, focus);
    for (const uint32_t index : items) {
        const SceneItem& item = m_scene->items[index];
        if (!item.isFrame || item.isCollapsed) paintCard(painter, index, camera.zoom, focus);
    }
    painter.restore();
}

void ScenePainter::paintEdges(QPainter& painter, const QRectF& area, double zoom,
                              const CanvasFocus& focus)
{
    const std::vector<uint32_t> edges = m_edgeGrid.query(area);
    const bool isFar = kCardHeight * zoom < 12;
    QPainterPath plain, dim, gone, near;
    for (const uint32_t index : edges) {
        const SceneEdge& edge = m_scene->edges[index];
        const bool isNear =
            focus.selected >= 0 && (edge.from == focus.selected || edge.to == focus.selected);
        QPainterPath& path = isNear && edge.state != DiffState::Removed ? near
                             : edge.state == DiffState::Removed         ? gone
                             : isDim(edge.state)                        ? dim
                                                                        : plain;
        if (isFar) {
            path.moveTo(m_scene->points[edge.first]);
            for (uint32_t i = 1; i < edge.count; ++i) path.lineTo(m_scene->points[edge.first + i]);
        } else {
            path.addPath(edgePath(*m_scene, edge));
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
    if (kCardHeight * zoom >= kTextHeight) paintLabels(painter, edges);
}

void ScenePainter::paintLabels(QPainter& painter, const std::vector<uint32_t>& edges)
{
    QFont font = m_theme.code;
    font.setPixelSize(9);
    painter.setFont(font);
    const QFontMetricsF metrics(font);
    for (const uint32_t index : edges) {
        const SceneEdge& edge = m_scene->edges[index];
        if (edge.isStub) {
            const QPointF top = m_scene->points[edge.first];
            painter.setPen(QPen(m_theme.edge, 1.2));
            painter.setBrush(m_theme.canvas);
            painter.drawEllipse(top, 3, 3);
            continue;
        }
        if (edge.label.isEmpty() || edge.count < 2) continue;
        const QPointF* points = m_scene->points.data() + edge.first;
        const double length = points[edge.count - 1].y() - points[0].y();
        if (length < 28) continue;
        // Half way in a gap, near the source on a long way: clear of the frames around both ends.
        const double drop = std::min(length / 2, 48.0);
        const bool isStraight =
            points[0].x() == points[1].x() && points[1].y() >= points[0].y() + drop;
        const QPointF place(points[0].x() + 7, points[0].y() + (isStraight ? drop + 3 : 11));
        const QRectF box(place.x() - 2, place.y() - metrics.ascent(),
                         metrics.horizontalAdvance(edge.label) + 4, metrics.height());
        QColor shade = m_theme.canvas;
        shade.setAlphaF(0.8f);
        painter.fillRect(box, shade);
        QColor ink = m_theme.secondary;
        if (isDim(edge.state)) ink.setAlphaF(0.75f);
        painter.setPen(ink);
        painter.drawText(place, edge.label);
    }
}

void ScenePainter::paintFrame(QPainter& painter, const SceneItem& item, double zoom,
                              bool isSelected)
{
    QColor border = isSelected ? m_theme.accent : m_theme.stateColour(item.state);
    QColor fill = isSelected ? m_theme.accentTint : m_theme.stateTint(item.state);
    if (!isSelected && (item.state == DiffState::Plain || isDim(item.state))) {
        fill = item.isScope ? m_theme.panel : m_theme.window;
        fill.setAlphaF(item.isScope ? 0.55f : 0.9f);
    }
    painter.setPen(QPen(border, isSelected ? 2 : 1.2));
    painter.setBrush(fill);
    painter.drawRoundedRect(item.rect, 7, 7);
    if (kCardHeight * zoom < kTextHeight) return;
    const QRectF band(item.rect.left() + 14, item.rect.top() + 4, item.rect.width() - 28, 22);
    painter.save();
    if (isDim(item.state)) painter.setOpacity(0.7);
    const QString glyph = Theme::stateGlyph(item.state);
    const QString right =
        item.figure.isEmpty() ? (item.isScope ? item.detail : QString()) : item.figure;
    painter.setFont(m_theme.secondaryFont);
    const double glyphWidth = glyph.isEmpty() ? 0 : 16;
    const double rightWidth =
        right.isEmpty() ? 0 : QFontMetricsF(m_theme.secondaryFont).horizontalAdvance(right) + 8;
    painter.setPen(m_theme.secondary);
    painter.drawText(band.adjusted(0, 0, -glyphWidth, 0), Qt::AlignRight | Qt::AlignVCenter, right);
    painter.setFont(m_theme.bodyStrong);
    if (!glyph.isEmpty()) {
        painter.setPen(m_theme.stateColour(item.state));
        painter.drawText(band, Qt::AlignRight | Qt::AlignVCenter, glyph);
    }
    const double titleWidth = band.width() - glyphWidth - rightWidth;
    const QString title =
        QFontMetricsF(m_theme.bodyStrong).elidedText(item.title, Qt::ElideMiddle, titleWidth);
    painter.setPen(isSelected ? m_theme.accent : m_theme.text);
    painter.drawText(band, Qt::AlignLeft | Qt::AlignVCenter, title);
    painter.restore();
}

void ScenePainter::paintCard(QPainter& painter, uint32_t index, double zoom,
                             const CanvasFocus& focus)
{
    const SceneItem& item = m_scene->items[index];
    const bool isSelected = static_cast<int>(index) == focus.selected;
    const bool isHovered = static_cast<int>(index) == focus.hovered;
    const bool isGone = item.state == DiffState::Removed;
    QPen border(isSelected  ? m_theme.accent
                : isHovered ? m_theme.secondary
                            : m_theme.stateColour(item.state),
                isSelected ? 2 : 1.1);
    if (isGone && !isSelected) border.setStyle(Qt::DashLine);
    painter.save();
    if (isDim(item.state) && !isSelected && !isHovered) painter.setOpacity(kDimmed);
    painter.setPen(border);
    painter.setBrush(isSelected ? m_theme.accentTint : m_theme.stateTint(item.state));
    painter.drawRoundedRect(item.rect, kCardRadius, kCardRadius);
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_theme.familyColour(item.family));
    painter.drawRoundedRect(
        QRectF(item.rect.left() + 1, item.rect.top() + 6, 4, item.rect.height() - 12), 2, 2);
    if (kCardHeight * zoom >= kTextHeight) paintCardText(painter, index, isSelected);
    painter.restore();
}

const QStaticText& ScenePainter::text(QHash<QString, QStaticText>& cache, const QString& text,
                                      const QFont& font, double width)
{
    const QString key = text + QChar(0x1f) + QString::number(static_cast<int>(width));
    const auto it = cache.constFind(key);
    if (it != cache.constEnd()) return *it;
    QStaticText prepared(QFontMetricsF(font).elidedText(text, Qt::ElideRight, width));
    prepared.setTextFormat(Qt::PlainText);
    prepared.setPerformanceHint(QStaticText::AggressiveCaching);
    prepared.prepare(QTransform(), font);
    return *cache.insert(key, prepared);
}

void ScenePainter::paintCardText(QPainter& painter, uint32_t index, bool isSelected)
{
    const SceneItem& item = m_scene->items[index];
    const double left = item.rect.left() + 14, width = item.rect.width() - 26;
    const QString glyph = Theme::stateGlyph(item.state);
    painter.setFont(m_theme.bodyStrong);
    painter.setPen(isSelected ? m_theme.accent : m_theme.text);
    painter.drawStaticText(
        QPointF(left, item.rect.top() + 4),
        text(m_titles, item.title, m_theme.bodyStrong, width - (glyph.isEmpty() ? 0 : 14)));
    if (!glyph.isEmpty()) {
        painter.setPen(m_theme.stateColour(item.state));
        painter.drawText(QRectF(left, item.rect.top() + 4, width, 17),
                         Qt::AlignRight | Qt::AlignVCenter, glyph);
    }
    painter.setFont(m_theme.secondaryFont);
    painter.setPen(m_theme.secondary);
    double figureWidth = 0;
    if (!item.figure.isEmpty()) {
        figureWidth = QFontMetricsF(m_theme.secondaryFont).horizontalAdvance(item.figure) + 8;
        painter.drawText(QRectF(left, item.rect.top() + 21, width, 16),
                         Qt::AlignRight | Qt::AlignVCenter, item.figure);
    }
    if (!item.detail.isEmpty())
        painter.drawStaticText(
            QPointF(left, item.rect.top() + 21),
            text(m_details, item.detail, m_theme.secondaryFont, width - figureWidth));
}

void ScenePainter::paintMinimap(QPainter& painter, const QRectF& area, const Camera& camera,
                                QSizeF view)
{
    const QRectF inner = area.adjusted(8, 8, -8, -8);
    const double scale = std::min(inner.width() / std::max(1.0, m_scene->bounds.width()),
                                  inner.height() / std::max(1.0, m_scene->bounds.height()));
    const QPointF origin = inner.center() - m_scene->bounds.center() * scale;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QColor back = m_theme.panel;
    back.setAlphaF(0.94f);
    painter.setPen(m_theme.line);
    painter.setBrush(back);
    painter.drawRoundedRect(area, 6, 6);
    if (m_minimap.size() != area.size().toSize()) {
        m_minimap = QPixmap(area.size().toSize());
        m_minimap.fill(Qt::transparent);
        QPainter map(&m_minimap);
        for (const SceneItem& item : m_scene->items) {
            if (item.isFrame && !item.isCollapsed) continue;
            const QPointF corner = item.rect.topLeft() * scale + origin - area.topLeft();
            const bool isTold = item.state != DiffState::Plain && !isDim(item.state);
            QColor colour = isTold ? m_theme.stateColour(item.state) : m_theme.faint;
            if (isDim(item.state)) colour.setAlphaF(0.5f);
            map.fillRect(QRectF(corner, QSizeF(std::max(2.0, item.rect.width() * scale),
                                               std::max(1.0, item.rect.height() * scale))),
                         colour);
        }
    }
    painter.drawPixmap(area.topLeft(), m_minimap);
    const QRectF seen = camera.visible(view);
    QRectF box(seen.topLeft() * scale + origin, seen.size() * scale);
    box = box.intersected(area.adjusted(3, 3, -3, -3));
    painter.setPen(QPen(m_theme.accent, 1.4));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box, 2, 2);
    painter.restore();
}

} // namespace tenon::views
