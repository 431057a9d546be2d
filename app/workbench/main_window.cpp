// SPDX-License-Identifier: GPL-3.0-or-later
// Composition of the window and what happens between its parts; actions are in
// window_actions.cpp.
#include "app/workbench/main_window.h"

#include "app/workbench/window_jumps.h"
#include "app/workbench/window_keys.h"
#include "views/frame/changed_note.h"
#include "views/frame/options_sheet.h"
#include "views/frame/project_sheet.h"
#include "views/frame/run_sheet.h"
#include "views/frame/target_sheet.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/common/plain_tips.h"
#include "views/pages/common/popup_menu.h"

#include <QApplication>
#include <QFileInfo>
#include <QKeyEvent>
#include <QPainter>
#include <QTimer>

#include <algorithm>
#include <map>

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
    , m_follow(m_passes, m_workspace.selection())
    , m_inspect(m_workspace.jobs(), m_workspace.selection())
    , m_inspector(m_workspace.engine(), m_workspace.jobs(), m_workspace.selection())
    , m_memory(m_workspace)
    , m_executors(m_workspace)
    , m_boardPrompt(m_workspace.jobs())
    , m_boards(m_workspace, m_boardPrompt)
    , m_deploy(m_workspace, m_boards, m_boardPrompt)
    , m_trial(m_workspace, m_boards, m_boardPrompt)
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
    bindPageKeys(*this);
    m_keys = new views::ShortcutSheet(m_themes, this, keyRows());
    m_log = new views::LogSheet(m_themes, this);
    m_palette = new views::CommandPalette(m_themes, this, paletteSources());
    m_addBoard = new views::AddBoardSheet(m_themes, m_boards, m_options.askForFile, this);
    m_forget = new views::ForgetSheet(m_themes, m_boards, this);
    new views::OptionsSheet(m_themes, m_workspace, this);
    new views::ProjectSheet(m_themes, m_workspace, m_options.askForFile, this);
    new views::TargetSheet(m_themes, m_workspace, m_boards, this);
    wireTrials();
    m_question = new views::QuestionSheet(m_themes, m_boardPrompt, this);
    hostExhibits(*this);
    new views::PlainTips(this);
    auto* keep = new QTimer(this); // a window that is killed loses seconds only
    connect(keep, &QTimer::timeout, this, &MainWindow::keepSession);
    keep->start(kKeepMs);
    applyTheme();
    refresh();
    setFocusPolicy(Qt::ClickFocus); // keys work at once; Tab stops at what can be seen to have it
    setFocus();
    if (m_settings.problem.isEmpty()) return;
    m_workspace.jobs().addLog(m_settings.problem);
    m_workspace.report(tr("About the settings"), core::makeError(core::DiagnosticCode::IoFailure,
                                                                 m_settings.problem.toStdString()));
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
    m_pages = views::makePages(
        {m_themes,
         m_workspace,
         m_passes,
         m_follow,
         m_inspect,
         m_inspector,
         m_memory,
         m_executors,
         m_boardPrompt,
         m_boards,
         m_deploy,
         {[this](const views::Export& what) { askToExport(what); },
          [this](const views::PathQuestion& asked, const std::function<void(QString)>& take) {
              const auto kind = asked.isFolder ? views::FileQuestion::Kind::Folder
                                               : views::FileQuestion::Kind::Open;
              m_options.askForFile(this, {kind, asked.title, asked.start, {}}, take);
          },
          [this] { showPage(views::pageOfModel(m_pages)); },
          [this] { showPage(views::pageOfSteps(m_pages)); },
          [this](const char* action) { m_actions.action(QLatin1String(action))->trigger(); },
          [this] { noteChange(); }}});
}

