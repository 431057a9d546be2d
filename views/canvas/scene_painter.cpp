// SPDX-License-Identifier: GPL-3.0-or-later
// Levels of detail, the minimap and column titles; cards and edges are in paint_*.cpp. Nothing is
// computed here that does not depend on pixels.
#include "views/canvas/scene_painter.h"

#include <QFontMetricsF>
#include <QImage>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kDimmed = 0.5;
constexpr int kLargestTextCache = 20000;
constexpr size_t kFewEdges = 4000;

} // namespace

ScenePainter::ScenePainter(Theme theme)
    : m_theme(std::move(theme))
    , m_now(std::make_shared<Scene>())
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
    m_morph = {};
    m_now = SceneIndex(std::move(scene));
    m_minimap = {};
    if (m_titles.size() + m_details.size() > kLargestTextCache) {
        m_titles.clear();
        m_details.clear();
    }
}

void ScenePainter::morphTo(ScenePtr scene, const QRectF& area)
{
    SceneIndex old = std::move(m_now);
    setScene(std::move(scene));
    m_morph = Morph(std::move(old), *m_now.scene, area);
}

void ScenePainter::setMorphTime(double time)
{
    m_morph.setTime(time);
    if (!m_morph.isRunning()) m_morph = {};
}

int ScenePainter::itemAt(QPointF position) const
{
    const std::vector<uint32_t> found = m_now.items.query(QRectF(position, QSizeF(0.01, 0.01)));
    return found.empty() ? -1 : static_cast<int>(found.back());
}

QColor ScenePainter::quadColour(const SceneItem& item) const
{
    if (isColoured(item)) return Theme::rampColour(static_cast<double>(item.heat));
    if (m_now.scene->looks.isColoured) return m_theme.line;
    const QColor own = m_theme.families[static_cast<size_t>(item.family)];
    if (item.state == DiffState::Plain) return own;
    if (!isDim(item.state)) return m_theme.stateColour(item.state);
    const auto half = [](int a, int b) {
        return static_cast<int>(a * kDimmed + b * (1 - kDimmed));
    };
    const QColor back = m_theme.canvas;
    return {half(own.red(), back.red()), half(own.green(), back.green()),
            half(own.blue(), back.blue())};
}

