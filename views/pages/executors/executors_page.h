// SPDX-License-Identifier: GPL-3.0-or-later
// The Executors perspective: flash and RAM per executor as bars and table, and the fit on a board.
#pragma once

#include "views/charts/stack_chart.h"
#include "views/pages/common/data_table.h"
#include "views/pages/common/panel.h"
#include "views/pages/common/pill_tabs.h"
#include "views/pages/common/until_compiled.h"
#include "views/presenters/fit_presenter.h"

#include <QStackedWidget>

namespace tenon::views {

class ExecutorsPage : public QWidget
{
    Q_OBJECT
public:
    ExecutorsPage(const ThemeSource& themes, WorkspacePresenter& workspace,
                  ExecutorsPresenter& presenter, QWidget* parent = nullptr);
    FitPresenter& fit() { return m_fit; }
    DataTable& reasons() { return *m_reasons; }

    StackChart& flash() { return *m_flash; }
    StackChart& ram() { return *m_ram; }
    DataTable& table() { return *m_table; }
    FitGauge& flashGauge() { return *m_flashFit; }

private:
    QWidget* buildBars(const ThemeSource& themes);
    QWidget* buildTable(const ThemeSource& themes);
    QWidget* buildFit(const ThemeSource& themes);
    QWidget* buildReasons(const ThemeSource& themes);
    void showReasons();
    void connectParts();
    void chooseBudget();
    void showFootprint();
    void fitColumns();
    void refresh();
    void showPlanned(const QString& executor);

    WorkspacePresenter& m_workspace;
    ExecutorsPresenter& m_presenter;
    FitPresenter m_fit;
    UntilCompiled* m_pages = nullptr;
    Panel* m_flashPanel = nullptr;
    Panel* m_ramPanel = nullptr;
    Panel* m_tablePanel = nullptr;
    Panel* m_fitPanel = nullptr;
    StackChart* m_flash = nullptr;
    StackChart* m_ram = nullptr;
    DataTable* m_table = nullptr;
    Panel* m_reasonsPanel = nullptr;
    DataTable* m_reasons = nullptr;
    PillButton* m_constants = nullptr;
    PillButton* m_measure = nullptr;
    PillButton* m_board = nullptr;
    FitGauge* m_ramFit = nullptr;
    FitGauge* m_flashFit = nullptr;
    ThemedLabel* m_verdict = nullptr;
    ThemedLabel* m_method = nullptr;
    ThemedLabel* m_exclusions = nullptr;
    ThemedLabel* m_problem = nullptr;
};

} // namespace tenon::views
