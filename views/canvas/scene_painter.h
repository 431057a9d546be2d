// SPDX-License-Identifier: GPL-3.0-or-later
// ScenePainter: paints the visible part of a scene at the level of detail the zoom allows.
#pragma once

#include "views/canvas/camera.h"
#include "views/canvas/morph.h"
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
    PlaceId place = kNoPlace; ///< the selected one: both of its items in a split view
    bool hasKeyboard = false;
};

class ScenePainter
{
public:
    explicit ScenePainter(Theme theme);

    void setTheme(Theme theme);
    void setScene(ScenePtr scene);
    /// As above, but paint() shows the way from the old scene within `area` until the morph's time
    /// is 1.
    void morphTo(ScenePtr scene, const QRectF& area);
    void setMorphTime(double time);
    const Scene& scene() const { return *m_now.scene; }
    ScenePtr sharedScene() const { return m_now.scene; }
    void paint(QPainter& painter, const Camera& camera, QSizeF view, const CanvasFocus& focus);
    void paintMinimap(QPainter& painter, const QRectF& area, const Camera& camera, QSizeF view);
    /// What the colours of the cards mean, at the lower left, above `note`.
    void paintLegend(QPainter& painter, const QString& note, QSizeF view) const;
    /// A pill at the lower left, in the colours of a change.
    void paintNote(QPainter& painter, const QString& note, QSizeF view) const;
    std::vector<QRectF> columnTitles(const Camera& camera, QSizeF view) const;
    /// Titles of the columns of a split scene, at the upper edge of the view.
    void paintColumns(QPainter& painter, const Camera& camera, QSizeF view) const;
    /// Topmost item at a scene position, or -1: cards before the frames around them.
    int itemAt(QPointF position) const;
    std::vector<uint32_t> visibleItems(const QRectF& area) const { return m_now.items.query(area); }

    /// Heights of a card in pixels below which it is a plain quad, and below which it has no text.
    static constexpr double kQuadHeight = 6;
    static constexpr double kTextHeight = 25;

private:
    enum class CardLook
    {
        Normal,
        Hovered,
        Selected
    };
    CardLook lookOf(uint32_t index, const SceneItem& item, const CanvasFocus& focus) const;
    bool isColoured(const SceneItem& item) const
    {
        return m_now.scene->looks.isColoured && item.heat >= 0;
    }
    /// Of an item far away, without its details.
    QColor quadColour(const SceneItem& item) const;
    void paintTypes(QPainter& painter, const QRectF& area) const;
    void paintRamp(QPainter& painter, const QRectF& area) const;
    void paintQuads(QPainter& painter, const Camera& camera, QSizeF view,
                    const std::vector<uint32_t>& items) const;
    /// From the back to the front; edges go between frames and titles.
    enum class Layer
    {
        Frames,
        Titles,
        Cards
    };
    void paintItems(QPainter& painter, const std::vector<uint32_t>& items, double zoom,
                    const CanvasFocus& focus, Layer layer);
    void paintOne(QPainter& painter, const SceneItem& item, double zoom, CardLook look,
                  Layer layer);
    void paintEdges(QPainter& painter, const SceneIndex& index, const QRectF& area, double zoom,
                    const CanvasFocus& focus);
    void paintLabels(QPainter& painter, const Scene& scene, const std::vector<uint32_t>& edges,
                     const QRectF& seen);
    void paintRibbons(QPainter& painter, const QRectF& area) const;
    QColor frameFill(const SceneItem& item, CardLook look) const;
    void paintFrame(QPainter& painter, const SceneItem& item, CardLook look);
    void paintFrameTitle(QPainter& painter, const SceneItem& item, CardLook look);
    void paintCard(QPainter& painter, const SceneItem& item, double zoom, CardLook look);
    void paintHeat(QPainter& painter, const SceneItem& item) const;
    void paintCardText(QPainter& painter, const SceneItem& item, CardLook look);
    const QStaticText& text(QHash<QString, QStaticText>& cache, const QString& text,
                            const QFont& font, double width);

    Theme m_theme;
    SceneIndex m_now;
    Morph m_morph;
    QHash<QString, QStaticText> m_titles, m_details;
    QPixmap m_minimap;
};

} // namespace tenon::views
