// SPDX-License-Identifier: GPL-3.0-or-later
// The window's actions, what the palette offers, and the rows of the shortcut sheet.
#include "app/workbench/main_window.h"
#include "app/workbench/trail.h"
#include "views/models/format.h"
#include "views/models/node_text.h"

#include <map>

namespace tenon::app {

namespace {

/// Pages, and the passes and nodes on them, as they are looked at.
Trail* makeTrail(MainWindow& window, TitleBar& title)
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

void toggleTable(MainWindow& window, views::BenchmarkPage& benchmark)
{
    if (benchmark.isVisible()) benchmark.chartTwin().toggle();
    if (window.inspectPage().isVisible()) window.inspectPage().graphTwin().toggle();
    if (window.passesPage().isVisible()) window.passesPage().graphTwin().toggle();
}

void toggleFigures(MainWindow& window)
{
    if (window.inspectPage().isVisible()) window.inspect().toggleFigure();
    if (window.passesPage().isVisible()) window.passes().toggleFigure();
}

} // namespace

void MainWindow::addActions()
{
    const auto add = [this](const char* id, const QString& group, const QString& text,
                            const char* icon, const char* keys, const QString& tip,
                            std::function<void()> run) {
        m_actions.add({QLatin1String(id), group, text, QLatin1String(icon), QLatin1String(keys),
                       tip, std::move(run), false},
                      this);
    };
    const QString file = tr("File"), view = tr("View"), model = tr("Model"), help = tr("Help");
    add("open", file, tr("Open model…"), "open", "Ctrl+O", tr("Open an ONNX model"),
        [this] { chooseFile(); });
    add("sample", file, tr("Open the sample model"), "file", "",
        tr("A small trained model that comes with Tenon"), [this] {
            if (!m_options.samplePath.isEmpty()) openModel(m_options.samplePath);
        });
    add("reload", file, tr("Reload"), "", "F5", tr("Read the file again"),
        [this] { m_workspace.reload(); });
    for (int i = 1; i <= 9; ++i)
        add(qPrintable(QStringLiteral("recent%1").arg(i)), file, tr("Recent model %1").arg(i), "",
            qPrintable(QStringLiteral("Ctrl+%1").arg(i)), tr("Open a recent model"),
            [this, i] { openRecent(i); });
    add("export", file, tr("Export the view…"), "", "Ctrl+Shift+E",
        tr("The graph or page as SVG or PNG, or all of it as one HTML report"),
        [this] { chooseExport(); });
    add("save", file, tr("Save the compiled model…"), "", "Ctrl+S",
        tr("Library, object or sources for the target; compiled first if it is not yet"),
        [this] { chooseSave(); });
    add("quit", file, tr("Quit"), "", "Ctrl+Q", tr("Close the window; it opens again as it was"),
        [this] { close(); });
    add("compile", model, tr("Compile"), "compile", "Ctrl+Shift+B", tr("Compile for the target"),
        [this] { m_workspace.compile(); });
    add("deploy", model, tr("Deploy && Benchmark"), "benchmark", "Ctrl+R",
        tr("Compile for the board, send, run and measure there"), [this] { m_deploy.deploy(); });
    add("cancel", model, tr("Cancel the job"), "stop", "Shift+F5", tr("Stop what is running"),
        [this] { cancelJobs(); });
    add("target", model, tr("Edit the target"), "target", "Ctrl+T", tr("What to compile for"),
        [this] {
            m_title->target().setFocus(Qt::ShortcutFocusReason);
            m_title->target().selectAll();
        });
    add("shapes", model, tr("Bind the open sizes"), "", "Ctrl+Shift+D",
        tr("What becomes of dimensions that the model leaves open"), [this] {
            showPerspective(QStringLiteral("inspect"));
            m_inspectPage->focusShapes();
        });
    addBoardActions();
    addPageActions();
    add("find", view, tr("Find node"), "search", "Ctrl+F", tr("Find a node by name or operator"),
        [this] {
            if (m_stack->currentWidget() != m_inspectPage)
                return m_palette->openWith(QStringLiteral("@"));
            m_inspectPage->focusFind();
        });
    add("find-next", view, tr("Find next"), "", "F3", tr("The next match"),
        [this] { m_inspectPage->findNext(true); });
    add("find-previous", view, tr("Find previous"), "", "Shift+F3", tr("The match before"),
        [this] { m_inspectPage->findNext(false); });
    add("fit", view, tr("Fit the graph"), "fit", "Shift+Backspace", tr("See all of the graph"),
        [this] {
            if (auto* shown = canvas()) shown->fit();
        });
    add("theme", view, tr("Switch light and dark"), "moon", "Ctrl+Shift+L", tr("Switch the theme"),
        [this] {
            m_settings.theme = m_themes.theme().isDark ? ThemeChoice::Light : ThemeChoice::Dark;
            setDark(!m_themes.theme().isDark);
            save();
        });
    add("motion", view, tr("Reduce motion"), "", "", tr("No fading between passes"), [this] {
        m_settings.isMotionReduced = !m_settings.isMotionReduced;
        for (auto* each : {&m_inspectPage->canvas(), &m_passesPage->canvas()})
            each->setReducedMotion(m_settings.isMotionReduced);
        save();
    });
    add("palette", help, tr("Command palette"), "", "Ctrl+K, Ctrl+Shift+P",
        tr("Find commands, nodes, passes and tensors"), [this] { m_palette->openWith({}); });
    add("keys", help, tr("Keys"), "", "F1", tr("All keys"), [this] { m_keys->open(); });
    add("log", help, tr("Log"), "log", "Ctrl+L", tr("What the jobs said"),
        [this] { openOverlay(QStringLiteral("log")); });
    add("issues", help, tr("Issues"), "warning", "Ctrl+I", tr("Findings of the import"),
        [this] { showIssues(); });
    addLocalKeys();
}

void MainWindow::addPageActions()
{
    const auto add = [this](const char* id, const QString& text, const char* icon, const char* keys,
                            const QString& tip, std::function<void()> run) {
        m_actions.add({QLatin1String(id), tr("View"), text, QLatin1String(icon),
                       QLatin1String(keys), tip, std::move(run), false},
                      this);
    };
    const auto show = [this](const char* name) {
        return [this, name] { showPerspective(QLatin1String(name)); };
    };
    Trail* trail = makeTrail(*this, *m_title);
    add("back", tr("Back"), "", "Alt+Left", tr("Where the selection was before"),
        [trail] { trail->step(-1); });
    add("forward", tr("Forward"), "", "Alt+Right", tr("Where one came back from"),
        [trail] { trail->step(1); });
    add("inspect", tr("Show Inspect"), "graph", "Alt+1", tr("The model as opened"),
        show("inspect"));
    add("passes", tr("Show Passes"), "passes", "Alt+2", tr("Step through the compiler's passes"),
        show("passes"));
    add("memory", tr("Show Memory"), "memory", "Alt+3", tr("Where every byte lives"),
        show("memory"));
    add("executors", tr("Show Executors"), "", "Alt+4",
        tr("Flash and RAM of the executors, side by side"), show("executors"));
    add("show-deploy", tr("Show Deploy"), "board", "Alt+5", tr("Boards, and what happened on them"),
        show("deploy"));
    add("timing", tr("Show Benchmark"), "timing", "Alt+6", tr("Measured times"), show("benchmark"));
}

void MainWindow::addBoardActions()
{
    const auto add = [this](const char* id, const QString& text, const char* icon, const char* keys,
                            const QString& tip, std::function<void()> run) {
        m_actions.add({QLatin1String(id), tr("Board"), text, QLatin1String(icon),
                       QLatin1String(keys), tip, std::move(run), false},
                      this);
    };
    m_actions.add({QStringLiteral("measure-executors"), tr("Model"), tr("Measure the executors"),
                   QString(), QStringLiteral("Ctrl+Shift+M"),
                   tr("Link an image with each executor and count its flash and RAM"),
                   [this] {
                       showPerspective(QStringLiteral("executors"));
                       m_executors.measure();
                   },
                   false},
                  this);
    add("choose-board", tr("Choose the board"), "board", "Ctrl+B",
        tr("What everything is compiled for and measured on"), [this] { showBoards(); });
    add("add-board", tr("Add board…"), "", "", tr("A board reached by SSH, RPC or a tracker"),
        [this] { m_addBoard->openForm(); });
    add("virtual-board", tr("Add a virtual Raspberry Pi"), "", "",
        tr("A Raspberry Pi 4 emulated on this computer, behind a real SSH server"),
        [this] { m_boards.addVirtual(QStringLiteral("rpi4")); });
    add("probe-board", tr("Probe the board"), "", "", tr("Ask the board what it is"),
        [this] { m_boards.probe(); });
    add("disconnect", tr("Disconnect from the board"), "", "",
        tr("End the kept connection; what was sent goes with it"),
        [this] { m_deploy.disconnectBoard(); });
    add("forget-board", tr("Forget the board"), "", "", tr("Take it out of the list"),
        [this] { m_forget->ask(); });
}

void MainWindow::openRecent(int number)
{
    if (number >= 1 && number <= m_settings.recents.size())
        openModel(m_settings.recents[number - 1]);
}

void MainWindow::addLocalKeys()
{
    const auto add = [this](const char* id, const QString& group, const QString& text,
                            const char* keys, std::function<void()> run) {
        m_actions.add(
            {QLatin1String(id), group, text, {}, QLatin1String(keys), text, std::move(run), true},
            this);
    };
    const QString passes = tr("Passes"), graph = tr("Graph");
    add("next-change", passes, tr("Next pass that changed something"), "F",
        [this] { m_passes.stepChanged(1); });
    add("previous-change", passes, tr("Previous pass that changed something"), "R",
        [this] { m_passes.stepChanged(-1); });
    add("next-pass", passes, tr("Next pass"), "PgDown", [this] { m_passes.step(1); });
    add("previous-pass", passes, tr("Previous pass"), "PgUp", [this] { m_passes.step(-1); });
    add("next-touching", passes, tr("Next pass touching the selection"), "]",
        [this] { m_passes.stepTouching(1); });
    add("previous-touching", passes, tr("Previous pass touching the selection"), "[",
        [this] { m_passes.stepTouching(-1); });
    add("diff-mode", passes, tr("Switch the diff: union, before | after, after"), "D",
        [this] { m_passes.cycleMode(); });
    add("pin-pass", passes, tr("Pin the shown pass for before | after"), "P",
        [this] { m_passes.togglePin(); });
    add("play-pass", passes, tr("Play how the pass changed the graph"), "M",
        [this] { m_passesPage->playPass(); });
    const auto withCanvas = [this](void (views::GraphCanvas::*act)()) {
        return [this, act] {
            if (auto* shown = canvas()) (shown->*act)();
        };
    };
    add("walk", graph, tr("Walk along edges"), "Arrows", {});
    add("walk-order", graph, tr("Walk in program order"), "Tab", {});
    add("fit-here", graph, tr("See all"), "Space", withCanvas(&views::GraphCanvas::fit));
    add("start", graph, tr("Go to the beginning of the graph"), "Home",
        withCanvas(&views::GraphCanvas::lookAtStart));
    add("zoom-selection", graph, tr("Zoom to the selection"), "Z",
        withCanvas(&views::GraphCanvas::zoomToSelection));
    add("zoom", graph, tr("Zoom"), "Ctrl+Wheel", {});
    add("expand", graph, tr("Expand or collapse the selected group"), "+  -",
        withCanvas(&views::GraphCanvas::toggleSelectedScope));
    add("collapse-all", graph, tr("Collapse all groups"), "",
        [this] { m_inspect.setAllCollapsed(true); });
    add("expand-all", graph, tr("Expand all groups"), "",
        [this] { m_inspect.setAllCollapsed(false); });
    add("table", graph, tr("Switch between graph and table"), "T",
        [this] { toggleTable(*this, *m_benchmarkPage); });
    add("figures", graph, tr("Switch the cards between times and expected errors"), "E",
        [this] { toggleFigures(*this); });
}

std::vector<ShortcutSheet::Row> MainWindow::keyRows() const
{
    // Commands of one kind share a row; those of an empty one are left out.
    std::map<QString, std::pair<QString, QString>> shared{
        {QStringLiteral("recent1"), {tr("Recent models"), QStringLiteral("Ctrl+1 … 9")}},
        {QStringLiteral("inspect"), {tr("The pages"), QStringLiteral("Alt+1 … 6")}},
        {QStringLiteral("back"), {tr("Back, forward"), QStringLiteral("Alt+Left  Alt+Right")}},
        {QStringLiteral("find-next"), {tr("Find next, previous"), QStringLiteral("F3  Shift+F3")}}};
    for (const char* second :
         {"forward", "find-previous", "passes", "memory", "executors", "show-deploy", "timing"})
        shared[QLatin1String(second)] = {};
    std::vector<ShortcutSheet::Row> rows;
    for (const ActionSpec& spec : m_actions.specs()) {
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

std::vector<PaletteEntry> MainWindow::nodeEntries()
{
    std::vector<PaletteEntry> entries;
    if (!m_workspace.document()) return entries;
    const core::Module& module =
        m_workspace.document()->version(static_cast<size_t>(m_passes.state().version));
    if (!module.mainId().isValid()) return entries;
    for (const core::NodeId id : module.main().order) {
        const core::NodeRecord& node = module.node(id);
        if (node.kind == core::NodeKind::Constant) continue;
        const QString title = views::titleOf(module, node);
        const QString name = node.name.empty() ? title : QString::fromStdString(node.name);
        entries.push_back({name, title, [this, id] { m_workspace.selection().seek(id); }});
    }
    return entries;
}

std::vector<PaletteSource> MainWindow::paletteSources()
{
    const auto commands = [this] {
        std::vector<PaletteEntry> entries;
        for (const ActionSpec& spec : m_actions.specs()) {
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
        for (const views::BoardRow& row : m_boards.model().rows())
            entries.push_back({tr("Use the board %1").arg(row.board.titleInText()),
                               views::boardStateText(row.state),
                               [this, name = row.board.name] { chooseBoard(name); },
                               m_boards.state().canChange});
        return entries;
    };
    const auto passes = [this] {
        std::vector<PaletteEntry> entries;
        if (!m_workspace.document()) return entries;
        const auto& steps = m_workspace.document()->passes;
        for (size_t i = 0; i < steps.size(); ++i)
            entries.push_back(
                {steps[i].name,
                 steps[i].isChanged
                     ? views::countOf(static_cast<qint64>(steps[i].changes.size()), tr("change"))
                     : tr("no change"),
                 [this, i] {
                     showPerspective(QStringLiteral("passes"));
                     m_passes.showVersion(static_cast<int>(i) + 1);
                 }});
        return entries;
    };
    const auto tensors = [this] {
        std::vector<PaletteEntry> entries;
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
            {QLatin1Char('@'), [this] { return nodeEntries(); }},
            {QLatin1Char('#'), passes},
            {QLatin1Char('$'), tensors}};
}

} // namespace tenon::app
