// SPDX-License-Identifier: GPL-3.0-or-later
// Composition of the window and what happens between its parts; actions are in
// window_actions.cpp.
#include "app/workbench/main_window.h"

#include "app/workbench/changed_note.h"
#include "app/workbench/drop_hint.h"
#include "views/pages/common/popup_menu.h"

#include <QApplication>
#include <QFileInfo>
#include <QKeyEvent>
#include <QPainter>
#include <QTimer>

#include <algorithm>

namespace tenon::app {

namespace {

constexpr int kSmallestWidth = 980;
constexpr int kSmallestHeight = 620;
constexpr int kKeepMs = 5000;

} // namespace

MainWindow::MainWindow(views::Engine engine, Settings settings, const WindowOptions& options)
    : m_options(options)
    , m_settings(std::move(settings))
    , m_themes(options.isDark)
    , m_workspace(std::move(engine), options.threads)
    , m_passes(m_workspace.jobs(), m_workspace.selection())
    , m_inspect(m_workspace.jobs(), m_workspace.selection())
    , m_inspector(m_workspace.engine(), m_workspace.jobs(), m_workspace.selection())
    , m_memory(m_workspace)
    , m_executors(m_workspace)
    , m_boardPrompt(m_workspace.jobs())
    , m_boards(m_workspace, m_boardPrompt)
    , m_deploy(m_workspace, m_boards, m_boardPrompt)
{
    setObjectName(QStringLiteral("MainWindow"));
    setWindowTitle(tr("Tenon"));
    setWindowIcon(QIcon(QStringLiteral(":/icons/tenon.svg")));
    setMinimumSize(kSmallestWidth, kSmallestHeight);
    m_workspace.setTarget(m_settings.target);
    // Before the parts hear of it: a new style sheet takes back the palettes that they set.
    connect(&m_themes, &views::ThemeSource::changed, this, &MainWindow::applyTheme);
    buildPages();
    buildFrame();
    wire();
    wireBoards();
    addActions();
    m_keys = new ShortcutSheet(m_themes, this, keyRows());
    m_log = new LogSheet(m_themes, this);
    m_palette = new CommandPalette(m_themes, this, paletteSources());
    m_addBoard = new AddBoardSheet(m_themes, m_boards, m_options.askForFile, this);
    m_forget = new ForgetSheet(m_themes, m_boards, this);
    connect(new DropHint(m_themes, this), &DropHint::dropped, this,
            [this](const QString& path) { openModel(path); });
    m_question = new QuestionSheet(m_themes, m_boardPrompt, this);
    auto* keep = new QTimer(this); // a window that is killed loses seconds only
    connect(keep, &QTimer::timeout, this, &MainWindow::keepSession);
    keep->start(kKeepMs);
    applyTheme();
    refresh();
    setFocusPolicy(Qt::StrongFocus);
    setFocus();
    if (!m_settings.problem.isEmpty()) m_workspace.jobs().addLog(m_settings.problem);
}

/// Widgets go before what they look at: a child that loses the focus or hides on its way out still
/// asks presenters and themes, which are members and would be gone when QWidget deletes children.
MainWindow::~MainWindow()
{
    hide();
    while (auto* child = findChild<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) delete child;
}

void MainWindow::buildPages()
{
    m_startPage = new views::StartPage(m_themes);
    m_inspectPage = new views::InspectPage(m_themes, m_workspace, m_inspect, m_inspector);
    m_passesPage = new views::PassesPage(m_themes, m_passes, m_inspector);
    m_memoryPage = new views::MemoryPage(m_themes, m_workspace, m_memory);
    m_executorsPage = new views::ExecutorsPage(m_themes, m_workspace, m_executors);
    m_deployPage = new views::DeployPage(m_themes, m_workspace, m_boards, m_deploy);
    m_benchmarkPage = new views::BenchmarkPage(m_themes, m_workspace, m_inspector);
    m_pages = {{QStringLiteral("inspect"), tr("Inspect"), m_inspectPage},
               {QStringLiteral("passes"), tr("Passes"), m_passesPage},
               {QStringLiteral("memory"), tr("Memory"), m_memoryPage},
               {QStringLiteral("executors"), tr("Executors"), m_executorsPage},
               {QStringLiteral("deploy"), tr("Deploy"), m_deployPage},
               {QStringLiteral("benchmark"), tr("Benchmark"), m_benchmarkPage}};
}

void MainWindow::buildFrame()
{
    QStringList titles;
    for (const PageEntry& entry : m_pages) titles << entry.title;
    m_title = new TitleBar(m_themes, m_workspace, this);
    m_title->setPerspectives(titles);
    m_status = new StatusStrip(m_themes, m_workspace, m_passes, m_boards);
    m_banner = new views::Banner(m_themes);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_startPage);
    for (const PageEntry& entry : m_pages) m_stack->addWidget(entry.page);
    m_startPage->setRecents(m_settings.recents);
    m_startPage->setSample(m_options.samplePath);
    auto* middle = new QVBoxLayout;
    middle->setContentsMargins(views::kGutter, views::kGutter - 2, views::kGutter, views::kGutter);
    middle->setSpacing(views::kGutter);
    middle->addWidget(m_banner);
    middle->addWidget(new ChangedNote(m_themes, m_workspace));
    middle->addWidget(m_stack, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_title);
    layout->addLayout(middle, 1);
    layout->addWidget(m_status);
    for (auto* canvas : {&m_inspectPage->canvas(), &m_passesPage->canvas()})
        canvas->setReducedMotion(m_settings.isMotionReduced);
}

