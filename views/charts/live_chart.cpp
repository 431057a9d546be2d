// SPDX-License-Identifier: GPL-3.0-or-later
// The curve is a staircase: a call holds its bytes from its start to the next call's.
#include "views/charts/live_chart.h"

#include "views/charts/byte_ticker.h"
#include "views/models/format.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace tenon::views {

LiveChart::LiveChart(const ThemeSource& themes, QWidget* parent)
    : Chart(themes, parent)
    , m_graph(plot().addGraph())
    , m_arena(makeRule())
    , m_bound(makeRule())
    , m_cursor(new QCPItemLine(&plot()))
    , m_cursorHead(new QCPItemTracer(&plot()))
{
    m_graph->setLineStyle(QCPGraph::lsStepLeft);
    m_graph->setAdaptiveSampling(true);
    plot().xAxis->setTicker(QSharedPointer<CountTicker>::create());
    plot().xAxis->setLabel(tr("kernel call"));
    m_cursor->end->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_cursorHead->setStyle(QCPItemTracer::tsCircle);
    m_cursorHead->setSize(7);
    m_cursorHead->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    setAccessibleName(tr("Live bytes in program order"));
    applyTheme();
}

LiveChart::Rule LiveChart::makeRule()
{
    Rule rule{new QCPItemLine(&plot()), new QCPItemText(&plot())};
    for (QCPItemPosition* end : {rule.line->start, rule.line->end, rule.text->position})
        end->setTypeX(QCPItemPosition::ptAxisRectRatio);
    rule.text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    rule.text->setPadding(QMargins(0, 0, 4, 2));
    return rule;
}

void LiveChart::placeRule(const Rule& rule, double bytes, const QString& text)
{
    const bool isShown = !text.isEmpty();
    rule.line->setVisible(isShown);
    rule.text->setVisible(isShown);
    rule.line->start->setCoords(0, bytes);
    rule.line->end->setCoords(1, bytes);
    rule.text->position->setCoords(1, bytes);
    rule.text->setText(text);
}

void LiveChart::setCurve(const LiveCurve& curve, std::function<QString(int)> nameOf)
{
    m_curve = curve;
    m_nameOf = std::move(nameOf);
    QVector<double> calls, bytes;
    for (size_t i = 0; i < curve.bytes.size(); ++i) {
        calls.push_back(static_cast<double>(i));
        bytes.push_back(static_cast<double>(curve.bytes[i]));
    }
    calls.push_back(static_cast<double>(curve.bytes.size()));
    bytes.push_back(curve.bytes.empty() ? 0 : bytes.back());
    m_graph->setData(calls, bytes, true);
    setExtent(0, static_cast<double>(curve.bytes.size()));
    setByteAxis(static_cast<double>(curve.arenaBytes));
    constexpr int kNameWidth = 260; // in a narrow chart the bytes are worth more than a whole name
    const QString peak =
        curve.peakCall < 0 || !m_nameOf
            ? QString()
            : fontMetrics().elidedText(m_nameOf(curve.peakCall), Qt::ElideMiddle, kNameWidth);
    const QString bound =
        tr("%1 B at call %2, %3").arg(countText(curve.boundBytes)).arg(curve.peakCall).arg(peak);
    const bool isProven = curve.arenaBytes == curve.boundBytes;
    placeRule(m_arena, static_cast<double>(curve.arenaBytes),
              curve.peakCall < 0 ? QString()
              : isProven         ? tr("peak ") + bound
                                 : tr("arena %1 B").arg(countText(curve.arenaBytes)));
    placeRule(m_bound, static_cast<double>(curve.boundBytes),
              isProven || curve.peakCall < 0 ? QString() : tr("lower bound ") + bound);
    // Two lines close to each other would write over one another: the lower one writes below.
    m_bound.text->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
    m_bound.text->setPadding(QMargins(0, 2, 4, 0));
    describe();
    setCall(m_call);
}

