// SPDX-License-Identifier: GPL-3.0-or-later
// GraphCanvas: one widget that shows a scene; pan, zoom, selection, keyboard walking, minimap.
#pragma once

#include "views/canvas/scene_painter.h"

#include <QVariantAnimation>
#include <QWidget>

#include <optional>

namespace tenon::views {

class GraphCanvas : public QWidget
{
    Q_OBJECT
public:
    explicit GraphCanvas(const Theme& theme, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    /// Shows `scene`; the camera and the selected place stay. Fades from the old picture unless
    /// motion is reduced.
    void setScene(ScenePtr scene);
    void setReducedMotion(bool isReduced) { m_isReducedMotion = isReduced; }
    const Scene& scene() const { return m_painter.scene(); }
    void setEmptyText(const QString& title, const QString& text);

    void selectPlace(PlaceId place);
    PlaceId selectedPlace() const { return m_selectedPlace; }
    int selectedItem() const { return m_focus.selected; }
    void fit();
    void zoomToSelection();
    /// Moves as little as needed to see the place.
    void reveal(PlaceId place);
    /// First look at a new model: readable cards, beginning of the graph.
    void lookAtStart();
    const Camera& camera() const { return m_camera; }
    void setCamera(const Camera& camera);
    QRectF pixelRect(int item) const;
    std::vector<uint32_t> visibleItems() const;

signals:
    void placeSelected(int place);
    void placeOpened(int place);
    void scopeToggled(const QString& path);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;
    bool focusNextPrevChild(bool next) override;

private:
    QRectF minimapRect() const;
    void moveTo(QPointF minimapPixel);
    void selectItem(int item, bool reveal);
    void toggleScope(int item, std::optional<bool> collapse);
    /// The next item along an edge (Up, Down) or beside (Left, Right); -1 when there is none.
    int neighbour(int item, int key) const;
    int cardAfter(int item, int step) const;
    void revealRect(const QRectF& rect);

    Theme m_theme;
    ScenePainter m_painter;
    Camera m_camera;
    CanvasFocus m_focus;
    PlaceId m_selectedPlace = kNoPlace;
    QString m_emptyTitle, m_emptyText;
    QPointF m_dragStart;
    QPointF m_dragCentre;
    bool m_isDragging = false;
    bool m_isMovingMinimap = false;
    bool m_isReducedMotion = false;
    bool m_hasLooked = false;
    bool m_isFitPending = false;
    QPixmap m_oldPicture;
    QVariantAnimation m_fade;
};

} // namespace tenon::views