void MainWindow::wire()
{
    connect(&m_workspace, &views::WorkspacePresenter::stateChanged, this, &MainWindow::refresh);
    connect(&m_workspace, &views::WorkspacePresenter::documentChanged, this,
            &MainWindow::takeDocument);
    connect(&m_workspace, &views::WorkspacePresenter::opened, this, [this](const QString& path) {
        m_settings.addRecent(QFileInfo(path).absoluteFilePath());
        m_startPage->setRecents(m_settings.recents);
        save();
    });
    connect(&m_workspace, &views::WorkspacePresenter::stateChanged, this,
            &MainWindow::continueRestore);
    connect(&m_passes, &views::PassesPresenter::sceneChanged, this, &MainWindow::continueRestore);
    connect(&m_inspect, &views::InspectPresenter::sceneChanged, this, &MainWindow::continueRestore);
    connect(&m_passes, &views::PassesPresenter::stateChanged, this, [this] {
        if (m_stack->currentWidget() == m_passesPage)
            m_inspector.setVersion(static_cast<size_t>(m_passes.state().version));
    });
    connect(&m_title->tabs(), &QTabBar::currentChanged, this,
            [this](int index) { showPerspective(perspectives().value(index)); });
    connect(m_title, &TitleBar::menuRequested, this, &MainWindow::showMenu);
    connect(m_startPage, &views::StartPage::openRequested, this, &MainWindow::chooseFile);
    connect(m_startPage, &views::StartPage::pathChosen, this,
            [this](const QString& path) { openModel(path); });
    connect(m_banner, &views::Banner::dismissed, &m_workspace,
            &views::WorkspacePresenter::dismissBanner);
    connect(m_banner, &views::Banner::detailsRequested, this, &MainWindow::showIssues);
    connect(m_banner, &views::Banner::nodeRequested, this, [this] {
        if (!canvas()) showPerspective(QStringLiteral("inspect"));
        m_workspace.selection().seek(m_workspace.state().bannerNode);
    });
    connect(m_status, &StatusStrip::issuesRequested, this, &MainWindow::showIssues);
    connect(m_status, &StatusStrip::logRequested, this,
            [this] { openOverlay(QStringLiteral("log")); });
    for (auto* panel : {&m_inspectPage->inspectorPanel(), &m_passesPage->inspectorPanel()}) {
        connect(panel, &views::InspectorPanel::nodeRequested, this,
                [this](core::NodeId node) { m_workspace.selection().seek(node); });
        connect(panel, &views::InspectorPanel::compileRequested, &m_workspace,
                &views::WorkspacePresenter::compile);
    }
    connect(m_memoryPage, &views::MemoryPage::graphRequested, this,
            [this] { showPerspective(QStringLiteral("passes")); });
    connect(&m_workspace.jobs(), &views::JobPresenter::logChanged, this, [this] {
        if (m_log && m_log->isVisible()) m_log->setLog(m_workspace.jobs().log());
    });
}

