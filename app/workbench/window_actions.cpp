// SPDX-License-Identifier: GPL-3.0-or-later
// The window's actions, what the palette offers, and the rows of the shortcut sheet.
#include "app/workbench/main_window.h"
#include "app/workbench/trail.h"
#include "app/workbench/window_keys.h"
#include "views/models/format.h"
#include "views/models/node_text.h"
#include "views/pages/deploy/deploy_page.h"

#include <map>
#include <set>

namespace tenon::app {

namespace {

/// Pages, and the passes and nodes on them, as they are looked at.
Trail* makeTrail(MainWindow& window, views::TitleBar& title)
{
    const auto here = [&window] {
        return TrailPlace{window.session().perspective, window.passes().state().version,
                          window.workspace().selection().node()};
    };
    const auto go = [&window](const TrailPlace& place) {
        window.showPerspective(place.perspective);
        window.passes().showVersion(place.version);
        window.workspace().selection().seek(place.node);
        if (!place.node.isValid()) window.workspace().selection().select({});
    };
    auto* trail = new Trail(here, go, &window);
    views::WorkspacePresenter& workspace = window.workspace();
    QObject::connect(&workspace.selection(), &views::Selection::changed, trail, &Trail::note);
    QObject::connect(&title.tabs(), &QTabBar::currentChanged, trail, &Trail::note);
    QObject::connect(&workspace, &views::WorkspacePresenter::opened, trail, &Trail::clear);
    return trail;
}

const views::Page* shownPageOf(const MainWindow& window)
{
    for (const views::Page& page : window.pages())
        if (page.widget->isVisible()) return &page;
    return nullptr;
}

void goToSource(MainWindow& window, const views::FoundSource& found)
{
    const views::Page* page = shownPageOf(window);
    if (page && page->showsSteps) return window.follow().play(found.source);
    window.workspace().selection().seek(found.node);
}

/// The nodes of the model file by their names there, and what has become of them.
std::vector<views::PaletteEntry> sourceEntries(MainWindow& window)
{
    std::vector<views::PaletteEntry> entries;
    const views::DocumentPtr document = window.workspace().document();
    const views::Page* page = shownPageOf(window);
    const size_t version = page && page->version ? page->version() : document->versionCount() - 1;
    for (const views::FoundSource& found : views::foundSources(document->version(version)))
        entries.push_back({found.name, found.op + QStringLiteral(" · ") + found.where,
                           [&window, found] { goToSource(window, found); }});
    return entries;
}

std::vector<views::PaletteEntry> nodeEntries(MainWindow& window)
{
    if (!window.workspace().document()) return {};
    std::vector<views::PaletteEntry> entries = sourceEntries(window);
    const core::Module& module = window.workspace().document()->version(
        static_cast<size_t>(window.passes().state().version));
    if (!module.mainId().isValid()) return entries;
    std::set<std::string> sources; // which have entries of their own
    for (const core::SourceNode& source : module.sources()) sources.insert(source.name);
    for (const core::NodeId id : module.main().order) {
        const core::NodeRecord& node = module.node(id);
        if (node.kind == core::NodeKind::Constant || sources.count(node.name) > 0) continue;
        const QString title = views::titleOf(module, node);
        const QString name = node.name.empty() ? title : QString::fromStdString(node.name);
        entries.push_back(
            {name, title, [&window, id] { window.workspace().selection().seek(id); }});
    }
    return entries;
}

/// To use a board, and to make one that is emulated here.
void addBoards(views::BoardsPresenter& boards, std::vector<views::PaletteEntry>& entries)
{
    const bool canChange = boards.state().canChange;
    for (const views::BoardRow& row : boards.model().rows())
        entries.push_back({MainWindow::tr("Use the board %1").arg(row.board.titleInText()),
                           row.stateText, [&boards, name = row.board.name] { boards.choose(name); },
                           canChange});
    for (const views::BoardKindEntry& kind : boards.kinds())
        if (kind.canBeVirtual)
            entries.push_back({MainWindow::tr("Add the virtual board %1").arg(kind.title),
                               {},
                               [&boards, name = kind.name] { boards.addVirtual(name); },
                               canChange});
}

} // namespace

void MainWindow::add(views::ActionSpec spec)
{
    if (spec.run) spec.run = [this, spec] { run(spec, nullptr); };
    m_actions.add(std::move(spec), this);
}

/// Those that the window does not have itself: an id that several pages have becomes one action.
void MainWindow::addOfPages(const QString& group)
{
    for (const views::Page& page : m_pages)
        for (const views::ActionSpec& spec : page.actions) {
            if (spec.group != group || m_actions.has(spec.id)) continue;
            views::ActionSpec added = spec;
            added.run = [this, spec, &page] { run(spec, &page); };
            m_actions.add(std::move(added), this);
        }
}

/// The shown page's action of that id goes before `spec`, which is `page`'s or the window's.
void MainWindow::run(const views::ActionSpec& spec, const views::Page* page)
{
    const views::Page* shown = shownPage();
    if (shown && shown != page)
        for (const views::ActionSpec& other : shown->actions)
            if (other.id == spec.id) return other.run();
    if (page && page != shown) {
        if (spec.actsOn == views::ActsOn::ShownPage) return;
        if (spec.actsOn == views::ActsOn::ItsPage) showPage(*page);
    }
    spec.run();
}

void MainWindow::addActions()
{
    addFileActions();
    addModelActions();
    addBoardActions();
    addViewActions();
    addGraphActions();
}

void MainWindow::addFileActions()
{
    const QString file = tr("File");
    const auto canReload = [this] {
        return m_workspace.state().hasDocument && !m_workspace.state().isBusy;
    };
    add({"open", file, tr("Open model…"), "open", "Ctrl+O", tr("Open an ONNX model"),
         [this] { chooseFile(); }});
    add({"sample", file, tr("Open the sample model"), "file", "",
         tr("A small trained model that comes with Tenon"), [this] {
             if (!m_options.samplePath.isEmpty()) openModel(m_options.samplePath);
         }});
    add({"reload", file, tr("Reload"), "", "F5", tr("Read the file again"),
         [this] { m_workspace.reload(); }, false, canReload});
    for (int i = 1; i <= 9; ++i)
        add({QStringLiteral("recent%1").arg(i), file, tr("Recent model %1").arg(i), "",
             QStringLiteral("Ctrl+%1").arg(i), tr("Open a recent model"), [this, i] {
                 if (i <= m_settings.recents.size()) openModel(m_settings.recents[i - 1]);
             }});
    add({"export", file, tr("Export the view…"), "", "Ctrl+Shift+E",
         tr("The graph or page as SVG or PNG, or all of it as one HTML report"),
         [this] { chooseExport(); }});
    add({"save", file, tr("Save the model…"), "", "Ctrl+S",
         tr("Library, object or sources for the target, compiled first if it is not yet; or ONNX"),
         [this] { chooseSave(); }, false, [this] { return m_workspace.state().canBuild; }});
    add({"quit", file, tr("Quit"), "", "Ctrl+Q", tr("Close the window; it opens again as it was"),
         [this] { close(); }});
    addOfPages(file);
}

void MainWindow::addModelActions()
{
    const QString model = tr("Model");
    const auto canBuild = [this] { return m_workspace.state().canBuild; };
    add({"compile", model, tr("Compile"), "compile", "Ctrl+Shift+B", tr("Compile for the target"),
         [this] { m_workspace.compile(); }, false, canBuild});
    add({"deploy", model, tr("Deploy && Benchmark"), "benchmark", "Ctrl+R",
         tr("Compile for the board, send, run and measure there"), [this] { m_deploy.deploy(); },
         false, [this] { return m_deploy.state().canDeploy; }});
    add({"cancel", model, tr("Cancel the job"), "stop", "Shift+F5", tr("Stop what is running"),
         [this] { cancelJobs(); }, false,
         [this] { return m_workspace.state().isBusy || m_boards.isWorking(); }});
    add({"options", model, tr("Compile options…"), "compile", "Ctrl+Shift+O",
         tr("Level, executor, threads, passes, planner; levels 0 to 3 side by side"),
         [this] { openOverlay(QStringLiteral("options")); }, false,
         [this] { return m_workspace.state().hasDocument; }});
    add({"try", model, tr("Try it on a picture or sound…"), "", "Ctrl+Shift+I",
         tr("One run on a PNG, JPEG or WAV file: the likeliest classes"),
         [this] { openOverlay(QStringLiteral("try")); }, false,
         [this] { return m_workspace.state().hasDocument; }});
    add({"project", model, tr("Project…"), "", "",
         tr("A folder that makes firmware of the model: template, memories; build, flash, run"),
         [this] { openOverlay(QStringLiteral("project")); }, false,
         [this] { return m_workspace.state().hasDocument; }});
    add({"target", model, tr("Edit the target"), "target", "Ctrl+T",
         tr("What to compile for: board, processor, features, ABI, cores"),
         [this] { openOverlay(QStringLiteral("target-editor")); }});
    add({"type-target", model, tr("Type the target"), "", "", tr("Into the field of the title row"),
         [this] {
             m_title->target().setFocus(Qt::ShortcutFocusReason);
             m_title->target().selectAll();
         }});
    addOfPages(model);
}

void MainWindow::addBoardActions()
{
    const QString board = tr("Board");
    const auto canChange = [this] { return m_boards.state().canChange; };
    add({"choose-board", board, tr("Choose the board"), "board", "Ctrl+B",
         tr("What everything is compiled for and measured on"), [this] { showBoards(); }});
    add({"add-board", board, tr("Add board…"), "", "",
         tr("A board reached by SSH, RPC or a tracker"), [this] { m_addBoard->openForm(); }, false,
         canChange});
    add({"virtual-board", board, tr("Add a virtual board…"), "", "",
         tr("A Raspberry Pi or a microcontroller that is emulated on this computer"),
         [this] { part<views::DeployPage>().chooseVirtual(m_status->boardCorner()); }, false,
         canChange});
    add({"probe-board", board, tr("Probe the board"), "", "", tr("Ask the board what it is"),
         [this] { m_boards.probe(); }, false, canChange});
    add({"measure-board", board, tr("Measure the board's processor"), "", "",
         tr("How fast it computes, reads and starts threads; it is compiled for with these figures "
            "from then on, see the target editor"),
         [this] { m_boards.measure(); }, false, [this] { return m_boards.state().canMeasure; }});
    add({"disconnect", board, tr("Disconnect from the board"), "", "",
         tr("End the kept connection; what was sent goes with it"),
         [this] { m_deploy.disconnectBoard(); }, false,
         [this] { return m_deploy.state().isConnected; }});
    add({"past-runs", board, tr("Compare with earlier measurements…"), "", "",
         tr("The last run beside an earlier one, call by call"),
         [this] { openOverlay(QStringLiteral("run")); }, false,
         [this] { return m_deploy.history().rowCount() > 0; }});
    add({"forget-board", board, tr("Forget the board"), "", "", tr("Take it out of the list"),
         [this] { m_forget->ask(); }, false, [this] { return m_boards.state().canForget; }});
    addOfPages(board);
}

void MainWindow::addViewActions()
{
    const QString view = tr("View"), help = tr("Help");
    Trail* trail = makeTrail(*this, *m_title);
    add({"back", view, tr("Back"), "", "Alt+Left", tr("Where the selection was before"),
         [trail] { trail->step(-1); }});
    add({"forward", view, tr("Forward"), "", "Alt+Right", tr("Where one came back from"),
         [trail] { trail->step(1); }});
    for (size_t i = 0; i < m_pages.size(); ++i)
        add({QStringLiteral("show-") + m_pages[i].name, view, tr("Show %1").arg(m_pages[i].title),
             m_pages[i].icon, QStringLiteral("Alt+%1").arg(i + 1), m_pages[i].tip,
             [this, i] { views::closeSheets(*this), showPage(m_pages[i]); }});
    add({"next-pane", view, tr("Next pane"), "", "F6", tr("To the next part of the window"),
         [this] { walkPanes(*this, 1); }});
    add({"previous-pane", view, tr("Previous pane"), "", "Shift+F6",
         tr("To the part of the window before"), [this] { walkPanes(*this, -1); }});
    add({"find", view, tr("Find node"), "search", "Ctrl+F",
         tr("A node by its name in the model file, and what became of it"),
         [this] { m_palette->openWith(QStringLiteral("@")); }});
    addOfPages(view);
    add({"fit", view, tr("Fit the graph"), "fit", "Shift+Backspace", tr("See all of the graph"),
         [this] {
             if (auto* shown = canvas()) shown->fit();
         }});
    add({"theme", view, tr("Switch light and dark"), "moon", "Ctrl+Shift+L", tr("Switch the theme"),
         [this] {
             m_settings.theme = m_themes.theme().isDark ? ThemeChoice::Light : ThemeChoice::Dark;
             setDark(!m_themes.theme().isDark);
             save();
         }});
    add({"motion", view, tr("Reduce motion"), "", "", tr("No fading between passes"), [this] {
             m_settings.isMotionReduced = !m_settings.isMotionReduced;
             for (auto* each : canvases()) each->setReducedMotion(m_settings.isMotionReduced);
             m_follow.setReducedMotion(m_settings.isMotionReduced);
             save();
         }});
    add({"palette", help, tr("Command palette"), "", "Ctrl+K, Ctrl+Shift+P",
         tr("Find commands, nodes, passes and tensors"), [this] { m_palette->openWith({}); }});
    add({"keys", help, tr("Keys"), "", "F1", tr("All keys"), [this] { m_keys->open(); }});
    add({"log", help, tr("Log"), "log", "Ctrl+L", tr("What the jobs said"),
         [this] { openOverlay(QStringLiteral("log")); }});
    addOfPages(help);
}

/// Keys of the graphs; they act in the panes, and in the palette they are commands.
void MainWindow::addGraphActions()
{
    addOfPages(tr("Passes"));
    const QString graph = tr("Graph");
    const auto local = [&](const char* id, const QString& text, const char* keys,
                           std::function<void()> act) {
        add({QLatin1String(id), graph, text, {}, QLatin1String(keys), text, std::move(act), true});
    };
    const auto withCanvas = [this](void (views::GraphCanvas::*act)()) {
        return [this, act] {
            if (auto* shown = canvas()) (shown->*act)();
        };
    };
    local("walk", tr("Walk along edges"), "Arrows", {});
    local("walk-order", tr("Walk in program order"), "N", [this] {
        if (auto* shown = canvas()) shown->walkOrder(1);
    });
    local("walk-back", tr("Walk back in program order"), "Shift+N", [this] {
        if (auto* shown = canvas()) shown->walkOrder(-1);
    });
    local("fit-here", tr("See all"), "Space", withCanvas(&views::GraphCanvas::fit));
    local("start", tr("Go to the beginning of the graph"), "Home",
          withCanvas(&views::GraphCanvas::lookAtStart));
    local("zoom-selection", tr("Zoom to the selection"), "Z",
          withCanvas(&views::GraphCanvas::zoomToSelection));
    local("zoom", tr("Zoom"), "Ctrl+Wheel", {});
    local("expand", tr("Open the selected group"), "+",
          withCanvas(&views::GraphCanvas::openSelectedScope));
    local("collapse", tr("Close the selected group"), "-",
          withCanvas(&views::GraphCanvas::closeSelectedScope));
    addOfPages(graph);
}

std::vector<views::ShortcutSheet::Row> MainWindow::keyRows() const
{
    std::map<QString, std::pair<QString, QString>> shared = sharedRows();
    for (const views::Page& page : m_pages) shared[QStringLiteral("show-") + page.name] = {};
    shared[QStringLiteral("show-") + m_pages.front().name] = {
        tr("The pages"), QStringLiteral("Alt+1 … %1").arg(m_pages.size())};
    std::vector<views::ShortcutSheet::Row> rows;
    for (const views::ActionSpec& spec : m_actions.specs()) {
        const auto row = shared.find(spec.id);
        if (row != shared.end()) {
            const auto& [text, keys] = row->second;
            if (!text.isEmpty()) rows.push_back({spec.group, text, keys});
            continue;
        }
        if (spec.keys.isEmpty() || spec.id.startsWith(QLatin1String("recent"))) continue;
        QString text = spec.text;
        text.replace(QStringLiteral("&&"), QStringLiteral("&"));
        rows.push_back({spec.group, text, spec.keys});
    }
    return rows;
}

std::vector<views::PaletteSource> MainWindow::paletteSources()
{
    const auto commands = [this] {
        std::vector<views::PaletteEntry> entries;
        for (const views::ActionSpec& spec : m_actions.specs()) {
            if (!spec.run) continue;
            QString text = spec.text;
            text.replace(QStringLiteral("&&"), QStringLiteral("&"));
            QAction* action = m_actions.action(spec.id);
            if (spec.id.startsWith(QLatin1String("recent"))) {
                const int number = spec.id.mid(6).toInt();
                if (number > m_settings.recents.size()) continue;
                text = tr("Open %1").arg(views::modelName(m_settings.recents[number - 1]));
            }
            entries.push_back(
                {text, spec.keys, [action] { action->trigger(); }, action->isEnabled()});
        }
        addBoards(m_boards, entries);
        return entries;
    };
    const auto passes = [this] {
        std::vector<views::PaletteEntry> entries;
        if (!m_workspace.document()) return entries;
        const auto& steps = m_workspace.document()->passes;
        for (size_t i = 0; i < steps.size(); ++i)
            entries.push_back(
                {steps[i].title(),
                 steps[i].isChanged
                     ? views::countOf(static_cast<qint64>(steps[i].changes.size()), tr("change"))
                     : tr("no change"),
                 [this, i] {
                     showPage(views::pageOfSteps(m_pages));
                     m_passes.showVersion(static_cast<int>(i) + 1);
                 }});
        return entries;
    };
    const auto tensors = [this] {
        std::vector<views::PaletteEntry> entries;
        if (!m_workspace.document()) return entries;
        const core::Module& module =
            m_workspace.document()->version(static_cast<size_t>(m_passes.state().version));
        if (!module.mainId().isValid()) return entries;
        for (const core::NodeId id : module.main().order) {
            const core::NodeRecord& node = module.node(id);
            for (size_t i = 0; i < node.types.size(); ++i)
                entries.push_back({views::valueText(module, {id, static_cast<uint32_t>(i)}),
                                   views::typeText(node.types[i]),
                                   [this, id] { m_workspace.selection().seek(id); }});
        }
        return entries;
    };
    return {{QLatin1Char('>'), commands},
            {QLatin1Char('@'), [this] { return nodeEntries(*this); }},
            {QLatin1Char('#'), passes},
            {QLatin1Char('$'), tensors}};
}

} // namespace tenon::app
