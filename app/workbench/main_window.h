// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: puts presenters, pages, actions and overlays together.
#pragma once

#include "app/workbench/actions.h"
#include "app/workbench/board_sheets.h"
#include "app/workbench/overlay.h"
#include "app/workbench/settings.h"
#include "app/workbench/status_strip.h"
#include "app/workbench/title_bar.h"
#include "views/pages/benchmark/benchmark_page.h"
#include "views/pages/deploy/deploy_page.h"
#include "views/pages/executors/executors_page.h"
#include "views/pages/inspect/inspect_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/passes/passes_page.h"
#include "views/pages/start/start_page.h"

#include <QStackedWidget>

#include <optional>

namespace tenon::app {

struct WindowOptions
{
    bool isIsolated = false; ///< nothing is saved
    bool isDark = false;
    QString samplePath;
    unsigned threads = 2;
    QString settingsPath; ///< empty: the user's own
    AskForFile askForFile = askWithDialog;
};

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
    QStringList perspectives() const;
    bool showPass(const QString& name);
    bool showDiff(const QString& name); ///< "union", "split" or "after"
    bool selectNode(const QString& name);
    void showCodeTab(const QString& name);
    void setDark(bool isDark);
    core::Status exportView(const QString& path); ///< graph or page; .html: a report of all
    /// "palette", "keys", "log", "target", "add-board": for screenshots and tests.
    void openOverlay(const QString& name);

    views::WorkspacePresenter& workspace() { return m_workspace; }
    views::PassesPresenter& passes() { return m_passes; }
    views::InspectPresenter& inspect() { return m_inspect; }
    const views::InspectorPresenter& inspector() const { return m_inspector; }
    views::PassesPage& passesPage() { return *m_passesPage; }
    views::InspectPage& inspectPage() { return *m_inspectPage; }
    views::MemoryPresenter& memory() { return m_memory; }
    views::MemoryPage& memoryPage() { return *m_memoryPage; }
    views::ExecutorsPresenter& executors() { return m_executors; }
    views::ExecutorsPage& executorsPage() { return *m_executorsPage; }
    views::BoardsPresenter& boards() { return m_boards; }
    views::BoardPrompt& boardPrompt() { return m_boardPrompt; }
    views::DeployPresenter& deploy() { return m_deploy; }
    views::DeployPage& deployPage() { return *m_deployPage; }
    Actions& actions() { return m_actions; }
    /// What there would be to restore if the window were closed now.
    Session session();
    void restoreSession();  ///< opens again what the settings remember
    bool isSettled() const; ///< nothing runs in the background that would change the picture

protected:
    void paintEvent(QPaintEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// A perspective: its name on the command line, its title, its place.
    struct PageEntry
    {
        QString name, title;
        QWidget* page;
    };

    void buildPages();
    void buildFrame();
    void takeDocument(bool isSameModel);
    void continueRestore();
    void save();
    void keepSession(); ///< saves what is open, unless it is saved or still being restored
    void wire();
    void wireBoards();
    void showBoards();
    void addActions();
    void addBoardActions();
    void addPageActions();
    void addLocalKeys();
    void applyTheme();
    void refresh();
    void chooseFile();
    void chooseExport();
    void chooseSave();
    void showIssues();
    void showMenu(QPoint position);
    void openRecent(int number);
    views::GraphCanvas* canvas();
    std::vector<PaletteSource> paletteSources();
    std::vector<PaletteEntry> nodeEntries();
    std::vector<ShortcutSheet::Row> keyRows() const;

    WindowOptions m_options;
    Settings m_settings;
    views::ThemeSource m_themes;
    views::WorkspacePresenter m_workspace;
    views::PassesPresenter m_passes;
    views::InspectPresenter m_inspect;
    views::InspectorPresenter m_inspector;
    views::MemoryPresenter m_memory;
    views::ExecutorsPresenter m_executors;
    views::BoardPrompt m_boardPrompt;
    views::BoardsPresenter m_boards;
    views::DeployPresenter m_deploy;
    std::optional<Session> m_restoring; ///< what is left to do
    Actions m_actions;
    TitleBar* m_title = nullptr;
    StatusStrip* m_status = nullptr;
    views::Banner* m_banner = nullptr;
    QStackedWidget* m_stack = nullptr;
    views::StartPage* m_startPage = nullptr;
    views::InspectPage* m_inspectPage = nullptr;
    views::PassesPage* m_passesPage = nullptr;
    views::MemoryPage* m_memoryPage = nullptr;
    views::ExecutorsPage* m_executorsPage = nullptr;
    views::DeployPage* m_deployPage = nullptr;
    views::BenchmarkPage* m_benchmarkPage = nullptr;
    std::vector<PageEntry> m_pages;
    CommandPalette* m_palette = nullptr;
    ShortcutSheet* m_keys = nullptr;
    LogSheet* m_log = nullptr;
    AddBoardSheet* m_addBoard = nullptr;
    QuestionSheet* m_question = nullptr;
    ForgetSheet* m_forget = nullptr;
    QString m_saveFolder; ///< of the last export or save
};

} // namespace tenon::app
