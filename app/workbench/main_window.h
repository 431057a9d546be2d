// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: puts presenters, pages, actions and overlays together.
#pragma once

#include "app/workbench/settings.h"
#include "app/workbench/window_options.h"
#include "core/base/check.h"
#include "views/canvas/graph_canvas.h"
#include "views/frame/board_sheets.h"
#include "views/frame/overlay.h"
#include "views/frame/status_strip.h"
#include "views/frame/title_bar.h"
#include "views/pages/common/inspector_panel.h"
#include "views/pages/page.h"
#include "views/pages/start/start_page.h"
#include "views/presenters/deploy_presenter.h"
#include "views/presenters/executors_presenter.h"
#include "views/presenters/follow_presenter.h"
#include "views/presenters/inspect_presenter.h"
#include "views/presenters/memory_presenter.h"
#include "views/presenters/trial_presenter.h"

#include <QStackedWidget>

#include <optional>

namespace tenon::app {

class MainWindow : public QWidget
{
    Q_OBJECT
public:
    MainWindow(views::Engine engine, Settings settings, const WindowOptions& options);
    ~MainWindow() override;

    void openModel(const QString& path, const QString& shapes = {}); ///< its open sizes bound
    bool chooseBoard(const QString& name); ///< false when there is no such board
    void cancelJobs();
    bool showPerspective(const QString& name); ///< false when there is no such page
    bool showPass(const QString& name);
    bool showDiff(const QString& name); ///< "union", "split" or "after"
    bool selectNode(const QString& name);
    void showCodeTab(const QString& name);
    void setDark(bool isDark);
    core::Status exportView(const QString& path); ///< graph or page; .html: a report of all
    void askToExport(const views::Export& what);
    /// "palette", "keys", "log", "options", "target", "add-board": for screenshots and tests.
    void openOverlay(const QString& name);

    views::WorkspacePresenter& workspace() { return m_workspace; }
    views::PassesPresenter& passes() { return m_passes; }
    views::FollowPresenter& follow() { return m_follow; }
    views::InspectPresenter& inspect() { return m_inspect; }
    const views::InspectorPresenter& inspector() const { return m_inspector; }
    views::MemoryPresenter& memory() { return m_memory; }
    views::ExecutorsPresenter& executors() { return m_executors; }
    views::BoardsPresenter& boards() { return m_boards; }
    views::BoardPrompt& boardPrompt() { return m_boardPrompt; }
    views::DeployPresenter& deploy() { return m_deploy; }
    views::TrialPresenter& trial() { return m_trial; }
    views::Actions& actions() { return m_actions; }
    /// The part of the window of that class: a page, by what it is.
    template <class Part>
    Part& part() const
    {
        auto* found = findChild<Part*>();
        CHECK(found);
        return *found;
    }
    const std::vector<views::Page>& pages() const { return m_pages; }
    Session session();      ///< what there would be to restore if it were closed now
    void restoreChoices();  ///< planner, budget and board that the settings remember
    void restoreSession();  ///< opens again what the settings remember
    bool isSettled() const; ///< nothing runs in the background that would change the picture

protected:
    void paintEvent(QPaintEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void buildPages();
    void buildFrame();
    void takeDocument(bool isSameModel);
    void continueRestore();
    void save();
    void keepSession(); ///< saves what is open, unless it is saved or still being restored
    void wire();
    void wireBoards();
    void wireTrials();
    void openTrial(const QString& file = {}); ///< the model on it, at once; empty: asks for one
    void takeDropped(const QString& path);
    void takeFolder(const QString& path);
    void showBoards();
    void addActions();
    void addFileActions();
    void addModelActions();
    void addBoardActions();
    void addViewActions();
    void addGraphActions();
    void add(views::ActionSpec spec);
    void addOfPages(const QString& group);
    void run(const views::ActionSpec& spec, const views::Page* page);
    void applyTheme();
    void refresh();
    void chooseFile();
    void chooseExport();
    void chooseSave();
    void showMenu(QPoint position);
    void addRecents(QMenu& menu);
    const views::Page* shownPage() const; ///< null: the start page
    void showPage(const views::Page& page);
    void noteChange(); ///< of the version or the graph that the shown page has
    views::GraphCanvas* canvas() const;
    std::vector<views::GraphCanvas*> canvases() const;
    std::vector<views::PaletteSource> paletteSources();
    std::vector<views::ShortcutSheet::Row> keyRows() const;

    WindowOptions m_options;
    Settings m_settings;
    views::ThemeSource m_themes;
    views::WorkspacePresenter m_workspace;
    views::PassesPresenter m_passes;
    views::FollowPresenter m_follow;
    views::InspectPresenter m_inspect;
    views::InspectorPresenter m_inspector;
    views::MemoryPresenter m_memory;
    views::ExecutorsPresenter m_executors;
    views::BoardPrompt m_boardPrompt;
    views::BoardsPresenter m_boards;
    views::DeployPresenter m_deploy;
    views::TrialPresenter m_trial;
    std::optional<Session> m_restoring; ///< what is left to do
    views::Actions m_actions;
    views::TitleBar* m_title = nullptr;
    views::StatusStrip* m_status = nullptr;
    views::Banner* m_banner = nullptr;
    QStackedWidget* m_stack = nullptr;
    views::StartPage* m_startPage = nullptr;
    std::vector<views::Page> m_pages;
    views::CommandPalette* m_palette = nullptr;
    views::ShortcutSheet* m_keys = nullptr;
    views::LogSheet* m_log = nullptr;
    views::AddBoardSheet* m_addBoard = nullptr;
    views::QuestionSheet* m_question = nullptr;
    views::ForgetSheet* m_forget = nullptr;
    QString m_saveFolder; ///< of the last export or save
};

} // namespace tenon::app
