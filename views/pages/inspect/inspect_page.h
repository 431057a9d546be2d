// SPDX-License-Identifier: GPL-3.0-or-later
// The Inspect perspective: the model as opened, its operators and issues, inspector.
#pragma once

#include "views/canvas/graph_canvas.h"
#include "views/pages/common/colour_button.h"
#include "views/pages/common/find_field.h"
#include "views/pages/common/inspector_panel.h"
#include "views/pages/common/table_twin.h"
#include "views/pages/common/wrapped_table.h"
#include "views/pages/inspect/shapes_field.h"
#include "views/presenters/inspect_presenter.h"
#include "views/presenters/workspace_presenter.h"
#include "views/scene/scene_table.h"

#include <QSplitter>

namespace tenon::views {

class InspectPage : public QWidget
{
    Q_OBJECT
public:
    InspectPage(const ThemeSource& themes, WorkspacePresenter& workspace,
                InspectPresenter& presenter, InspectorPresenter& inspector,
                QWidget* parent = nullptr);

    GraphCanvas& canvas() { return *m_canvas; }
    TableTwin& graphTwin() { return *m_graphTwin; }
    /// Long chains as columns in the shape of the canvas, or as one line again.
    InspectorPanel& inspectorPanel() { return *m_inspector; }
    ShapesField& shapes() { return *m_shapes; }
    void focusFind();
    void focusShapes();
    void findNext(bool forward);
    void showIssues();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildModel(const ThemeSource& themes, WorkspacePresenter& workspace);
    QWidget* buildGraph(const ThemeSource& themes);
    void refresh();
    void refreshScene();
    void showGroup();
    void countFound();

    WorkspacePresenter& m_workspace;
    InspectPresenter& m_presenter;
    Panel* m_modelPanel = nullptr;
    Panel* m_graphPanel = nullptr;
    Panel* m_issuesPanel = nullptr;
    ThemedLabel* m_facts = nullptr;
    ShapesField* m_shapes = nullptr;
    FindField* m_find = nullptr;
    ColourButton* m_colours = nullptr;
    PillButton* m_collapse = nullptr;
    PillButton* m_expand = nullptr;
    DataTable* m_operators = nullptr;
    WrappedTable* m_issues = nullptr;
    EmptyNotice* m_noIssues = nullptr;
    GraphCanvas* m_canvas = nullptr;
    SceneTable* m_rows = nullptr;
    TableTwin* m_graphTwin = nullptr;
    InspectorPanel* m_inspector = nullptr;
};

} // namespace tenon::views
