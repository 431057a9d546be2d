// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs the items of two scenes by their places.
#include "views/canvas/morph.h"

#include <algorithm>

namespace tenon::views {

namespace {

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

QRectF between(const QRectF& a, const QRectF& b, double share)
{
    const auto mix = [share](double x, double y) { return x + (y - x) * share; };
    return {mix(a.x(), b.x()), mix(a.y(), b.y()), mix(a.width(), b.width()),
            mix(a.height(), b.height())};
}

/// A small rectangle in the middle of `rect`.
QRectF coreOf(const QRectF& rect)
{
    constexpr double kShare = 0.3;
    return between(rect, QRectF(rect.center(), QSizeF()), 1 - kShare);
}

} // namespace

SceneIndex::SceneIndex(ScenePtr indexed)
    : scene(std::move(indexed))
{
    std::vector<QRectF> rects;
    rects.reserve(scene->items.size());
    for (const SceneItem& item : scene->items) rects.push_back(item.rect);
    items = SpatialGrid(rects);
    rects.clear();
    for (const SceneEdge& edge : scene->edges) rects.push_back(edgeRect(*scene, edge));
    edges = SpatialGrid(rects);
}

Morph::Morph()
    : m_old(std::make_shared<Scene>())
{
}

Morph::Morph(SceneIndex old, const Scene& now, const QRectF& area)
    : m_old(std::move(old))
    , m_time(0)
{
    for (uint32_t item = 0; item < now.items.size(); ++item)
        if (now.items[item].rect.intersects(area)) addComing(now, item);
    for (const uint32_t item : m_old.items.query(area)) addLeaving(now, item);
}

void Morph::addComing(const Scene& now, uint32_t item)
{
    const SceneItem& coming = now.items[item];
    const int was = m_old.scene->itemAt(coming.place);
    if (was >= 0) {
        const QRectF start = m_old.scene->items[static_cast<size_t>(was)].rect;
        if (start != coming.rect) m_start[item] = start;
        return;
    }
    m_isNew[item] = true;
    QRectF members;
    for (uint32_t other = item + 1; coming.isFrame && other < now.items.size(); ++other) {
        const int before = m_old.scene->itemAt(now.items[other].place);
        if (now.items[other].frame == coming.place && before >= 0)
            members |= m_old.scene->items[static_cast<size_t>(before)].rect;
    }
    m_start[item] = members.isEmpty() ? coreOf(coming.rect) : members;
}

void Morph::addLeaving(const Scene& now, uint32_t item)
{
    const SceneItem& gone = m_old.scene->items[item];
    if (now.itemAt(gone.place) >= 0) return;
    QRectF target = coreOf(gone.rect);
    for (const uint32_t e : m_old.edges.query(gone.rect.adjusted(-2, -2, 2, 2))) {
        const SceneEdge& edge = m_old.scene->edges[e];
        if (edge.from != static_cast<int>(item)) continue;
        const int reader = now.itemAt(m_old.scene->items[static_cast<size_t>(edge.to)].place);
        if (reader >= 0) target = coreOf(now.items[static_cast<size_t>(reader)].rect);
    }
    m_leaving.push_back({gone, target});
}

QRectF Morph::rectOf(uint32_t item, const QRectF& target) const
{
    const auto found = m_start.find(item);
    return found == m_start.end() ? target : between(found->second, target, m_time);
}

double Morph::opacityOf(uint32_t item) const { return m_isNew.count(item) ? m_time : 1; }

} // namespace tenon::views
