// SPDX-License-Identifier: GPL-3.0-or-later
// The Passes perspective: list of passes, graph with diff, lineage and deltas, inspector.
#pragma once

#include "views/canvas/graph_canvas.h"
#include "views/pages/common/colour_button.h"
#include "views/pages/common/inspector_panel.h"
#include "views/pages/common/table_twin.h"
#include "views/pages/passes/film_strip.h"
#include "views/pages/passes/pass_list.h"
#include "views/pages/passes/strips.h"
#include "views/presenters/follow_presenter.h"
#include "views/presenters/numbers_presenter.h"
#include "views/presenters/steps_presenter.h"
#include "views/scene/scene_table.h"

#include <QLineEdit>
#include <QSlider>
#include <QSplitter>

namespace tenon::views {

class PassesPage : public QWidget
{
    Q_OBJECT
public:
    PassesPage(const ThemeSource& themes, PassesPresenter& presenter, FollowPresenter& follow,
               InspectorPresenter& inspector, QWidget* parent = nullptr);
    /// Shows what `numbers` says, below the passes, with a button that asks.
    void showNumbers(const ThemeSource& themes, NumbersPresenter& numbers);
    /// With a button that opens the shown pass, rewrite by rewrite, and closes it.
    void showSteps(const ThemeSource& themes, StepsPresenter& steps);

    GraphCanvas& canvas() { return *m_canvas; }
    TableTwin& graphTwin() { return *m_graphTwin; }
    /// Long chains as columns in the shape of the canvas, or as one line again.
    PillButton& pin() { return *m_pin; }
    PillTabs& modes() { return *m_modes; }
    FilmStrip& film() { return *m_film; }
    TableTwin& filmTwin() { return *m_filmTwin; }
    /// The selected node in every pass, or when which pass touched it.
    void toggleFilm();
    void showFilm()
    {
        if (!m_isFilm) toggleFilm();
    }
    /// Shows once more how the pass changed the graph.
    void playPass() { m_canvas->play(m_presenter.sceneBefore()); }
    QSlider& scrubber() { return *m_scrubber; }
    DataTable& deltas() { return *m_deltas; }
    InspectorPanel& inspectorPanel() { return *m_inspector; }
    QLineEdit& filter() { return *m_filter; }
    QSplitter& splitter() { return *m_columns; }

protected:
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* buildList(const ThemeSource& themes);
    QWidget* buildGraph(const ThemeSource& themes);
    void buildComparison(const ThemeSource& themes);
    void buildScrubber(const ThemeSource& themes);
    void scrub(int value);
    QWidget* buildLineage(const ThemeSource& themes);
    void refresh();
    void refreshScene();
    void fitDeltas();
    void refreshFilm();
    void refreshLineage();
    QWidget* buildFilm(const ThemeSource& themes);
    bool handleKey(QKeyEvent* event);

    PassesPresenter& m_presenter;
    FollowPresenter& m_follow;
    Panel* m_listPanel = nullptr;
    Panel* m_graphPanel = nullptr;
    Panel* m_lineagePanel = nullptr;
    QLineEdit* m_filter = nullptr;
    PassList* m_list = nullptr;
    HeatStrip* m_heat = nullptr;
    ColourButton* m_colours = nullptr;
    PillTabs* m_modes = nullptr;
    PillButton* m_pin = nullptr;
    PillButton* m_play = nullptr;
    QSlider* m_scrubber = nullptr;
    ScenePtr m_scrubbed; ///< where the scrubber begins; made when it is moved first
    GraphCanvas* m_canvas = nullptr;
    SceneTable* m_rows = nullptr;
    TableTwin* m_graphTwin = nullptr;
    LineageStrip* m_lineage = nullptr;
    TouchTable* m_touches = nullptr;
    TableTwin* m_lineageTwin = nullptr;
    PillButton* m_filmButton = nullptr;
    FilmStrip* m_film = nullptr;
    TableTwin* m_filmTwin = nullptr;
    bool m_isFilm = false;
    DataTable* m_deltas = nullptr;
    InspectorPanel* m_inspector = nullptr;
    QSplitter* m_columns = nullptr;
};

} // namespace tenon::views
