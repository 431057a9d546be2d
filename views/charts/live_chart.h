// SPDX-License-Identifier: GPL-3.0-or-later
// LiveChart: live bytes over the program, with arena, lower bound, peak and the current call.
#pragma once

#include "views/charts/chart.h"
#include "views/models/memory_rows.h"

#include <functional>

class QCPGraph;
class QCPItemLine;
class QCPItemText;
class QCPItemTracer;

namespace tenon::views {

class LiveChart : public Chart
{
    Q_OBJECT
public:
    explicit LiveChart(const ThemeSource& themes, QWidget* parent = nullptr);

    /// `nameOf` gives the name of a call, for tooltips and the peak's text.
    void setCurve(const LiveCurve& curve, std::function<QString(int)> nameOf);
    void setCall(int call);
    /// The steps as they are drawn, one for each call.
    std::vector<double> drawnBytes() const;

signals:
    void callRequested(int call);

protected:
    void applyTheme() override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Rule
    {
        QCPItemLine* line = nullptr;
        QCPItemText* text = nullptr;
    };
    Rule makeRule();
    void placeRule(const Rule& rule, double bytes, const QString& text);
    int callAt(QPointF pixel) const;
    void describe();

    LiveCurve m_curve;
    std::function<QString(int)> m_nameOf;
    int m_call = -1;
    QCPGraph* m_graph;
    Rule m_arena, m_bound;
    QCPItemLine* m_cursor;
    QCPItemTracer* m_cursorHead;
};

} // namespace tenon::views
