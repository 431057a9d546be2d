// SPDX-License-Identifier: GPL-3.0-or-later
// MemoryPresenter: the memory plan of the model, compiled or not: position, selected buffer,
// planners side by side, and what-ifs.
#pragma once

#include "views/models/memory_rows.h"
#include "views/presenters/workspace_presenter.h"

#include <QObject>

namespace tenon::views {

struct MemoryState
{
    bool hasPlan = false;
    bool isWhatIf = false; ///< shown is a plan that the compiled program does not have
    bool isPlanning = false;
    bool isCompiled = false; ///< else the plan is that of a program without code
    MemoryQuestion question; ///< what is asked for
    QString problem;         ///< why the last what-if has no plan
    QString curveCaption;
    QString mapCaption;
    QString plannersCaption;
    int call = 0;
    int callCount = 0;
    int selectedBuffer = -1;
    QString aliveTitle;
    QString aliveCaption;
    QString whyTitle; ///< empty: no buffer is selected
};

class MemoryPresenter : public QObject
{
    Q_OBJECT
public:
    explicit MemoryPresenter(WorkspacePresenter& workspace, QObject* parent = nullptr);

    /// Takes the workspace's document, which has changed.
    void setDocument(DocumentPtr document);
    /// Somebody looks: a model that is not compiled is planned without code.
    void lookAt();

    const MemoryState& state() const { return m_state; }
    /// The plan that is shown; valid while state().hasPlan.
    const MemoryPlan& plan() const;
    const LiveCurve& curve() const { return m_curve; }
    const std::vector<BufferRow>& placements() const { return m_buffers->rows(); }
    std::vector<PoolBand> bands() const;
    BufferModel& buffers() { return *m_buffers; }
    BufferModel& alive() { return *m_alive; }
    PlannerModel& planners() { return *m_planners; }
    MemoryFactModel& why() { return *m_why; }
    LiveModel& live() { return *m_live; } ///< the curve's twin
    QString callName(int call) const;

public slots:
    void showCall(int call);
    void showPeak() { showCall(m_curve.peakCall); }
    void stepCall(int by) { showCall(m_state.call + by); }
    void selectBuffer(int buffer);
    /// What the call that serves a node writes.
    void showNode(tenon::core::NodeId node);
    /// Compiles again with that planner.
    void choosePlanner(QString algorithm);
    void setAlignment(qint64 bytes);
    void setPools(QString pools);
    void dropWhatIf();

signals:
    void planChanged();  ///< curve, map, tables
    void stateChanged(); ///< position, selection, captions

private:
    bool isAskingOther() const;
    void ask();
    void takePlan();
    void lookAtPeak(); ///< first look at a program: the largest buffer where the most is
    void planOpened();
    void refresh();
    void refreshCaptions();
    void refreshAlive();
    MemoryFact fact(const QString& label, const QString& value, int call = -1) const;
    void explainLifetime(std::vector<MemoryFact>& facts) const;
    void explainPlace(std::vector<MemoryFact>& facts) const;

    WorkspacePresenter& m_workspace;
    DocumentPtr m_document;
    std::shared_ptr<const MemoryPlan> m_whatIf;
    MemoryState m_state;
    LiveCurve m_curve;
    BufferModel* m_buffers;
    BufferModel* m_alive;
    PlannerModel* m_planners;
    MemoryFactModel* m_why;
    LiveModel* m_live;
    bool m_isSelecting = false;
    bool m_isLookedAt = false;
};

} // namespace tenon::views
