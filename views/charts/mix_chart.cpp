// SPDX-License-Identifier: GPL-3.0-or-later
// A line of small rings for what is predicted, full dots for what was measured, a large ring for
// the choice.
#include "views/charts/mix_chart.h"

#include "views/models/format.h"
#include "views/models/round_steps.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kLeft = 64, kRight = 18, kTop = 26, kBottom = 40;
constexpr double kLine = 18;           ///< of text; where two would meet, there are fewer
constexpr int kLines = 5, kPlaces = 4; ///< ticks of the two axes, about
constexpr int kLeastHeight = 120;      ///< with three lines between the margins

} // namespace

MixChart::MixChart(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    setMinimumHeight(kLeastHeight);
    setAccessibleName(tr("Error against size or time"));
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void MixChart::setCurve(const MixCurve& curve)
{
    m_curve = curve;
    setAccessibleDescription(curve.chosen ? textOf(*curve.chosen) : curve.problem);
    update();
}

QRectF MixChart::area() const
{
    return {kLeft, kTop, std::max(1.0, width() - kLeft - kRight),
            std::max(1.0, height() - kTop - kBottom)};
}

/// With room at both sides: a model of one layer has a single x.
MixChart::Extent MixChart::extent() const
{
    Extent out{HUGE_VAL, -HUGE_VAL, 0};
    for (const auto* dots : {&m_curve.predicted, &m_curve.measured})
        for (const MixDot& dot : *dots) {
            out.least = std::min(out.least, dot.x);
            out.most = std::max(out.most, dot.x);
            out.loss = std::max(out.loss, dot.loss);
        }
    if (m_curve.chosen) out.loss = std::max(out.loss, m_curve.chosen->loss);
    const double room = std::max(out.most - out.least, out.most * 0.02) * 0.06;
    out.least = std::max(0.0, out.least - room);
    out.most += room;
    out.loss = out.loss > 0 ? out.loss * 1.08 : 1;
    return out;
}

QPointF MixChart::place(const MixDot& dot) const
{
    const Extent all = extent();
    const QRectF where = area();
    const double reach = std::max(all.most - all.least, 1e-12);
    return {where.left() + (dot.x - all.least) / reach * where.width(),
            where.bottom() - dot.loss / all.loss * where.height()};
}

QPointF MixChart::placeOf(size_t widerLayers) const
{
    for (const MixDot& dot : m_curve.predicted)
        if (dot.widerLayers == widerLayers) return place(dot);
    return {};
}

int MixChart::nearest(QPointF at) const
{
    int best = -1;
    double least = HUGE_VAL;
    for (size_t i = 0; i < m_curve.predicted.size(); ++i) {
        const QPointF away = place(m_curve.predicted[i]) - at;
        const double distance = away.x() * away.x() + away.y() * away.y();
        if (distance >= least) continue;
        least = distance;
        best = static_cast<int>(i);
    }
    return best;
}

QString MixChart::axisText(double value) const
{
    return m_curve.axis == MixAxis::Flash ? byteText(static_cast<qint64>(value))
                                          : mixTimeText(value, m_curve.timeUnit);
}

/// The title of the axis says what instructions are counted.
QString MixChart::tickText(double value) const
{
    return countsInstructions() ? shortCountText(value) : axisText(value);
}

bool MixChart::countsInstructions() const
{
    return m_curve.axis == MixAxis::Time && m_curve.timeUnit != QLatin1String("us");
}

QString MixChart::textOf(const MixDot& dot) const
{
    const QString layers =
        dot.widerLayers == 0
            ? tr("all layers that nobody asked for otherwise in int8")
            : tr("the %1 most harmful layers in %2").arg(dot.widerLayers).arg(m_curve.wider);
    return tr("%1: %2 at %3, %4")
        .arg(layers, lossText(dot.loss), axisText(dot.x),
             dot.isMeasured ? tr("measured") : tr("predicted"));
}

void MixChart::paintGrid(QPainter& painter) const
{
    const Theme& t = m_themes.theme();
    const QRectF where = area();
    const Extent all = extent();
    const int lines = std::clamp(static_cast<int>(where.height() / kLine) - 1, 1, kLines);
    for (const double loss : roundTicks(0, all.loss, lines, StepKind::Decimal)) {
        const double y = where.bottom() - loss / all.loss * where.height();
        painter.setPen(t.line);
        painter.drawLine(QPointF(where.left(), y), QPointF(where.right(), y));
        painter.setPen(t.secondary);
        painter.drawText(QRectF(0, y - 9, where.left() - 8, 18), Qt::AlignRight | Qt::AlignVCenter,
                         plainPercentText(loss));
    }
    const bool isOfBytes = m_curve.axis == MixAxis::Flash;
    constexpr double kWide = 90; // of a text; where two would meet, there are fewer
    const int places = std::clamp(static_cast<int>(where.width() / kWide), 1, kPlaces);
    for (const double value : roundTicks(all.least, all.most, places,
                                         isOfBytes ? StepKind::Binary : StepKind::Decimal)) {
        const double x =
            where.left() + (value - all.least) / (all.most - all.least) * where.width();
        painter.setPen(t.line);
        painter.drawLine(QPointF(x, where.bottom()), QPointF(x, where.bottom() + 3));
        painter.setPen(t.secondary);
        painter.drawText(QRectF(x - kWide / 2, where.bottom() + 4, kWide, 16), Qt::AlignHCenter,
                         tickText(value));
    }
    painter.setPen(t.faint);
    painter.drawText(QRectF(where.left(), where.bottom() + 20, where.width(), 18), Qt::AlignHCenter,
                     m_curve.axis == MixAxis::Flash ? tr("flash of the compiled model")
                     : countsInstructions()         ? tr("instructions of a run")
                                                    : tr("time of a run"));
}

void MixChart::paintDots(QPainter& painter) const
{
    const Theme& t = m_themes.theme();
    QPolygonF line;
    for (const MixDot& dot : m_curve.predicted) line << place(dot);
    painter.setPen(QPen(t.accent, 1.4, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
    painter.setPen(QPen(t.accent, 1.2));
    painter.setBrush(t.panel);
    constexpr double kRing = 2.6, kDot = 4, kChoice = 8;
    for (const QPointF& at : line) painter.drawEllipse(at, kRing, kRing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.accent);
    for (const MixDot& dot : m_curve.measured) painter.drawEllipse(place(dot), kDot, kDot);
    if (!m_curve.chosen) return;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(t.changed, 2.4));
    painter.drawEllipse(place(*m_curve.chosen), kChoice, kChoice);
}

void MixChart::paintLegend(QPainter& painter) const
{
    const Theme& t = m_themes.theme();
    const QFontMetrics metrics(t.secondaryFont);
    double x = kLeft;
    const auto entry = [&](const QString& text, const QPen& pen, const QBrush& brush, double size) {
        painter.setPen(pen);
        painter.setBrush(brush);
        painter.drawEllipse(QPointF(x + 6, 11), size, size);
        painter.setPen(t.secondary);
        painter.drawText(QRectF(x + 17, 2, width(), 18), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += 17 + metrics.horizontalAdvance(text) + 16;
    };
    entry(tr("predicted"), QPen(t.accent, 1.2), t.panel, 3);
    if (!m_curve.measured.empty()) entry(tr("measured"), Qt::NoPen, t.accent, 4);
    entry(tr("your choice"), QPen(t.changed, 2.2), Qt::NoBrush, 5);
}

void MixChart::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(t.secondaryFont);
    if (m_curve.isEmpty()) {
        painter.setPen(t.faint);
        painter.drawText(rect(), Qt::AlignCenter, m_curve.problem);
        return;
    }
    paintGrid(painter);
    paintDots(painter);
    paintLegend(painter);
    if (!hasFocus()) return;
    painter.setPen(QPen(t.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
}

void MixChart::mousePressEvent(QMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason);
    const int dot = event->button() == Qt::LeftButton ? nearest(event->position()) : -1;
    if (dot >= 0)
        emit widerChosen(static_cast<int>(m_curve.predicted[static_cast<size_t>(dot)].widerLayers));
}

void MixChart::keyPressEvent(QKeyEvent* event)
{
    const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (step == 0 || !m_curve.chosen) return QWidget::keyPressEvent(event);
    const int last = static_cast<int>(m_curve.predicted.size()) - 1;
    emit widerChosen(std::clamp(static_cast<int>(m_curve.chosen->widerLayers) + step, 0, last));
}

bool MixChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_curve.isEmpty()) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    constexpr double kNear = 12;
    QString text;
    for (const auto* dots : {&m_curve.predicted, &m_curve.measured})
        for (const MixDot& dot : *dots) {
            const QPointF away = place(dot) - QPointF(help->pos());
            if (std::hypot(away.x(), away.y()) < kNear) text = textOf(dot);
        }
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

} // namespace tenon::views