void MainWindow::buildFrame()
{
    QStringList titles;
    for (const views::Page& page : m_pages) titles << page.title;
    m_title = new views::TitleBar(m_themes, m_workspace, this);
    m_title->setPerspectives(titles);
    m_status = new views::StatusStrip(m_themes, m_workspace, m_passes, m_boards);
    m_banner = new views::Banner(m_themes);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_startPage);
    for (const views::Page& page : m_pages) m_stack->addWidget(page.widget);
    m_startPage->setRecents(m_settings.recents);
    m_startPage->setSample(m_options.samplePath);
    auto* middle = new QVBoxLayout;
    middle->setContentsMargins(views::kGutter, views::kGutter - 2, views::kGutter, views::kGutter);
    middle->setSpacing(views::kGutter);
    middle->addWidget(m_banner);
    middle->addWidget(new views::ChangedNote(m_themes, m_workspace));
    middle->addWidget(m_stack, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_title);
    layout->addLayout(middle, 1);
    layout->addWidget(m_status);
    for (auto* canvas : canvases()) canvas->setReducedMotion(m_settings.isMotionReduced);
    m_follow.setReducedMotion(m_settings.isMotionReduced);
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
    connect(&m_title->tabs(), &QTabBar::currentChanged, this, [this](int index) {
        if (index >= 0) showPage(m_pages[static_cast<size_t>(index)]);
    });
    connect(m_title, &views::TitleBar::menuRequested, this, &MainWindow::showMenu);
    connect(m_startPage, &views::StartPage::openRequested, this, &MainWindow::chooseFile);
    connect(m_startPage, &views::StartPage::pathChosen, this,
            [this](const QString& path) { openModel(path); });
    connect(m_banner, &views::Banner::dismissed, &m_workspace,
            &views::WorkspacePresenter::dismissBanner);
    const auto showIssues = [this] { m_actions.action(QStringLiteral("issues"))->trigger(); };
    connect(m_banner, &views::Banner::detailsRequested, this, showIssues);
    connect(m_banner, &views::Banner::nodeRequested, this, [this] {
        if (!canvas()) showPage(views::pageOfModel(m_pages));
        m_workspace.selection().seek(m_workspace.state().bannerNode);
    });
    connect(m_status, &views::StatusStrip::issuesRequested, this, showIssues);
    connect(m_status, &views::StatusStrip::logRequested, this,
            [this] { openOverlay(QStringLiteral("log")); });
    for (const views::Page& page : m_pages) {
        if (!page.inspector) continue;
        connect(page.inspector, &views::InspectorPanel::nodeRequested, this,
                [this](core::NodeId node) { m_workspace.selection().seek(node); });
        connect(page.inspector, &views::InspectorPanel::compileRequested, &m_workspace,
                &views::WorkspacePresenter::compile);
    }
    connect(&m_workspace.jobs(), &views::JobPresenter::logChanged, this, [this] {
        if (m_log && m_log->isVisible()) m_log->setLog(m_workspace.jobs().log());
    });
}

void MainWindow::takeDocument(bool isSameModel)
{
    if (m_workspace.document()->path != windowFilePath()) {
        for (auto* canvas : canvases()) canvas->forgetCamera();
        views::closeSheets(*this); // of the old model
    }
    setWindowFilePath(m_workspace.document()->path);
    m_inspector.setDocument(m_workspace.document());
    for (const views::Page& page : m_pages)
        if (page.setDocument) page.setDocument(isSameModel);
    const QString wanted = m_restoring ? m_restoring->perspective : m_pages.front().name;
    if (m_stack->currentWidget() == m_startPage) showPerspective(wanted);
    continueRestore();
}

void MainWindow::refresh()
{
    const views::WorkspaceState& state = m_workspace.state();
    m_banner->showMessage(state.bannerTitle, state.bannerText,
                          {state.bannerNode.isValid(), state.issueCount > 0});
    setWindowTitle(state.hasDocument ? tr("%1 — Tenon").arg(state.title) : tr("Tenon"));
    for (auto* canvas : canvases()) canvas->setNote(state.staleText);
    m_actions.refresh();
    // Presenters of pages that hear of the same change after this know more then.
    QTimer::singleShot(0, this, [this] { m_actions.refresh(); });
}

bool MainWindow::showPerspective(const QString& name)
{
    const auto found = std::find_if(m_pages.begin(), m_pages.end(), [&](const views::Page& page) {
        return page.name.compare(name, Qt::CaseInsensitive) == 0;
    });
    if (found == m_pages.end()) return false;
    showPage(*found);
    return true;
}