void MainWindow::takeDocument(bool isSameModel)
{
    const bool wasStart = m_stack->currentWidget() == m_startPage;
    if (m_workspace.document()->path != windowFilePath())
        for (auto* canvas : {&m_inspectPage->canvas(), &m_passesPage->canvas()})
            canvas->forgetCamera();
    if (m_passes.state().versionCount <= 1) m_passesPage->canvas().forgetCamera(); // no passes yet
    setWindowFilePath(m_workspace.document()->path);
    m_inspect.setDocument(m_workspace.document(), isSameModel);
    m_passes.setDocument(m_workspace.document(), isSameModel);
    m_inspector.setDocument(m_workspace.document());
    m_memory.setDocument(m_workspace.document());
    m_executors.setDocument(m_workspace.document());
    m_deploy.setDocument();
    if (wasStart) showPerspective(QStringLiteral("inspect"));
    continueRestore();
}

void MainWindow::refresh()
{
    const views::WorkspaceState& state = m_workspace.state();
    m_banner->showMessage(state.bannerTitle, state.bannerText,
                          {state.bannerNode.isValid(), state.issueCount > 0});
    setWindowTitle(state.hasDocument ? tr("%1 — Tenon").arg(state.title) : tr("Tenon"));
    for (auto* canvas : {&m_inspectPage->canvas(), &m_passesPage->canvas()})
        canvas->setNote(state.staleText);
    if (!m_palette) return;
    m_actions.setEnabled(QStringLiteral("compile"), state.canBuild);
    m_actions.setEnabled(QStringLiteral("save"), state.canBuild);
    m_actions.setEnabled(QStringLiteral("shapes"), state.hasDocument);
    m_actions.setEnabled(QStringLiteral("reload"), state.hasDocument && !state.isBusy);
    m_actions.setEnabled(QStringLiteral("measure-executors"),
                         state.canBuild && m_workspace.document()->isCompiled());
}

QStringList MainWindow::perspectives() const
{
    QStringList names;
    for (const PageEntry& entry : m_pages) names << entry.name;
    return names;
}

bool MainWindow::showPerspective(const QString& name)
{
    const auto found = std::find_if(m_pages.begin(), m_pages.end(), [&](const PageEntry& entry) {
        return entry.name.compare(name, Qt::CaseInsensitive) == 0;
    });
    if (found == m_pages.end()) return false;
    m_stack->setCurrentWidget(found->page);
    m_status->setPositionShown(found->page == m_passesPage);
    m_title->tabs().setCurrentIndex(static_cast<int>(found - m_pages.begin()));
    if (m_workspace.document())
        m_inspector.setVersion(
            found->page == m_passesPage    ? static_cast<size_t>(m_passes.state().version)
            : found->page == m_inspectPage ? m_inspect.version()
                                           : m_workspace.document()->versionCount() - 1);
    if (auto* shown = canvas())
        shown->setFocus();
    else if (found->page == m_benchmarkPage)
        m_benchmarkPage->table().setFocus();
    if (found->page == m_memoryPage) m_memoryPage->curve().setFocus();
    if (found->page == m_executorsPage) m_executorsPage->flash().setFocus();
    if (found->page == m_deployPage) {
        m_deployPage->boards().setFocus();
        m_boards.probeIfHere();
    }
    return true;
}

