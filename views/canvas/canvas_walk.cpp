// SPDX-License-Identifier: GPL-3.0-or-later
// Walking the graph with the keyboard: along edges, sideways, in program order, in and out.
#include "views/canvas/graph_canvas.h"

#include <QKeyEvent>

#include <cmath>
#include <limits>

namespace tenon::views {

int GraphCanvas::neighbour(int item, int key) const
{
    const Scene& scene = m_painter.scene();
    const QRectF here = scene.items[static_cast<size_t>(item)].rect;
    int best = -1;
    double bestDistance = std::numeric_limits<double>::max();
    const auto consider = [&](int other, double distance) {
        if (other < 0 || other == item || distance >= bestDistance) return;
        best = other;
        bestDistance = distance;
    };
    if (key == Qt::Key_Up || key == Qt::Key_Down) {
        for (const SceneEdge& edge : scene.edges) {
            const int mine = key == Qt::Key_Down ? edge.from : edge.to;
            const int other = key == Qt::Key_Down ? edge.to : edge.from;
            if (mine != item) continue;
            const QPointF there = scene.items[static_cast<size_t>(other)].rect.center();
            consider(other, std::abs(there.x() - here.center().x()) +
                                0.1 * std::abs(there.y() - here.center().y()));
        }
        return best;
    }
    const double side = key == Qt::Key_Left ? -1 : 1;
    for (size_t i = 0; i < scene.items.size(); ++i) {
        if (scene.items[i].isFrame && !scene.items[i].isCollapsed) continue;
        const QPointF there = scene.items[i].rect.center();
        const double dx = (there.x() - here.center().x()) * side;
        const double dy = std::abs(there.y() - here.center().y());
        if (dx > 8 && dy < 3 * kCardHeight) consider(static_cast<int>(i), dx + 3 * dy);
    }
    return best;
}

int GraphCanvas::cardAfter(int item, int step) const
{
    const auto count = static_cast<int>(m_painter.scene().items.size());
    for (int i = item < 0 ? (step > 0 ? 0 : count - 1) : item + step; i >= 0 && i < count;
         i += step) {
        const SceneItem& candidate = m_painter.scene().items[static_cast<size_t>(i)];
        if (!candidate.isFrame || candidate.isCollapsed) return i;
    }
    return -1;
}

void GraphCanvas::toggleScope(int item, std::optional<bool> collapse)
{
    if (item < 0) return;
    const Scene& scene = m_painter.scene();
    int scope = item;
    if (!scene.items[static_cast<size_t>(item)].isScope) {
        scope = -1;
        for (size_t i = 0; i < scene.items.size() && scene.items[i].isFrame; ++i)
            if (scene.items[i].isScope &&
                scene.items[i].rect.contains(scene.items[static_cast<size_t>(item)].rect))
                scope = static_cast<int>(i); // inner scopes come after outer ones
    }
    if (scope < 0) return;
    const SceneItem& found = scene.items[static_cast<size_t>(scope)];
    if (!collapse || *collapse != found.isCollapsed) emit scopeToggled(found.note);
}

void GraphCanvas::toggleSelectedScope() { toggleScope(m_focus.selected, std::nullopt); }

void GraphCanvas::walkOrder(int step)
{
    const int item = cardAfter(m_focus.selected, step);
    if (item >= 0) selectItem(item, true);
}

void GraphCanvas::keyPressEvent(QKeyEvent* event)
{
    const int selected = m_focus.selected;
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const int next = selected < 0 ? cardAfter(-1, 1) : neighbour(selected, event->key());
        if (next >= 0) selectItem(next, true);
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (selected < 0) break;
        if (m_painter.scene().items[static_cast<size_t>(selected)].isScope)
            toggleScope(selected, std::nullopt);
        else
            emit placeOpened(m_selectedPlace);
        return;
    case Qt::Key_Plus:
    case Qt::Key_Equal: return toggleScope(selected, false);
    case Qt::Key_Minus: return toggleScope(selected, true);
    case Qt::Key_N: return walkOrder(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    case Qt::Key_Space: return fit();
    case Qt::Key_Z: return zoomToSelection();
    case Qt::Key_Home: m_hasLooked = false; return lookAtStart();
    case Qt::Key_Escape:
        if (selected >= 0) return selectItem(-1, false);
        break;
    default: break;
    }
    QWidget::keyPressEvent(event);
}

} // namespace tenon::views
