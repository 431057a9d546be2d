// SPDX-License-Identifier: GPL-3.0-or-later
// PassesPresenter: stepping through the passes: current version, diff, lineage, deltas, heat strip.
#pragma once

#include "views/models/pass_model.h"
#include "views/models/tables.h"
#include "views/presenters/job_presenter.h"
#include "views/presenters/selection.h"
#include "views/presenters/step_views.h"
#include "views/scene/lineage.h"
#include "views/scene/stage.h"

#include <QObject>

namespace tenon::views {

/// One part of the program order in the heat strip.
struct HeatCell
{
    double heat = 0; ///< 0: nothing changed here, 1: the most
    bool isSelected = false;
    PlaceId firstChanged = kNoPlace;
};
constexpr int kHeatCells = 60;

struct PassesState
{
    int version = 0; ///< 0: as imported
    int versionCount = 1;
    QString title;        ///< pass name
    QString countText;    ///< "22, 11 with changes"
    QString modeText;     ///< "union diff"
    QString comparison;   ///< "FuseOps", or "Imported → FuseOps" with a pin
    QString pinText;      ///< pass that is pinned; empty: none
    int pinned = -1;      ///< version to compare with; -1: the one before
    QString positionText; ///< "FuseOps 14 of 22"
    DiffMode mode = DiffMode::Union;
    PlaceId selected = kNoPlace;
    bool isReady = false; ///< positions are known
};

class PassesPresenter : public QObject
{
    Q_OBJECT
public:
    PassesPresenter(JobPresenter& jobs, Selection& selection, QObject* parent = nullptr);

    void setDocument(DocumentPtr document, bool isSameModel);

    const PassesState& state() const { return m_state; }
    const DocumentPtr& document() const { return m_document; }
    ScenePtr scene() const { return m_scene; }
    CardLooks looks() const { return m_looks; }
    bool isWrapped() const { return m_wrapAspect > 0; }
    /// No positions are on their way.
    bool isArranged() const { return m_state.isReady && m_layouts == 0; }
    bool canToggleFigure() const { return m_document && canChooseFigure(*m_document); }
    /// The version before the shown one, to play the pass from.
    ScenePtr sceneBefore() const;
    PassModel& passes() { return *m_passes; }
    DeltaModel& deltas() { return *m_deltas; }
    const Lineage& lineage() const { return m_lineage; }
    const std::vector<HeatCell>& heat() const { return m_heat; }
    /// Steps are computed ahead for who looks at them only.
    void setLookedAt(bool isLookedAt);
    std::shared_ptr<const Storyboard> board() const { return m_board; }
    std::vector<QString> passNames() const;
    /// The version of the last pass with this name (case ignored), or -1.
    int versionOf(const QString& passName) const;
    /// First node with this name, title or source name in the shown version; invalid when none.
    core::NodeId findNode(const QString& text) const;

public slots:
    void showVersion(int version);
    void step(int by);         ///< any pass
    void stepChanged(int by);  ///< passes that changed something
    void stepTouching(int by); ///< passes that touched the selection
    void cycleMode();          ///< union, split, after
    void setMode(tenon::views::DiffMode mode);
    void togglePin(); ///< what is shown is compared with, until it is pinned again or unpinned
    void unpin();
    void setFilter(QString filter);
    void toggleFigure(); ///< times or expected errors on the cards
    void setLooks(tenon::views::CardLooks looks);
    void cycleColouring(); ///< by type, time, ...
    /// Long chains as columns side by side, in a picture of that width by height; 0: as one.
    void setWrapAspect(double aspect);
    void selectPlace(int place);
    void selectNode(tenon::core::NodeId node);
    void seekNode(tenon::core::NodeId node) { m_selection.seek(node); }

signals:
    void stateChanged();
    void sceneChanged();
    void selectionMoved(int place); ///< selected from elsewhere: bring it into view

private:
    void arrange();
    QString nameOf(int version) const;
    /// The versions whose difference is shown; equal where there is none.
    std::pair<size_t, size_t> compared() const { return comparedAt(m_state.version); }
    std::pair<size_t, size_t> comparedAt(int version) const;
    void takeStage(std::shared_ptr<const Stage> stage, std::shared_ptr<const LineageIndex> lineage);
    void rebuildScene();
    /// What the shown version is compared with, were it `version`.
    StepQuestion questionOf(int version, DiffMode mode) const;
    StepViewPtr viewOf(const StepQuestion& question);
    /// Computes what the next keys may ask for, on another thread.
    void lookAhead();
    std::vector<int> changedVersions() const;
    int placeShowing(core::NodeId node) const;
    void refreshHeat();
    void refreshSelection();
    void refreshState();
    int nextIn(const std::vector<int>& versions, int by) const;

    JobPresenter& m_jobs;
    Selection& m_selection;
    DocumentPtr m_document;
    std::shared_ptr<const Storyboard> m_board;
    std::shared_ptr<const Stage> m_stage;
    std::shared_ptr<const LineageIndex> m_lineageIndex;
    StepViews m_views; ///< of m_stage
    bool m_isLookedAt = false;
    ScenePtr m_scene;
    CardLooks m_looks;
    float m_wrapAspect = 0;
    int m_layouts = 0; ///< on their way
    PassModel* m_passes;
    DeltaModel* m_deltas;
    Lineage m_lineage;
    std::vector<HeatCell> m_heat;
    PassesState m_state;
    bool m_isSelecting = false;
};

} // namespace tenon::views
