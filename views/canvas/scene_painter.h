// SPDX-License-Identifier: GPL-3.0-or-later
// ScenePainter: paints the visible part of a scene at the level of detail the zoom allows.
#pragma once

#include "views/canvas/camera.h"
#include "views/canvas/spatial_grid.h"
#include "views/theme/theme.h"

#include <QHash>
#include <QPainter>
#include <QStaticText>

namespace tenon::views {

/// What the user points at.
struct CanvasFocus
{
    int selected = -1;
    int hovered = -1;
    bool hasKeyboard = false;
};

class ScenePainter
{
public:
    explicit ScenePainter(Theme theme);

    void setTheme(Theme theme);
    void setScene(ScenePtr scene);
    const Scene& scene() const { return *m_scene; }
    void paint(QPainter& painter, const Camera& camera, QSizeF view, const CanvasFocus& focus);
    void paintMinimap(QPainter& painter, const QRectF& area, const Camera& camera, QSizeF view);
    /// Topmost item at a scene position, or -1: cards before the frames around them.
    int itemAt(QPointF position) const;
    std::vector<uint32_t> visibleItems(const QRectF& area) const { return m_itemGrid.query(area); }

    /// Heights of a card in pixels below which it is a plain quad, and below which it has no text.
    static constexpr double kQuadHeight = 6;
    static constexpr double kTextHeight = 25;

private:
    void paintQuads(QPainter& painter, const Camera& camera, QSizeF view,
                    const std::vector<uint32_t>& items) const;
    void paintEdges(QPainter& painter, const QRectF& area, double zoom, const CanvasFocus& focus);
    void paintFrame(QPainter& painter, const SceneItem& item, double zoom, bool isSelected);
    void paintCard(QPainter& painter, uint32_t index, double zoom, const CanvasFocus& focus);
    void paintCardText(QPainter& painter, uint32_t index, bool isSelected);
    void paintLabels(QPainter& painter, const std::vector<uint32_t>& edges);
    const QStaticText& text(QHash<QString, QStaticText>& cache, const QString& text,
                            const QFont& font, double width);
    QColor fillOf(const SceneItem& item) const;

    Theme m_theme;
    ScenePtr m_scene;
    SpatialGrid m_itemGrid;
    SpatialGrid m_edgeGrid;
    QHash<QString, QStaticText> m_titles, m_details;
    QPixmap m_minimap;
};

} // namespace tenon::views
