// SPDX-License-Identifier: GPL-3.0-or-later
// The Benchmark perspective: the measured total with its spread, and the time of every kernel call.
#pragma once

#include "views/models/run_rows.h"
#include "views/pages/common/inspector_panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/pages/common/table_twin.h"
#include "views/presenters/deploy_presenter.h"

namespace tenon::views {

/// Every run as a dot over its time, with median and confidence interval.
class RunChart : public QWidget
{
    Q_OBJECT
public:
    explicit RunChart(const ThemeSource& themes, QWidget* parent = nullptr);
    void setMeasurement(const std::optional<Measurement>& measurement);
    std::vector<double> runUs() const ///< of each dot
    {
        return m_measurement ? m_measurement->runUs : std::vector<double>();
    }
    QSize sizeHint() const override { return {400, 190}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const ThemeSource& m_themes;
    std::optional<Measurement> m_measurement;
};

class BenchmarkPage : public QWidget
{
    Q_OBJECT
public:
    BenchmarkPage(const ThemeSource& themes, DeployPresenter& deploy, const BoardsPresenter& boards,
                  WorkspacePresenter& workspace, InspectorPresenter& inspector);
    DataTable& table() { return *m_table; }
    PillTabs& threadTabs() { return *m_threads; }
    TableTwin& chartTwin() { return *m_chartTwin; }
    InspectorPanel& inspectorPanel() { return *m_inspector; }
    void showNode(core::NodeId node);

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void refreshNotice();
    void refreshChart();
    void refreshColumns();

    WorkspacePresenter& m_workspace;
    const DeployPresenter& m_deploy;
    const BoardsPresenter& m_boards;
    InspectorPanel* m_inspector;
    Panel* m_totalPanel;
    Panel* m_callsPanel;
    ThemedLabel* m_total;
    ThemedLabel* m_peer;
    ThemedLabel* m_detail;
    RunChart* m_chart;
    RunTable* m_runs;
    TableTwin* m_chartTwin;
    PillTabs* m_threads;
    DataTable* m_table;
    EmptyNotice* m_notice;
};

} // namespace tenon::views
