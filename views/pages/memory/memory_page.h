// SPDX-License-Identifier: GPL-3.0-or-later
// The Memory perspective: live curve, map of the arena, planners, what-ifs, and why a buffer lives.
#pragma once

#include "views/charts/live_chart.h"
#include "views/charts/placement_chart.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/table_twin.h"
#include "views/pages/common/until_compiled.h"
#include "views/pages/memory/alive_list.h"
#include "views/pages/memory/planner_list.h"
#include "views/presenters/memory_presenter.h"

#include <QLineEdit>
#include <QStackedWidget>

namespace tenon::views {

class MemoryPage : public QWidget
{
    Q_OBJECT
public:
    MemoryPage(const ThemeSource& themes, WorkspacePresenter& workspace, MemoryPresenter& presenter,
               QWidget* parent = nullptr);

    LiveChart& curve() { return *m_curve; }
    TableTwin& curveTwin() { return *m_curveTwin; }
    PlacementChart& map() { return *m_map; }
    PlannerList& planners() { return *m_planners; }
    DataTable& table() { return *m_table; }
    /// 0: the map, 1: its table twin.
    void showTab(int index) { m_mapTabs->setCurrentIndex(index); }

signals:
    /// Show the selected node on the graph.
    void graphRequested();

private:
    QWidget* buildCurve(const ThemeSource& themes);
    QWidget* buildMap(const ThemeSource& themes);
    QWidget* buildPlanners(const ThemeSource& themes);
    QWidget* buildWhatIfs(const ThemeSource& themes);
    QWidget* buildAlive(const ThemeSource& themes);
    void connectParts();
    core::NodeId nodeOfBuffer(int row) const;
    void showPlan();
    void refresh();
    void refreshSelection();

    WorkspacePresenter& m_workspace;
    MemoryPresenter& m_presenter;
    UntilCompiled* m_pages = nullptr;
    Panel* m_curvePanel = nullptr;
    Panel* m_mapPanel = nullptr;
    Panel* m_plannersPanel = nullptr;
    Panel* m_alivePanel = nullptr;
    LiveChart* m_curve = nullptr;
    TableTwin* m_curveTwin = nullptr;
    PlacementChart* m_map = nullptr;
    PillTabs* m_mapTabs = nullptr;
    QStackedWidget* m_mapStack = nullptr;
    DataTable* m_table = nullptr;
    PlannerList* m_planners = nullptr;
    PillTabs* m_alignments = nullptr;
    QLineEdit* m_pools = nullptr;
    ThemedLabel* m_problem = nullptr;
    PillButton* m_dropWhatIf = nullptr;
    PillButton* m_peak = nullptr;
    AliveList* m_alive = nullptr;
    ThemedLabel* m_whyTitle = nullptr;
    ThemedLabel* m_whyHint = nullptr;
    PillButton* m_showOnGraph = nullptr;
    DataTable* m_why = nullptr;
};

} // namespace tenon::views
