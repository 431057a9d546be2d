// SPDX-License-Identifier: GPL-3.0-or-later
// Events of the canvas; painting is in scene_painter.cpp, walking in canvas_walk.cpp.
#include "views/canvas/graph_canvas.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <cmath>
#include <utility>

namespace tenon::views {

namespace {

constexpr int kMinimapWidth = 104;
constexpr int kMinimapHeight = 118;
constexpr int kMinimapInset = 12;
constexpr int kMotionMs = 300;
constexpr double kWheelStep = 1.0 / 480;
constexpr double kColumnTitles = 34; ///< what they take at the upper edge

} // namespace

GraphCanvas::GraphCanvas(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_painter(theme)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(240, 180);
    setAccessibleName(tr("Graph"));
    m_motion.setDuration(kMotionMs);
    m_motion.setStartValue(0.0);
    m_motion.setEndValue(1.0);
    m_motion.setEasingCurve(QEasingCurve::InOutCubic);
    connect(&m_motion, &QVariantAnimation::valueChanged, this, [this](const QVariant& time) {
        m_painter.setMorphTime(time.toDouble());
        update();
    });
}

void GraphCanvas::setTheme(const Theme& theme)
{
    m_theme = theme;
    m_painter.setTheme(theme);
    update();
}

void GraphCanvas::setEmptyText(const QString& title, const QString& text)
{
    m_emptyTitle = title;
    m_emptyText = text;
    update();
}

void GraphCanvas::setNote(const QString& note)
{
    if (note == m_note) return;
    m_note = note;
    setAccessibleDescription(note);
    update();
}

bool GraphCanvas::canMove(const Scene& from, const Scene& to) const
{
    return !m_isReducedMotion && isVisible() && !isMorphing() && !from.items.empty() &&
           !to.items.empty() && from.columns.size() == to.columns.size() &&
           kCardHeight * m_camera.zoom >= ScenePainter::kQuadHeight;
}

void GraphCanvas::setScene(ScenePtr scene)
{
    const bool wasSplit = !m_painter.scene().columns.empty();
    if (canMove(m_painter.scene(), *scene)) {
        m_painter.morphTo(std::move(scene), m_camera.visible(size()));
        m_motion.start();
    } else {
        m_motion.stop();
        m_painter.setScene(std::move(scene));
    }
    m_focus.hovered = -1;
    m_focus.selected = m_painter.scene().itemAt(m_selectedPlace);
    if (!m_hasLooked && !m_painter.scene().items.empty()) lookAtStart();
    followColumns(wasSplit);
    if (std::exchange(m_shouldFit, false)) fitWhole();
    update();
}

void GraphCanvas::play(ScenePtr before)
{
    const ScenePtr now = m_painter.sharedScene();
    m_motion.stop();
    if (!canMove(*before, *now)) return;
    m_painter.setScene(std::move(before));
    setScene(now);
}

void GraphCanvas::hold(ScenePtr before, double time)
{
    m_motion.stop();
    const ScenePtr now = m_painter.sharedScene();
    const bool canHold = time < 1 && !before->items.empty() && !now->items.empty() &&
                         before->columns.size() == now->columns.size();
    m_painter.setScene(canHold ? std::move(before) : now);
    if (canHold) {
        m_painter.morphTo(now, m_camera.visible(size()));
        m_painter.setMorphTime(time);
    }
    update();
}

void GraphCanvas::lookAtStart()
{
    const QRectF bounds = m_painter.scene().visible;
    if (bounds.isEmpty() || width() < 50) return;
    m_hasLooked = testAttribute(Qt::WA_WState_Created); // before, the size is no real one
    m_isPlaced = true;
    m_isGiven = false;
    m_camera.fit(bounds, size(), 1.0);
    constexpr double kReadable = 0.8;
    constexpr double kMargin = 28;
    if (m_camera.zoom < kReadable) {
        m_camera.zoom = kReadable;
        QRectF first, changed; // the topmost cards: closed groups come before them in the list
        for (const SceneItem& item : m_painter.scene().items) {
            if (item.isFrame && !item.isCollapsed) continue;
            if (first.isEmpty() || item.rect.top() < first.top()) first = item.rect;
            if (item.state == DiffState::Plain || item.state == DiffState::Unchanged) continue;
            if (changed.isEmpty() || item.rect.top() < changed.top()) changed = item.rect;
        }
        if (first.isEmpty()) first = bounds;
        m_camera.centre = {first.center().x(),
                           first.top() + (height() / 2.0 - kMargin) / m_camera.zoom};
        // What a pass did is what one looks for.
        if (!changed.isEmpty() && !m_camera.visible(size()).contains(changed))
            m_camera.centre = changed.center();
    }
    if (!m_painter.scene().columns.empty()) {
        m_zoomBeforeSplit = m_camera.zoom;
        m_camera.centre.ry() -= kColumnTitles / m_camera.zoom;
        fitColumns();
    }
    update();
}

void GraphCanvas::setCamera(const Camera& camera)
{
    m_camera = camera;
    m_hasLooked = m_isPlaced = m_isGiven = true;
    m_isSplitFitted = false;
    update();
}

void GraphCanvas::selectPlace(PlaceId place)
{
    m_selectedPlace = m_focus.place = place;
    m_focus.selected = m_painter.scene().itemAt(place);
    update();
}

void GraphCanvas::reveal(PlaceId place)
{
    const int item = m_painter.scene().itemAt(place);
    if (item >= 0) revealRect(m_painter.scene().items[static_cast<size_t>(item)].rect);
}

void GraphCanvas::revealRect(const QRectF& rect)
{
    if (m_camera.zoom < 0.6) m_camera.zoom = 0.8;
    const QRectF seen = m_camera.visible(size()).adjusted(24, 40, -24, -40);
    if (seen.contains(rect)) return update();
    m_isPlaced = false;
    if (!seen.intersects(rect) || rect.height() > seen.height()) {
        m_camera.centre = {rect.center().x(), rect.height() > seen.height()
                                                  ? rect.top() + seen.height() / 2 - 10
                                                  : rect.center().y()};
    } else {
        if (rect.left() < seen.left()) m_camera.centre.rx() -= seen.left() - rect.left();
        if (rect.right() > seen.right()) m_camera.centre.rx() += rect.right() - seen.right();
        if (rect.top() < seen.top()) m_camera.centre.ry() -= seen.top() - rect.top();
        if (rect.bottom() > seen.bottom()) m_camera.centre.ry() += rect.bottom() - seen.bottom();
    }
    update();
}

QRectF GraphCanvas::pixelRect(int item) const
{
    const QRectF rect = m_painter.scene().items[static_cast<size_t>(item)].rect;
    return {m_camera.toPixel(rect.topLeft(), size()), rect.size() * m_camera.zoom};
}

std::vector<uint32_t> GraphCanvas::visibleItems() const
{
    return m_painter.visibleItems(m_camera.visible(size()));
}

QRectF GraphCanvas::minimapRect() const
{
    const QSizeF bounds = m_painter.scene().bounds.size();
    const bool isSplit = !m_painter.scene().columns.empty(); // it would cover the right one
    if (bounds.isEmpty() || isSplit || width() < 420 || height() < 300) return {};
    if (m_camera.visible(size()).contains(m_painter.scene().visible)) return {};
    return {width() - kMinimapWidth - kMinimapInset * 1.0,
            height() - kMinimapHeight - kMinimapInset * 1.0, kMinimapWidth, kMinimapHeight};
}

void GraphCanvas::moveTo(QPointF pixel)
{
    m_isPlaced = false;
    const QRectF inner = minimapRect().adjusted(8, 8, -8, -8);
    const QRectF bounds = m_painter.scene().bounds;
    const double scale = std::min(inner.width() / bounds.width(), inner.height() / bounds.height());
    m_camera.centre = bounds.center() + (pixel - inner.center()) / scale;
    update();
}

void GraphCanvas::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_theme.canvas);
    if (m_painter.scene().items.empty()) {
        painter.setFont(m_theme.bodyStrong);
        painter.setPen(m_theme.text);
        painter.drawText(rect().adjusted(40, 0, -40, -22), Qt::AlignCenter, m_emptyTitle);
        painter.setFont(m_theme.body);
        painter.setPen(m_theme.secondary);
        painter.drawText(rect().adjusted(40, 22, -40, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         m_emptyText);
        return;
    }
    m_painter.paint(painter, m_camera, size(), m_focus);
    m_painter.paintColumns(painter, m_camera, size());
    const QRectF map = minimapRect();
    if (!map.isEmpty()) m_painter.paintMinimap(painter, map, m_camera, size());
    m_painter.paintLegend(painter, m_note, size());
    m_painter.paintNote(painter, m_note, size());
    if (hasFocus() && m_focus.hasKeyboard && m_focus.selected < 0) {
        painter.setPen(QPen(m_theme.accentSoft, 1));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
}

void GraphCanvas::resizeEvent(QResizeEvent* event)
{
    if (!m_hasLooked) {
        lookAtStart();
        reveal(m_selectedPlace);
    }
    // The scene point at the top left stays, so that a wider window shows more, not elsewhere;
    // what nobody moved yet stays in the middle, and what was given before there was a size, there.
    else if (event->oldSize().isValid() && event->oldSize().width() > 0) {
        const QSizeF grown = event->size() - event->oldSize();
        const bool isKept = m_isGiven && m_isPlaced && !isVisible();
        m_camera.centre += QPointF(m_isPlaced ? 0 : grown.width(), isKept ? 0 : grown.height()) /
                           2 / m_camera.zoom;
    }
    if (m_isSplitFitted) fitColumns();
}

void GraphCanvas::wheelEvent(QWheelEvent* event)
{
    const QPoint pixels = event->pixelDelta().isNull() ? event->angleDelta() : event->pixelDelta();
    if (event->modifiers() & Qt::ControlModifier) {
        m_camera.zoomAt(event->position(), std::exp2(pixels.y() * kWheelStep), size());
    } else {
        QPointF by(pixels);
        if (event->modifiers() & Qt::ShiftModifier) by = {by.y(), by.x()};
        m_camera.centre -= by / m_camera.zoom;
    }
    m_hasLooked = true;
    if (event->modifiers()) m_isSplitFitted = m_isPlaced = false; // sideways or nearer: as wanted
    event->accept();
    update();
}

void GraphCanvas::mousePressEvent(QMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason);
    m_dragStart = event->position();
    m_dragCentre = m_camera.centre;
    if (event->button() == Qt::LeftButton && minimapRect().contains(event->position())) {
        m_isMovingMinimap = true;
        moveTo(event->position());
    }
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event)
{
    if (m_isMovingMinimap) return moveTo(event->position());
    if (event->buttons() & (Qt::MiddleButton | Qt::LeftButton)) {
        const QPointF moved = event->position() - m_dragStart;
        if (!m_isDragging && moved.manhattanLength() < 5) return;
        m_isDragging = true;
        setCursor(Qt::ClosedHandCursor);
        m_camera.centre = m_dragCentre - moved / m_camera.zoom;
        m_hasLooked = true;
        m_isSplitFitted = m_isPlaced = false;
        return update();
    }
    const int hovered = m_painter.itemAt(m_camera.toScene(event->position(), size()));
    if (hovered == m_focus.hovered) return;
    m_focus.hovered = hovered;
    update();
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    const bool wasClick = !m_isDragging && !m_isMovingMinimap && event->button() == Qt::LeftButton;
    m_isDragging = m_isMovingMinimap = false;
    unsetCursor();
    if (wasClick) selectItem(m_painter.itemAt(m_camera.toScene(event->position(), size())), false);
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    const int item = m_painter.itemAt(m_camera.toScene(event->position(), size()));
    if (item < 0) return;
    const SceneItem& found = m_painter.scene().items[static_cast<size_t>(item)];
    if (found.isScope)
        toggleScope(item, std::nullopt);
    else
        emit placeOpened(found.place);
}

