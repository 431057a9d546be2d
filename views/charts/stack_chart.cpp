// SPDX-License-Identifier: GPL-3.0-or-later
// Bars and gauges carry their numbers beside them, so they need no axis.
#include "views/charts/stack_chart.h"

#include "views/models/format.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kLabelWidth = 92;
constexpr int kTotalWidth = 104;
constexpr int kRowHeight = 46;
constexpr int kBarHeight = 22;
constexpr int kLegendHeight = 24;

/// A solid colour for measured parts, the same colour hatched for estimated ones.
void fillPart(QPainter& painter, const QRectF& area, const QColor& colour, bool isExact)
{
    if (isExact) return painter.fillRect(area, colour);
    QColor ground = colour;
    ground.setAlphaF(0.22f);
    painter.fillRect(area, ground);
    painter.fillRect(area, QBrush(colour, Qt::BDiagPattern));
}

} // namespace

StackChart::StackChart(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void StackChart::setBars(std::vector<StackBar> bars)
{
    m_bars = std::move(bars);
    QStringList lines;
    for (const StackBar& bar : m_bars) lines << describe(bar);
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

void StackChart::setSelected(int bar)
{
    m_selected = bar;
    update();
}

QSize StackChart::sizeHint() const
{
    return {420, kRowHeight * std::max(1, static_cast<int>(m_bars.size())) + 2 * kLegendHeight};
}

QSize StackChart::minimumSizeHint() const
{
    return {kLabelWidth + kTotalWidth + 80, sizeHint().height()};
}

QRectF StackChart::rowRect(int bar) const
{
    return {0, static_cast<double>(bar * kRowHeight), static_cast<double>(width()), kRowHeight};
}

QRectF StackChart::barRect(int bar) const
{
    qint64 most = 1;
    for (const StackBar& each : m_bars) most = std::max(most, each.totalBytes);
    const double room = std::max(10, width() - kLabelWidth - kTotalWidth);
    const double share = static_cast<double>(m_bars[static_cast<size_t>(bar)].totalBytes) /
                         static_cast<double>(most);
    return {kLabelWidth, rowRect(bar).top() + (kRowHeight - kBarHeight) / 2.0, room * share,
            kBarHeight};
}

QRectF StackChart::pixelRect(int bar, int part) const
{
    const StackBar& shown = m_bars[static_cast<size_t>(bar)];
    const QRectF whole = barRect(bar);
    const double scale =
        shown.totalBytes > 0 ? whole.width() / static_cast<double>(shown.totalBytes) : 0;
    double left = whole.left();
    for (int i = 0; i < part; ++i)
        left += static_cast<double>(shown.parts[static_cast<size_t>(i)].bytes) * scale;
    return {left, whole.top(),
            static_cast<double>(shown.parts[static_cast<size_t>(part)].bytes) * scale,
            whole.height()};
}

int StackChart::barAt(QPointF pixel) const
{
    const int row = static_cast<int>(pixel.y()) / kRowHeight;
    return pixel.y() >= 0 && row < static_cast<int>(m_bars.size()) ? row : -1;
}

QString StackChart::describe(const StackBar& bar) const
{
    if (!bar.problem.isEmpty()) return bar.label + QStringLiteral(": ") + bar.problem;
    QStringList parts;
    for (const StackPart& part : bar.parts)
        parts << part.name + QLatin1Char(' ') + countText(part.bytes) + QStringLiteral(" B");
    return tr("%1, %2: %3 B (%4)")
        .arg(bar.label, bar.isExact ? tr("measured") : tr("estimated"), countText(bar.totalBytes),
             parts.join(QStringLiteral(", ")));
}

void StackChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    for (int i = 0; i < static_cast<int>(m_bars.size()); ++i) paintBar(painter, i);
    paintLegend(painter);
}

void StackChart::paintBar(QPainter& painter, int index) const
{
    const Theme& t = m_themes.theme();
    const StackBar& bar = m_bars[static_cast<size_t>(index)];
    const QRectF row = rowRect(index);
    if (index == m_selected) {
        painter.setPen(hasFocus() ? QPen(t.accentSoft) : QPen(Qt::NoPen));
        painter.setBrush(t.accentTint);
        painter.drawRoundedRect(row.adjusted(0.5, 3.5, -0.5, -3.5), 5, 5);
    }
    painter.setFont(t.bodyStrong);
    painter.setPen(index == m_selected ? t.accent : t.text);
    painter.drawText(row.adjusted(10, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, bar.label);
    const QRectF whole = barRect(index);
    if (!bar.problem.isEmpty()) {
        const QRectF place(kLabelWidth, row.top(), width() - kLabelWidth - 8, row.height());
        painter.setFont(t.secondaryFont); // two lines of it are as high as a row
        painter.setPen(t.secondary);
        painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap, bar.problem);
        return;
    }
    QPainterPath clip;
    clip.addRoundedRect(whole, 4, 4);
    painter.save();
    painter.setClipPath(clip);
    for (size_t p = 0; p < bar.parts.size(); ++p)
        fillPart(painter, pixelRect(index, static_cast<int>(p)),
                 t.families[static_cast<size_t>(bar.parts[p].colour)], bar.isExact);
    painter.restore();
    const QRectF total(width() - kTotalWidth, row.top(), kTotalWidth - 10, row.height());
    painter.setFont(t.bodyStrong);
    painter.setPen(t.text);
    painter.drawText(total, Qt::AlignRight | Qt::AlignVCenter,
                     (bar.isComplete ? QString() : QStringLiteral("≥ ")) +
                         byteText(bar.totalBytes));
}

void StackChart::paintLegend(QPainter& painter) const
{
    const Theme& t = m_themes.theme();
    QStringList seen;
    double x = 10;
    double y = kRowHeight * static_cast<double>(m_bars.size()) + 4;
    painter.setFont(t.secondaryFont);
    for (const StackBar& bar : m_bars)
        for (const StackPart& part : bar.parts) {
            if (seen.contains(part.name)) continue;
            seen << part.name;
            const int wide = QFontMetrics(t.secondaryFont).horizontalAdvance(part.name);
            if (x > 10 && x + 14 + wide > width()) { // the rest goes into a second line
                x = 10;
                y += kLegendHeight - 4;
            }
            painter.setPen(Qt::NoPen);
            painter.setBrush(t.families[static_cast<size_t>(part.colour)]);
            painter.drawRoundedRect(QRectF(x, y + 5, 9, 9), 2, 2);
            painter.setPen(t.secondary);
            painter.drawText(QRectF(x + 14, y, 200, 19), Qt::AlignLeft | Qt::AlignVCenter,
                             part.name);
            x += 14 + wide + 16;
        }
}

void StackChart::mousePressEvent(QMouseEvent* event)
{
    const int bar = event->button() == Qt::LeftButton ? barAt(event->position()) : -1;
    if (bar >= 0) emit barRequested(bar);
}

void StackChart::keyPressEvent(QKeyEvent* event)
{
    const int step = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
    if (step == 0 || m_bars.empty()) return QWidget::keyPressEvent(event);
    emit barRequested(std::clamp(m_selected + step, 0, static_cast<int>(m_bars.size()) - 1));
}

bool StackChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int bar = barAt(help->pos());
    if (bar >= 0)
        QToolTip::showText(help->globalPos(), describe(m_bars[static_cast<size_t>(bar)]), this);
    else
        QToolTip::hideText();
    return true;
}

