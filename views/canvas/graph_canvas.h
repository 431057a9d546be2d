// SPDX-License-Identifier: GPL-3.0-or-later
// GraphCanvas: one widget that shows a scene; pan, zoom, selection, keyboard walking, minimap.
#pragma once

#include "views/canvas/scene_painter.h"

#include <QVariantAnimation>
#include <QWidget>

#include <algorithm>
#include <optional>

namespace tenon::views {

class GraphCanvas : public QWidget
{
    Q_OBJECT
public:
    explicit GraphCanvas(const Theme& theme, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    /// Shows `scene`; the camera and the selected place stay. The old one morphs into it unless
    /// motion is reduced or the last morph is still running: who steps fast wants the end only.
    void setScene(ScenePtr scene);
    /// Shows the way from `before` to the shown scene once more.
    void play(ScenePtr before);
    /// The same way, held at a time from 0, before, to 1, the shown scene.
    void hold(ScenePtr before, double time);
    bool isMorphing() const { return m_motion.state() == QAbstractAnimation::Running; }
    void setReducedMotion(bool isReduced) { m_isReducedMotion = isReduced; }
    bool isReducedMotion() const { return m_isReducedMotion; }
    const Scene& scene() const { return m_painter.scene(); }
    ScenePtr sharedScene() const { return m_painter.sharedScene(); }
    const Theme& theme() const { return m_theme; }
    void setEmptyText(const QString& title, const QString& text);
    /// A warning about everything shown, at the lower left; empty: none.
    void setNote(const QString& note);
    const QString& note() const { return m_note; }

    void selectPlace(PlaceId place);
    PlaceId selectedPlace() const { return m_selectedPlace; }
    int selectedItem() const { return m_focus.selected; }
    /// All of the graph as far as cards can be read, then however small.
    void fit();
    /// All of it, however small.
    void fitWhole();
    /// As above, once the next scene is there.
    void fitNextScene() { m_shouldFit = true; }
    /// Width by height of what is seen.
    double aspect() const { return static_cast<double>(width()) / std::max(1, height()); }
    void zoomToSelection();
    void toggleSelectedScope();
    void openSelectedScope() { toggleScope(m_focus.selected, false); }
    void closeSelectedScope() { toggleScope(m_focus.selected, true); }
    /// The next or previous card in program order.
    void walkOrder(int step);
    /// Moves as little as needed to see the place.
    void reveal(PlaceId place);
    /// First look at a new model: readable cards, beginning of the graph.
    void lookAtStart();
    /// Another model comes: its first scene is looked at from its beginning.
    void forgetCamera() { m_hasLooked = false; }
    const Camera& camera() const { return m_camera; }
    void setCamera(const Camera& camera);
    QRectF pixelRect(int item) const;
    /// Selects the item at a pixel; one beside all of them leaves the selection as it is.
    void selectAt(QPointF pixel);
    std::vector<uint32_t> visibleItems() const;

signals:
    void placeSelected(int place);
    void placeOpened(int place);
    void scopeToggled(QString path);

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

private:
    QRectF minimapRect() const;
    void moveTo(QPointF minimapPixel);
    void selectItem(int item, bool reveal);
    void toggleScope(int item, std::optional<bool> collapse);
    /// The next item along an edge (Up, Down) or beside (Left, Right); -1 when there is none.
    int neighbour(int item, int key) const;
    int cardAfter(int item, int step) const;
    void revealRect(const QRectF& rect);
    bool canMove(const Scene& from, const Scene& to) const;
    Camera readableFit(QPointF look) const;
    void followColumns(bool wasSplit);
    void fitColumns();
    QRectF shownProgram() const;
    QRectF shownBand() const;

    Theme m_theme;
    ScenePainter m_painter;
    Camera m_camera;
    CanvasFocus m_focus;
    PlaceId m_selectedPlace = kNoPlace;
    QString m_emptyTitle, m_emptyText, m_note;
    QPointF m_dragStart;
    QPointF m_dragCentre;
    bool m_isDragging = false;
    bool m_isMovingMinimap = false;
    bool m_isReducedMotion = false;
    bool m_hasLooked = false;
    bool m_isPlaced = false; ///< the camera, and not moved by hand since: stays in the middle
    bool m_isGiven = false;  ///< by setCamera()
    bool m_shouldFit = false;
    double m_zoomBeforeSplit = 0;
    bool m_isSplitFitted = false; ///< and not moved by hand since: follows the pane's width
    QVariantAnimation m_motion;
};

} // namespace tenon::views