void MainWindow::showPage(const views::Page& page)
{
    if (const views::Page* before = shownPage(); before && before != &page && before->hidden)
        before->hidden();
    m_stack->setCurrentWidget(page.widget);
    m_status->setPositionShown(page.showsSteps);
    m_title->tabs().setCurrentIndex(static_cast<int>(&page - m_pages.data()));
    noteChange();
    if (page.focus) page.focus->setFocus();
    if (page.shown) page.shown();
}

/// The inspector says what the selected node is in the version that is looked at.
void MainWindow::noteChange()
{
    const views::Page* page = shownPage();
    if (page && m_workspace.document())
        m_inspector.setVersion(page->version ? page->version()
                                             : m_workspace.document()->versionCount() - 1);
    continueRestore();
}

const views::Page* MainWindow::shownPage() const
{
    for (const views::Page& page : m_pages)
        if (page.widget == m_stack->currentWidget()) return &page;
    return nullptr;
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
    const views::Page* page = shownPage();
    const core::NodeId node =
        page && page->findNode ? page->findNode(name) : m_passes.findNode(name);
    if (!node.isValid()) return false;
    m_workspace.selection().seek(node);
    return true;
}

void MainWindow::showCodeTab(const QString& name)
{
    for (const views::Page& page : m_pages)
        if (page.inspector) page.inspector->showTab(name);
}

views::GraphCanvas* MainWindow::canvas() const
{
    const views::Page* page = shownPage();
    return page ? page->canvas : nullptr;
}

std::vector<views::GraphCanvas*> MainWindow::canvases() const
{
    std::vector<views::GraphCanvas*> all;
    for (const views::Page& page : m_pages)
        if (page.canvas) all.push_back(page.canvas);
    return all;
}

bool MainWindow::isSettled() const
{
    return !m_restoring && !m_workspace.state().isBusy && !m_inspector.state().isLoading &&
           !m_boards.isBusy() &&
           std::all_of(m_pages.begin(), m_pages.end(),
                       [](const views::Page& page) { return !page.isSettled || page.isSettled(); });
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

void MainWindow::openOverlay(const QString& name)
{
    if (name == QLatin1String("keys")) m_keys->open();
    if (name == QLatin1String("palette")) m_palette->openWith({});
    if (name == QLatin1String("log")) {
        m_log->setLog(m_workspace.jobs().log());
        m_log->open();
    }
    if (name == QLatin1String("add-board")) m_addBoard->openForm();
    if (name == QLatin1String("options")) part<views::OptionsSheet>().openForm();
    if (name == QLatin1String("project")) part<views::ProjectSheet>().openForm();
    if (name == QLatin1String("try")) openTrial();
    if (name == QLatin1String("run")) part<views::RunSheet>().openRun(0);
    if (name == QLatin1String("target-editor")) part<views::TargetSheet>().openForm();
    if (name == QLatin1String("target")) m_title->target().showExplanation();
}

void MainWindow::showMenu(QPoint position)
{
    QMenu* menu = views::makePopupMenu(this);
    std::map<QString, QMenu*> groups; // in the order of their first action
    for (const views::ActionSpec& spec : m_actions.specs()) {
        if (spec.isLocal || spec.id.startsWith(QLatin1String("recent"))) continue;
        QMenu*& part = groups[spec.group];
        if (!part) part = menu->addMenu(spec.group);
        QAction* action = m_actions.action(spec.id);
        if (!spec.icon.isEmpty())
            action->setIcon(views::themedIcon(spec.icon, m_themes.theme().secondary));
        part->addAction(action);
        if (spec.id == QLatin1String("open")) addRecents(*part->addMenu(tr("Open recent")));
    }
    if (QMenu* help = groups[tr("Help")]) menu->addMenu(help); // moves it to the end
    menu->popup(position);
}

void MainWindow::addRecents(QMenu& menu)
{
    for (int i = 0; i < m_settings.recents.size(); ++i) {
        const QString path = m_settings.recents[i];
        QAction* action =
            menu.addAction(views::modelName(path), this, [this, path] { openModel(path); });
        action->setToolTip(path);
        constexpr int kKeys = 9;
        if (i < kKeys) action->setText(action->text() + QStringLiteral("\tCtrl+%1").arg(i + 1));
    }
    menu.menuAction()->setEnabled(!menu.isEmpty());
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
