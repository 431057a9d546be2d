// SPDX-License-Identifier: GPL-3.0-or-later
// ExecutorsPresenter: flash and RAM of the executors side by side, and whether they fit a board.
#pragma once

#include "views/models/footprint_rows.h"
#include "views/presenters/workspace_presenter.h"

#include <QObject>

#include <optional>

namespace tenon::views {

struct ExecutorsState
{
    bool hasFootprint = false;
    bool isWorking = false;
    bool isExact = false; ///< every executor is measured
    bool canMeasure = false;
    QString problem;
    QString how;     ///< "measured", "estimated (hatched)", "not counted"
    QString caption; ///< target, and how
    QString method;
    QString exclusions;
    int selected = 0;         ///< executor
    bool hasConstants = true; ///< shown with the other parts
    bool hasBudgets = false;
    QString budgetTitle; ///< empty: no board is chosen, and the target is that of none
    Fit flash, ram;      ///< of the selected executor against the budget
};

class ExecutorsPresenter : public QObject
{
    Q_OBJECT
public:
    explicit ExecutorsPresenter(WorkspacePresenter& workspace, QObject* parent = nullptr);

    void setDocument(DocumentPtr document);

    const ExecutorsState& state() const { return m_state; }
    const std::optional<Footprint>& footprint() const { return m_footprint; }
    /// What bars and table show: all of it, or what differs.
    std::optional<Footprint> shown() const;
    PartsModel& table() { return *m_table; }
    const std::vector<MemoryBudget>& budgets() const { return m_budgets; }
    /// The one that counts.
    std::optional<MemoryBudget> budget() const
    {
        return m_budget ? std::optional(m_budgets[*m_budget]) : std::nullopt;
    }

public slots:
    void select(int executor);
    /// By name; unknown names change nothing.
    void chooseBudget(QString name);
    /// The budget of the board in use comes first and counts; one without limits is none.
    void setBoardBudget(MemoryBudget budget);
    /// Links the images and measures them.
    void measure();
    void setConstantsShown(bool areShown);
    /// While the page is looked at, another target is compiled for.
    void setLookedAt(bool isLookedAt);

signals:
    void footprintChanged();
    void stateChanged();

private:
    using Count = std::function<core::Result<Footprint>(DocumentPtr, core::JobContext&)>;
    void estimate();
    void finish(const DocumentPtr& document, const Footprint& found, const core::Status& status);
    void take(std::optional<Footprint> footprint);
    void chooseForTarget();
    void refresh();
    void followTarget();

    WorkspacePresenter& m_workspace;
    std::vector<MemoryBudget> m_budgets;
    bool m_hasBoardBudget = false; ///< the first one is that of the board in use
    bool m_isChosen = false;       ///< by the user: another target changes nothing
    std::optional<size_t> m_budget;
    DocumentPtr m_document;
    std::optional<Footprint> m_footprint;
    ExecutorsState m_state;
    PartsModel* m_table;
    bool m_isLookedAt = false;
    QString m_triedTarget; ///< that the last compile of this page was for
};

} // namespace tenon::views