/// Far away a card is a few pixels: they are written straight into an image, so that a hundred
/// thousand of them take milliseconds.
void ScenePainter::paintQuads(QPainter& painter, const Camera& camera, QSizeF view,
                              const std::vector<uint32_t>& items) const
{
    QImage image(view.toSize(), QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
    const int width = image.width(), height = image.height();
    for (const uint32_t index : items) {
        const SceneItem& item = m_now.scene->items[index];
        if (item.isFrame && !item.isCollapsed) continue;
        const QPointF corner = camera.toPixel(item.rect.topLeft(), view);
        const int x0 = std::max(0, static_cast<int>(corner.x()));
        const int y0 = std::max(0, static_cast<int>(corner.y()));
        const int x1 =
            std::min(width, static_cast<int>(corner.x() + item.rect.width() * camera.zoom) + 1);
        const int y1 =
            std::min(height, static_cast<int>(corner.y() + item.rect.height() * camera.zoom) + 1);
        const QRgb colour = quadColour(item).rgb();
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
    const std::vector<uint32_t> items = m_now.items.query(area);
    const double cardPixels = kCardHeight * camera.zoom;
    if (cardPixels < kQuadHeight) {
        painter.save();
        painter.translate(view.width() / 2, view.height() / 2);
        painter.scale(camera.zoom, camera.zoom);
        painter.translate(-camera.centre);
        // Without its edges a graph is dust; with tens of thousands they are what takes the time.
        if (cardPixels > 1.5 || m_now.scene->edges.size() < kFewEdges)
            paintEdges(painter, m_now, area, camera.zoom, focus);
        painter.restore();
        paintQuads(painter, camera, view, items);
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(view.width() / 2, view.height() / 2);
    painter.scale(camera.zoom, camera.zoom);
    painter.translate(-camera.centre);
    paintRibbons(painter, area);
    paintItems(painter, items, camera.zoom, focus, Layer::Frames);
    if (m_morph.isRunning()) {
        painter.setOpacity(1 - m_morph.time());
        paintEdges(painter, m_morph.old(), area, camera.zoom, {});
        painter.setOpacity(m_morph.time());
    }
    paintEdges(painter, m_now, area, camera.zoom, focus);
    painter.setOpacity(1);
    if (cardPixels >= kTextHeight) paintItems(painter, items, camera.zoom, focus, Layer::Titles);
    paintItems(painter, items, camera.zoom, focus, Layer::Cards);
    painter.restore();
}

ScenePainter::CardLook ScenePainter::lookOf(uint32_t index, const SceneItem& item,
                                            const CanvasFocus& focus) const
{
    if (static_cast<int>(index) == focus.selected ||
        (item.place != kNoPlace && item.place == focus.place))
        return CardLook::Selected;
    return static_cast<int>(index) == focus.hovered ? CardLook::Hovered : CardLook::Normal;
}

void ScenePainter::paintOne(QPainter& painter, const SceneItem& item, double zoom, CardLook look,
                            Layer layer)
{
    const bool isFrame = item.isFrame && !item.isCollapsed;
    if (layer == Layer::Cards && !isFrame) return paintCard(painter, item, zoom, look);
    if (layer == Layer::Frames && isFrame) return paintFrame(painter, item, look);
    if (layer == Layer::Titles && isFrame) return paintFrameTitle(painter, item, look);
}

/// One layer, where the morph has its items at its time.
void ScenePainter::paintItems(QPainter& painter, const std::vector<uint32_t>& items, double zoom,
                              const CanvasFocus& focus, Layer layer)
{
    for (const uint32_t index : items) {
        const SceneItem& item = m_now.scene->items[index];
        const CardLook look = lookOf(index, item, focus);
        if (!m_morph.isRunning()) {
            paintOne(painter, item, zoom, look, layer);
            continue;
        }
        SceneItem posed = item;
        posed.rect = m_morph.rectOf(index, item.rect);
        painter.setOpacity(m_morph.opacityOf(index));
        paintOne(painter, posed, zoom, look, layer);
    }
    for (const Morph::Leaving& gone : m_morph.leaving()) {
        SceneItem posed = gone.item;
        const double time = m_morph.time();
        posed.rect.translate((gone.target.center() - gone.item.rect.center()) * time);
        painter.setOpacity(1 - time);
        paintOne(painter, posed, zoom, CardLook::Normal, layer);
    }
    painter.setOpacity(1);
}

/// Where the titles of the columns stand: above what is seen of them, next to one another.
std::vector<QRectF> ScenePainter::columnTitles(const Camera& camera, QSizeF view) const
{
    constexpr double kInset = 8, kHeight = 24;
    const QRectF seen = camera.visible(view);
    const QFontMetricsF metrics(m_theme.bodyStrong);
    std::vector<QRectF> pills;
    for (size_t i = 0; i < m_now.scene->columns.size(); ++i) {
        const SceneColumn& column = m_now.scene->columns[i];
        double left = column.right, right = column.left;
        for (const uint32_t index : visibleItems(seen)) {
            const SceneItem& item = m_now.scene->items[index];
            if (item.isBeside || item.isBefore != (i == 0)) continue;
            left = std::min(left, item.rect.left());
            right = std::max(right, item.rect.right());
        }
        if (left > right) left = column.left, right = column.right;
        const double width = metrics.horizontalAdvance(column.title) + 24;
        const double middle = camera.toPixel({(left + right) / 2, 0}, view).x();
        const double last = std::max(kInset, view.width() - width - kInset);
        pills.emplace_back(std::clamp(middle - width / 2, kInset, last), kInset, width, kHeight);
    }
    if (pills.size() == 2 && pills[0].right() + kInset > pills[1].left()) {
        const double apart = (pills[0].right() + kInset - pills[1].left()) / 2;
        pills[0].translate(-std::min(apart, pills[0].left() - kInset), 0);
        pills[1].moveLeft(pills[0].right() + kInset);
    }
    return pills;
}

void ScenePainter::paintColumns(QPainter& painter, const Camera& camera, QSizeF view) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(m_theme.bodyStrong);
    const std::vector<QRectF> pills = columnTitles(camera, view);
    for (size_t i = 0; i < pills.size(); ++i) {
        painter.setPen(m_theme.line);
        painter.setBrush(m_theme.panel);
        painter.drawRoundedRect(pills[i], 5, 5);
        painter.setPen(m_theme.text);
        painter.drawText(pills[i], Qt::AlignCenter, m_now.scene->columns[i].title);
    }
}

void ScenePainter::paintNote(QPainter& painter, const QString& note, QSizeF view) const
{
    if (note.isEmpty()) return;
    constexpr double kInset = 12, kHeight = 24, kPad = 10;
    const QFontMetricsF metrics(m_theme.body);
    const QString text =
        metrics.elidedText(note, Qt::ElideRight, view.width() - 2 * (kInset + kPad));
    const QRectF pill(kInset, view.height() - kInset - kHeight,
                      metrics.horizontalAdvance(text) + 2 * kPad, kHeight);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_theme.changed);
    painter.setBrush(m_theme.changedTint);
    painter.drawRoundedRect(pill, 5, 5);
    painter.setFont(m_theme.body);
    painter.setPen(m_theme.text);
    painter.drawText(pill, Qt::AlignCenter, text);
}

void ScenePainter::paintMinimap(QPainter& painter, const QRectF& area, const Camera& camera,
                                QSizeF view)
{
    const QRectF inner = area.adjusted(8, 8, -8, -8);
    const double scale = std::min(inner.width() / std::max(1.0, m_now.scene->bounds.width()),
                                  inner.height() / std::max(1.0, m_now.scene->bounds.height()));
    const QPointF origin = inner.center() - m_now.scene->bounds.center() * scale;
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
        for (const SceneItem& item : m_now.scene->items) {
            if (item.isFrame && !item.isCollapsed) continue;
            const QPointF corner = item.rect.topLeft() * scale + origin - area.topLeft();
            const bool isTold = item.state != DiffState::Plain && !isDim(item.state);
            QColor colour = isTold ? m_theme.stateColour(item.state) : m_theme.faint;
            if (isDim(item.state)) colour.setAlphaF(0.5f);
            if (m_now.scene->looks.isColoured) colour = quadColour(item);
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
