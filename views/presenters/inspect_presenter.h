// SPDX-License-Identifier: GPL-3.0-or-later
// InspectPresenter: the model as imported, grouped by its name scopes, searchable.
#pragma once

#include "views/presenters/job_presenter.h"
#include "views/presenters/selection.h"
#include "views/scene/stage.h"

#include <QObject>

namespace tenon::views {

/// How many nodes a text finds, and which of them is selected, from 1 on; 0: none.
struct FoundNodes
{
    int count = 0;
    int selected = 0;
};

class InspectPresenter : public QObject
{
    Q_OBJECT
public:
    InspectPresenter(JobPresenter& jobs, Selection& selection, QObject* parent = nullptr);

    void setDocument(DocumentPtr document, bool isSameModel);

    ScenePtr scene() const { return m_scene; }
    CardLooks looks() const { return m_looks; }
    bool isWrapped() const { return m_wrapAspect > 0; }
    bool canToggleFigure() const { return m_document && canChooseFigure(*m_document); }
    PlaceId selectedPlace() const { return m_selected; }
    size_t version() const { return m_version; }
    bool isReady() const { return m_stage && m_layouts == 0; }
    bool hasScopes() const { return m_stage && !m_stage->scopes().empty(); }
    /// First node of the shown version with this name, operator or source name.
    core::NodeId findNode(const QString& text) const;
    /// What find() walks through.
    FoundNodes found(const QString& text) const;

public slots:
    void toggleFigure(); ///< times or expected errors on the cards
    void setLooks(tenon::views::CardLooks looks);
    void cycleColouring(); ///< by type, time, ...
    /// Long chains as columns side by side, in a picture of that width by height; 0: as one.
    void setWrapAspect(double aspect);
    void selectPlace(int place);
    void selectNode(tenon::core::NodeId node);
    /// Selects the node and opens the groups it sits in.
    void seekNode(tenon::core::NodeId node);
    void toggleScope(QString path);
    void setAllCollapsed(bool isCollapsed);
    /// Selects the next node whose name, operator or source name contains `text`; wraps around.
    bool find(QString text, bool forward = true);

signals:
    void sceneChanged();
    void selectionMoved(int place);

private:
    void arrange();
    void takeStage(std::shared_ptr<const Stage> stage, ScenePtr scene);
    bool openGroupsAround(PlaceId place);
    bool matches(const VersionView& view, PlaceId place, const QString& text) const;
    PlaceId placeForNode(core::NodeId node) const;

    JobPresenter& m_jobs;
    Selection& m_selection;
    DocumentPtr m_document;
    DocumentPtr m_alone; ///< the shown version as a document of its own
    std::shared_ptr<const Stage> m_stage;
    std::unordered_map<uint32_t, PlaceId> m_placeOfSource;
    std::set<QString> m_collapsed;
    bool m_hasChosenScopes = false;
    ScenePtr m_scene;
    CardLooks m_looks;
    float m_wrapAspect = 0;
    PlaceId m_selected = kNoPlace;
    size_t m_version = 0;
    bool m_isSelecting = false;
    int m_layouts = 0;     ///< on their way
    core::NodeId m_sought; ///< to be brought into view once the positions are known
};

} // namespace tenon::views