std::vector<double> LiveChart::drawnBytes() const
{
    std::vector<double> drawn;
    for (int i = 0; i + 1 < m_graph->dataCount(); ++i) drawn.push_back(m_graph->dataMainValue(i));
    return drawn;
}

void LiveChart::setCall(int call)
{
    m_call = call;
    const bool isShown = call >= 0 && static_cast<size_t>(call) < m_curve.bytes.size();
    const double x = call + 0.5;
    m_cursor->setVisible(isShown);
    m_cursorHead->setVisible(isShown);
    m_cursor->start->setCoords(x, 0);
    m_cursor->end->setCoords(x, 0);
    m_cursorHead->position->setCoords(x, 0);
    describe();
    plot().replot(QCustomPlot::rpQueuedReplot);
}

void LiveChart::describe()
{
    const bool isShown = m_call >= 0 && static_cast<size_t>(m_call) < m_curve.bytes.size();
    setAccessibleDescription(tr("arena %1 bytes, lower bound %2 bytes, peak at call %3; %4")
                                 .arg(m_curve.arenaBytes)
                                 .arg(m_curve.boundBytes)
                                 .arg(m_curve.peakCall)
                                 .arg(isShown ? tr("at call %1: %2 bytes")
                                                    .arg(m_call)
                                                    .arg(m_curve.bytes[static_cast<size_t>(m_call)])
                                              : QString()));
}

void LiveChart::applyTheme()
{
    Chart::applyTheme();
    const Theme& t = theme();
    m_graph->setPen(QPen(t.accent, 1.6));
    m_graph->setBrush(t.accentTint);
    m_cursor->setPen(QPen(t.text, 1.2));
    m_cursorHead->setPen(QPen(t.text));
    m_cursorHead->setBrush(t.text);
    const std::pair<Rule*, QColor> rules[] = {{&m_arena, t.removed}, {&m_bound, t.added}};
    for (const auto& [rule, colour] : rules) {
        rule->line->setPen(QPen(colour, 1, Qt::DashLine));
        rule->text->setColor(colour);
        rule->text->setFont(t.secondaryFont);
    }
}

int LiveChart::callAt(QPointF pixel) const
{
    if (m_curve.bytes.empty()) return -1;
    return static_cast<int>(std::clamp(std::floor(valueAt(pixel).x()), 0.0,
                                       static_cast<double>(m_curve.bytes.size() - 1)));
}

void LiveChart::mousePressEvent(QMouseEvent* event)
{
    Chart::mousePressEvent(event);
    if (event->button() == Qt::LeftButton && !m_curve.bytes.empty())
        emit callRequested(callAt(event->position()));
}

void LiveChart::mouseMoveEvent(QMouseEvent* event)
{
    Chart::mouseMoveEvent(event);
    if ((event->buttons() & Qt::LeftButton) && !m_curve.bytes.empty())
        emit callRequested(callAt(event->position()));
}

void LiveChart::keyPressEvent(QKeyEvent* event)
{
    const int last = static_cast<int>(m_curve.bytes.size()) - 1;
    switch (event->key()) {
    case Qt::Key_Left: emit callRequested(std::max(0, m_call - 1)); break;
    case Qt::Key_Right: emit callRequested(std::min(last, m_call + 1)); break;
    case Qt::Key_Home: emit callRequested(0); break;
    case Qt::Key_End: emit callRequested(last); break;
    default: Chart::keyPressEvent(event);
    }
}

bool LiveChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_curve.bytes.empty()) return Chart::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int call = callAt(help->pos());
    QToolTip::showText(help->globalPos(),
                       tr("call %1, %2\n%3 B live, planned for this target")
                           .arg(call)
                           .arg(m_nameOf ? m_nameOf(call) : QString())
                           .arg(countText(m_curve.bytes[static_cast<size_t>(call)])),
                       this);
    return true;
}

} // namespace tenon::views
