// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Passes perspective and binds it to its presenter.
#include "views/pages/passes/passes_page.h"

#include "views/models/format.h"
#include "views/pages/common/columns.h"
#include "views/pages/common/graph_exhibit.h"
#include "views/pages/common/toggle_wrap.h"
#include "views/pages/page.h"
#include "views/presenters/workspace_presenter.h"

#include <QKeyEvent>
#include <QSignalBlocker>

namespace tenon::views {

PassesPage::PassesPage(const ThemeSource& themes, PassesPresenter& presenter,
                       FollowPresenter& follow, InspectorPresenter& inspector, QWidget* parent)
    : QWidget(parent)
    , m_presenter(presenter)
    , m_follow(follow)
{
    auto* middle = new QSplitter(Qt::Vertical);
    middle->setHandleWidth(kGutter);
    middle->addWidget(buildGraph(themes));
    middle->addWidget(buildLineage(themes));
    middle->setStretchFactor(0, 5);
    middle->setStretchFactor(1, 2);
    middle->setSizes({600, 300});
    m_inspector = new InspectorPanel(themes, inspector);
    m_columns = new Columns({{buildList(themes), 268}, {middle, 0}, {m_inspector, 364}});
    fillWith(*this, m_columns);
    connect(&presenter, &PassesPresenter::stateChanged, this, &PassesPage::refresh);
    connect(&presenter, &PassesPresenter::sceneChanged, this, &PassesPage::refreshScene);
    connect(&presenter, &PassesPresenter::selectionMoved, this, [this](int place) {
        m_canvas->selectPlace(place);
        m_canvas->reveal(place);
    });
    connect(&follow, &FollowPresenter::stateChanged, this, &PassesPage::refreshFilm);
    refresh();
    refreshScene();
}

QWidget* PassesPage::buildList(const ThemeSource& themes)
{
    m_listPanel = new Panel(themes, tr("Passes"));
    m_listPanel->setMinimumWidth(210);
    m_filter = new QLineEdit;
    m_filter->setPlaceholderText(tr("filter by name or rule"));
    m_filter->setToolTip(tr("Words of names or rules; touched:selection keeps the passes that "
                            "touched the selected node"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter passes"));
    m_list = new PassList(themes, &m_presenter.passes());
    m_list->installEventFilter(this);
    auto* keys =
        new ThemedLabel(themes, ThemedLabel::Role::Faint, tr("F next   R previous   [ ] touching"));
    keys->setElision(Elision::Words);
    auto* content = m_listPanel->content();
    content->setContentsMargins(10, 0, 10, 10);
    content->addWidget(m_filter);
    content->addWidget(m_list, 1);
    content->addWidget(keys);
    connect(m_filter, &QLineEdit::textChanged, &m_presenter, &PassesPresenter::setFilter);
    connect(m_list, &PassList::versionChosen, &m_presenter, &PassesPresenter::showVersion);
    return m_listPanel;
}

QWidget* PassesPage::buildGraph(const ThemeSource& themes)
{
    m_graphPanel = new Panel(themes);
    m_heat = new HeatStrip(themes);
    m_canvas = new GraphCanvas(themes.theme());
    m_canvas->setEmptyText(tr("The passes will appear here"),
                           tr("Open a model: every pass of the pipeline becomes one step, and each "
                              "step shows exactly which nodes became which."));
    m_canvas->installEventFilter(this);
    m_graphPanel->content()->setContentsMargins(8, 0, 8, 8);
    m_graphPanel->content()->addWidget(m_heat);
    m_rows = makeSceneTable(this);
    m_graphTwin = new TableTwin(themes, m_canvas, m_rows, tr("Graph"));
    m_graphTwin->table().setColumnWidths({170, 0, 0, 170, 84, 84});
    m_graphPanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    buildComparison(themes);
    m_colours = new ColourButton(themes);
    m_graphPanel->header()->addWidget(m_colours);
    m_graphPanel->header()->addWidget(m_graphTwin->button());
    m_graphPanel->foldHeader({m_graphTwin->button(), m_scrubber, m_play, m_colours});
    m_graphPanel->content()->addWidget(m_graphTwin, 1);
    connect(m_colours, &ColourButton::chosen, &m_presenter, &PassesPresenter::setLooks);
    exhibitGraph(*m_canvas, m_graphTwin->exhibit());
    m_graphTwin->exhibit().setFill([this] { m_rows->setRows(sceneRows(*m_presenter.scene())); });
    connect(m_graphTwin, &TableTwin::toggled, this, &PassesPage::refreshScene);
    connect(&m_graphTwin->table(), &DataTable::nodeRequested, this, [this](qint64 node) {
        m_presenter.seekNode(core::NodeId(static_cast<uint32_t>(node)));
    });
    connect(&themes, &ThemeSource::changed, m_canvas,
            [this, &themes] { m_canvas->setTheme(themes.theme()); });
    connect(m_heat, &HeatStrip::placeChosen, this, [this](int place) { m_canvas->reveal(place); });
    connect(m_canvas, &GraphCanvas::placeSelected, &m_presenter, &PassesPresenter::selectPlace);
    connect(m_canvas, &GraphCanvas::placeOpened, this,
            [this] { m_inspector->showTab(QStringLiteral("members")); });
    return m_graphPanel;
}

/// What a pass is compared with, and how.
void PassesPage::buildComparison(const ThemeSource& themes)
{
    m_modes = new PillTabs(themes, PillTabs::Size::Small);
    for (const QString& mode : {tr("Union"), tr("Split"), tr("After")}) m_modes->addTab(mode);
    m_modes->setAccessibleName(tr("How a pass is shown"));
    m_pin = new PillButton(themes, PillButton::Look::Plain, tr("pinned  ✕"));
    m_graphPanel->header()->addWidget(m_pin);
    buildScrubber(themes);
    m_graphPanel->header()->addWidget(m_modes);
    connect(m_modes, &QTabBar::currentChanged, this,
            [this](int mode) { m_presenter.setMode(static_cast<DiffMode>(mode)); });
    connect(m_pin, &QPushButton::clicked, &m_presenter, &PassesPresenter::unpin);
}

QWidget* PassesPage::buildLineage(const ThemeSource& themes)
{
    m_lineagePanel = new Panel(themes, tr("Lineage"));
    m_lineage = new LineageStrip(themes);
    m_deltas = new DataTable(themes, &m_presenter.deltas());
    m_deltas->setColumnWidths({118, 132, 54, 72, 0});
    m_deltas->setAccessibleName(tr("Changes of this pass"));
    m_touches = makeTouchTable(this);
    m_lineageTwin = new TableTwin(themes, m_lineage, m_touches, tr("Timeline"));
    m_lineageTwin->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_lineagePanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_lineagePanel->header()->addWidget(m_lineageTwin->button());
    connect(&m_lineageTwin->table(), &QTableView::clicked, this, [this](const QModelIndex& row) {
        m_presenter.showVersion(row.data(FigureRole).toInt());
    });
    m_lineagePanel->content()->addWidget(m_lineageTwin);
    m_lineagePanel->content()->addWidget(buildFilm(themes));
    m_lineagePanel->content()->addWidget(m_deltas, 1);
    connect(m_lineage, &LineageStrip::versionChosen, &m_presenter, &PassesPresenter::showVersion);
    connect(m_deltas, &DataTable::nodeRequested, this, [this](qint64 node) {
        m_presenter.seekNode(core::NodeId(static_cast<uint32_t>(node)));
    });
    return m_lineagePanel;
}

QWidget* PassesPage::buildFilm(const ThemeSource& themes)
{
    m_film = new FilmStrip(themes, &m_follow.film());
    m_filmTwin = new TableTwin(themes, m_film, &m_follow.film(), tr("Film"));
    m_filmTwin->setFixedHeight(m_film->sizeHint().height());
    m_filmTwin->table().setColumnWidths({150, 210, 0, 210});
    m_filmButton = new PillButton(themes, PillButton::Look::Quiet, tr("Film"));
    m_filmButton->setToolTip(tr("What every pass made of the selected node (W)"));
    m_lineagePanel->header()->addWidget(m_filmButton);
    m_lineagePanel->header()->addWidget(m_filmTwin->button());
    m_filmTwin->hide();
    m_filmTwin->button()->hide();
    connect(m_filmButton, &QPushButton::clicked, this, &PassesPage::toggleFilm);
    connect(m_film, &FilmStrip::frameChosen, &m_follow, &FollowPresenter::showFrame);
    connect(&m_filmTwin->table(), &QTableView::clicked, this,
            [this](const QModelIndex& row) { m_follow.showFrame(m_filmTwin->table().rowOf(row)); });
    return m_filmTwin;
}

void PassesPage::toggleFilm()
{
    m_isFilm = !m_isFilm;
    m_filmButton->setText(m_isFilm ? tr("Timeline") : tr("Film"));
    m_lineageTwin->setVisible(!m_isFilm);
    m_lineageTwin->button()->setVisible(!m_isFilm);
    m_filmTwin->setVisible(m_isFilm);
    m_filmTwin->button()->setVisible(m_isFilm);
    m_follow.setLookedAt(m_isFilm);
    refresh();
    refreshFilm();
}

void PassesPage::refreshFilm()
{
    const FollowState& state = m_follow.state();
    if (m_follow.isPlaying() && !m_isFilm) toggleFilm();
    if (!m_isFilm) return;
    m_lineagePanel->setTitle(state.name.isEmpty() ? tr("Where did it go?")
                                                  : tr("Where did %1 go?").arg(state.name));
    m_lineagePanel->setCaption(state.answer);
    m_film->showFrame(state.frame);
}

void PassesPage::refresh()
{
    const PassesState& state = m_presenter.state();
    m_listPanel->setCaption(state.countText);
    m_colours->setChoice(m_presenter.document(), m_presenter.looks());
    m_graphPanel->setTitle(state.comparison.isEmpty() ? state.title : state.comparison);
    m_graphPanel->setCaption(
        state.isReady && state.pinText.isEmpty() ? tr("D diff  ·  P pin  ·  M play") : QString());
    m_modes->setVisible(state.isReady);
    m_modes->setCurrentIndex(static_cast<int>(state.mode));
    m_pin->setVisible(!state.pinText.isEmpty());
    m_pin->setToolTip(tr("Everything is compared with %1; a click takes the pin away (P there)")
                          .arg(state.pinText));
    m_list->showCurrent(m_presenter.passes().indexOfVersion(state.version));
    m_heat->setCells(m_presenter.heat());
    if (!m_isFilm) refreshLineage();
    if (m_canvas->selectedPlace() != state.selected) m_canvas->selectPlace(state.selected);
}

void PassesPage::refreshLineage()
{
    const PassesState& state = m_presenter.state();
    const Lineage& lineage = m_presenter.lineage();
    m_lineagePanel->setTitle(lineage.title.isEmpty() ? tr("Lineage")
                                                     : tr("Lineage of %1").arg(lineage.title));
    m_lineagePanel->setCaption(
        lineage.sourceCount > 0 ? tr("from %1").arg(countOf(lineage.sourceCount, tr("source node")))
                                : QString());
    m_lineage->setLineage(lineage, state.versionCount, state.version, m_presenter.passNames());
    m_touches->setRows(touchRows(lineage, m_presenter.passNames()));
}

void PassesPage::refreshScene()
{
    const QSignalBlocker blocker(m_scrubber); // another pass, or another way to see it
    m_scrubber->setValue(m_scrubber->maximum());
    m_scrubbed.reset();
    m_canvas->setScene(m_presenter.scene());
    m_rows->setRows(m_graphTwin->isTable() ? sceneRows(*m_presenter.scene())
                                           : std::vector<SceneRow>());
    fitDeltas();
}

/// As wide as they need, and no wider than leaves room for the others.
void PassesPage::fitDeltas()
{
    constexpr int kRule = 0, kPlace = 1, kWidestRule = 190, kWidestPlace = 300, kOthers = 230;
    m_deltas->fitColumn(kRule, kWidestRule);
    const int left = m_deltas->viewport()->width() - m_deltas->columnWidth(kRule) - kOthers;
    m_deltas->fitColumn(kPlace, std::min(kWidestPlace, left));
}

bool PassesPage::handleKey(QKeyEvent* event)
{
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))
        return false;
    switch (event->key()) {
    case Qt::Key_PageDown: m_presenter.step(1); return true;
    case Qt::Key_PageUp: m_presenter.step(-1); return true;
    default: return false;
    }
}

void PassesPage::keyPressEvent(QKeyEvent* event)
{
    if (!handleKey(event)) QWidget::keyPressEvent(event);
}

bool PassesPage::eventFilter(QObject* watched, QEvent* event)
{
    // The list would scroll, and the canvas would not see the stepping keys.
    if (event->type() == QEvent::KeyPress && handleKey(static_cast<QKeyEvent*>(event))) return true;
    return QWidget::eventFilter(watched, event);
}

namespace {

std::vector<ActionSpec> actionsOf(PassesPage& page, PassesPresenter& presenter,
                                  NumbersPresenter& numbers)
{
    const QString group = PassesPage::tr("Passes");
    const auto local = [&](const char* id, const QString& text, const char* keys,
                           std::function<void()> run) {
        return ActionSpec{QLatin1String(id),   group, text,           {},
                          QLatin1String(keys), text,  std::move(run), true};
    };
    PassesPresenter* p = &presenter;
    return {local("next-change", PassesPage::tr("Next pass that changed something"), "F",
                  [p] { p->stepChanged(1); }),
            local("previous-change", PassesPage::tr("Previous pass that changed something"), "R",
                  [p] { p->stepChanged(-1); }),
            local("next-pass", PassesPage::tr("Next pass"), "PgDown", [p] { p->step(1); }),
            local("previous-pass", PassesPage::tr("Previous pass"), "PgUp", [p] { p->step(-1); }),
            local("next-touching", PassesPage::tr("Next pass touching the selection"), "]",
                  [p] { p->stepTouching(1); }),
            local("previous-touching", PassesPage::tr("Previous pass touching the selection"), "[",
                  [p] { p->stepTouching(-1); }),
            local("diff-mode", PassesPage::tr("Switch the diff: union, before | after, after"), "D",
                  [p] { p->cycleMode(); }),
            local("pin-pass", PassesPage::tr("Pin the shown pass for before | after"), "P",
                  [p] { p->togglePin(); }),
            local("play-pass", PassesPage::tr("Play how the pass changed the graph"), "M",
                  [&page] { page.playPass(); }),
            local("follow", PassesPage::tr("Where did it go? The node in every pass"), "W",
                  [&page] { page.toggleFilm(); }),
            {"check-numbers",
             PassesPage::tr("Model"),
             PassesPage::tr("Check the numbers behind every pass"),
             {},
             {},
             PassesPage::tr("Evaluates the model behind every pass and compares the results"),
             [&numbers] { numbers.check(); },
             false,
             [&numbers] { return numbers.state().canCheck; },
             ActsOn::ItsPage},
            tableAction([&page] { page.graphTwin().toggle(); }),
            figuresAction([p] { p->toggleFigure(); }),
            colourAction([p] { p->cycleColouring(); }),
            wrapAction([p, &page] { toggleWrap(*p, page.canvas()); })};
}

} // namespace

namespace {

std::vector<ActionSpec> withSteps(std::vector<ActionSpec> actions, StepsPresenter& steps)
{
    const QString group = PassesPage::tr("Passes");
    actions.push_back({"step-inside",
                       group,
                       PassesPage::tr("Step inside the pass, rewrite by rewrite"),
                       {},
                       "I",
                       PassesPage::tr("Every rewrite of the shown pass becomes a step of its own"),
                       [&steps] { steps.enter(); },
                       true});
    actions.push_back({"step-outside",
                       group,
                       PassesPage::tr("Whole passes again"),
                       {},
                       "Shift+I",
                       PassesPage::tr("One step for each pass"),
                       [&steps] { steps.leave(); },
                       true});
    return actions;
}

} // namespace

Page makePassesPage(const PageContext& context)
{
    WorkspacePresenter& workspace = context.workspace;
    PassesPresenter& presenter = context.passes;
    auto* page = new PassesPage(context.themes, presenter, context.follow, context.inspector);
    auto* numbers = new NumbersPresenter(workspace, page);
    page->showNumbers(context.themes, *numbers);
    auto* steps = new StepsPresenter(workspace, presenter, page);
    page->showSteps(context.themes, *steps);
    for (auto change : {&PassesPresenter::sceneChanged, &PassesPresenter::stateChanged})
        QObject::connect(&presenter, change, page, context.host.noteChange);
    return {.name = QStringLiteral("passes"),
            .title = PassesPage::tr("Passes"),
            .icon = QStringLiteral("passes"),
            .tip = PassesPage::tr("Step through the compiler's passes"),
            .widget = page,
            .focus = &page->canvas(),
            .canvas = &page->canvas(),
            .inspector = &page->inspectorPanel(),
            .showsSteps = true,
            .setDocument =
                [page, &workspace, &presenter](bool isSameModel) {
                    if (presenter.state().versionCount <= 1) // no passes yet
                        page->canvas().forgetCamera();
                    presenter.setDocument(workspace.document(), isSameModel);
                },
            .version = [&presenter] { return static_cast<size_t>(presenter.state().version); },
            .findNode = [&presenter](const QString& name) { return presenter.findNode(name); },
            .shown = [&presenter] { presenter.setLookedAt(true); },
            .hidden = [&presenter] { presenter.setLookedAt(false); },
            .isSettled = [&workspace,
                          &presenter] { return !workspace.document() || presenter.isArranged(); },
            .actions = withSteps(actionsOf(*page, presenter, *numbers), *steps)};
}

} // namespace tenon::views