FitGauge::FitGauge(const ThemeSource& themes, const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_name(name)
{
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void FitGauge::setFit(const Fit& fit)
{
    m_fit = fit;
    setAccessibleName(m_name + QStringLiteral(": ") + fit.text());
    setToolTip(fit.isExact ? tr("measured on the linked image") : tr("estimated: a lower limit"));
    update();
}

void FitGauge::paintEvent(QPaintEvent*)
{
    const Theme& t = m_themes.theme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    constexpr double kNameWidth = 48;
    painter.setFont(t.body);
    painter.setPen(t.secondary);
    painter.drawText(QRectF(0, 0, kNameWidth, 18), Qt::AlignLeft | Qt::AlignVCenter, m_name);
    const QRectF track(kNameWidth, 5, width() - kNameWidth - 1, 9);
    painter.setPen(t.line);
    painter.setBrush(t.field);
    painter.drawRoundedRect(track, 4.5, 4.5);
    const QColor colour = m_fit.fits() ? t.added : t.removed;
    if (m_fit.budgetBytes > 0 && m_fit.usedBytes > 0) {
        QRectF used = track;
        used.setWidth(std::max(6.0, track.width() * std::min(1.0, m_fit.share())));
        QPainterPath clip;
        clip.addRoundedRect(used, 4.5, 4.5);
        painter.setClipPath(clip);
        fillPart(painter, used, colour, m_fit.isExact);
        painter.setClipping(false);
    }
    painter.setFont(t.secondaryFont);
    painter.setPen(m_fit.fits() ? t.secondary : t.removed);
    painter.drawText(QRectF(kNameWidth, 17, width() - kNameWidth - 1, 18),
                     Qt::AlignRight | Qt::AlignVCenter, m_fit.text());
}

} // namespace tenon::views