bool MainWindow::showPass(const QString& name)
{
    const int version = m_passes.versionOf(name);
    if (version < 0) return false;
    m_passes.showVersion(version);
    return true;
}

bool MainWindow::showDiff(const QString& name)
{
    const std::pair<QLatin1String, views::DiffMode> modes[] = {
        {QLatin1String("union"), views::DiffMode::Union},
        {QLatin1String("split"), views::DiffMode::Split},
        {QLatin1String("after"), views::DiffMode::After}};
    for (const auto& [known, mode] : modes) {
        if (name.compare(known, Qt::CaseInsensitive) != 0) continue;
        m_passes.setMode(mode);
        return true;
    }
    return false;
}

bool MainWindow::selectNode(const QString& name)
{
    const bool isInspect = m_stack->currentWidget() == m_inspectPage;
    const core::NodeId node = isInspect ? m_inspect.findNode(name) : m_passes.findNode(name);
    if (!node.isValid()) return false;
    m_workspace.selection().seek(node);
    return true;
}

void MainWindow::showCodeTab(const QString& name)
{
    m_inspectPage->inspectorPanel().showTab(name);
    m_passesPage->inspectorPanel().showTab(name);
}

views::GraphCanvas* MainWindow::canvas()
{
    if (m_stack->currentWidget() == m_inspectPage) return &m_inspectPage->canvas();
    if (m_stack->currentWidget() == m_passesPage) return &m_passesPage->canvas();
    return nullptr;
}

bool MainWindow::isSettled() const
{
    return !m_restoring && !m_workspace.state().isBusy && !m_inspector.state().isLoading &&
           !m_memory.state().isPlanning && !m_executors.state().isWorking && !m_boards.isBusy() &&
           !m_deploy.isLoading() &&
           (!m_workspace.document() || (m_passes.state().isReady && m_inspect.isReady()));
}

void MainWindow::setDark(bool isDark) { m_themes.setDark(isDark); }

void MainWindow::applyTheme()
{
    const views::Theme& t = m_themes.theme();
    qApp->setPalette(t.palette());
    qApp->setFont(t.body);
    qApp->setStyleSheet(t.styleSheet());
    setPalette(t.palette());
    update();
}

void MainWindow::showIssues()
{
    showPerspective(QStringLiteral("inspect"));
    m_inspectPage->showIssues();
}

void MainWindow::openOverlay(const QString& name)
{
    if (name == QLatin1String("keys")) m_keys->open();
    if (name == QLatin1String("palette")) m_palette->openWith({});
    if (name == QLatin1String("log")) {
        m_log->setLog(m_workspace.jobs().log());
        m_log->open();
    }
    if (name == QLatin1String("add-board")) m_addBoard->openForm();
    if (name == QLatin1String("target")) m_title->target().showExplanation();
}

void MainWindow::showMenu(QPoint position)
{
    QMenu* menu = views::makePopupMenu(this);
    QString group;
    for (const ActionSpec& spec : m_actions.specs()) {
        if (spec.isLocal || spec.id.startsWith(QLatin1String("recent"))) continue;
        if (!group.isEmpty() && spec.group != group) menu->addSeparator();
        group = spec.group;
        QAction* action = m_actions.action(spec.id);
        if (!spec.icon.isEmpty())
            action->setIcon(views::themedIcon(spec.icon, m_themes.theme().secondary));
        menu->addAction(action);
    }
    menu->popup(position);
}

void MainWindow::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_themes.theme().window);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    keepSession();
    QWidget::closeEvent(event);
}

void MainWindow::keyPressEvent(QKeyEvent* event)
{
    if (event->text() == QLatin1String("?")) return m_keys->open();
    QWidget::keyPressEvent(event);
}

} // namespace tenon::app