void GraphCanvas::focusInEvent(QFocusEvent* event)
{
    m_focus.hasKeyboard =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    QWidget::focusInEvent(event);
    update();
}

void GraphCanvas::leaveEvent(QEvent*)
{
    m_focus.hovered = -1;
    update();
}

bool GraphCanvas::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int item = m_painter.itemAt(m_camera.toScene(help->pos(), size()));
    if (item < 0) {
        QToolTip::hideText();
        return true;
    }
    const SceneItem& found = m_painter.scene().items[static_cast<size_t>(item)];
    QString text = QStringLiteral("<b>%1</b>").arg(found.title.toHtmlEscaped());
    if (!found.detail.isEmpty()) text += QStringLiteral("<br>") + found.detail.toHtmlEscaped();
    if (!found.isScope) text += QStringLiteral("<br>") + familyText(found.family);
    if (!found.note.isEmpty() && !found.isScope)
        text += QStringLiteral("<br>rule: ") + found.note.toHtmlEscaped();
    if (!found.figure.isEmpty()) text += QStringLiteral("<br>") + found.figure.toHtmlEscaped();
    if (!found.figureNote.isEmpty())
        text += QStringLiteral("<br>") + found.figureNote.toHtmlEscaped();
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

void GraphCanvas::selectAt(QPointF pixel)
{
    const int item = m_painter.itemAt(m_camera.toScene(pixel, size()));
    if (item >= 0) selectItem(item, false);
}

void GraphCanvas::selectItem(int item, bool isRevealed)
{
    m_focus.selected = item;
    m_selectedPlace =
        item < 0 ? kNoPlace : m_painter.scene().items[static_cast<size_t>(item)].place;
    m_focus.place = m_selectedPlace;
    if (isRevealed && item >= 0)
        revealRect(m_painter.scene().items[static_cast<size_t>(item)].rect);
    update();
    emit placeSelected(m_selectedPlace);
}

} // namespace tenon::views
