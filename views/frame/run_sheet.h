// SPDX-License-Identifier: GPL-3.0-or-later
// RunSheet: an earlier measurement of the model, and its kernel calls beside those of another one.
#pragma once

#include "views/frame/overlay.h"
#include "views/models/run_changes.h"
#include "views/pages/benchmark/benchmark_page.h"

namespace tenon::views {

class RunSheet : public Overlay
{
    Q_OBJECT
public:
    RunSheet(const ThemeSource& themes, DeployPresenter& deploy, QWidget* window);
    /// The run in that row of the history, beside the one before it.
    void openRun(int row);
    DataTable& runs() { return *m_runs; }
    DataTable& calls() { return *m_calls; }
    RunChart& chart() { return *m_chart; }

private:
    int usualOther() const;
    void compareWith(int row);
    void takeOther(int row);
    void refresh();

    DeployPresenter& m_deploy;
    HistoryRow m_now;
    HistoryRow m_before;
    ThemedLabel* m_text;
    RunChart* m_chart;
    RunTable* m_samples;
    TableTwin* m_chartTwin;
    DataTable* m_runs;
    ThemedLabel* m_reason;
    CallChangeModel* m_changes;
    DataTable* m_calls;
};

} // namespace tenon::views
