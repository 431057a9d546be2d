// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Inspect perspective and binds it to its presenters.
#include "views/pages/inspect/inspect_page.h"

#include "views/pages/common/columns.h"
#include "views/pages/common/graph_exhibit.h"
#include "views/pages/common/toggle_wrap.h"
#include "views/pages/page.h"

namespace tenon::views {

InspectPage::InspectPage(const ThemeSource& themes, WorkspacePresenter& workspace,
                         InspectPresenter& presenter, InspectorPresenter& inspector,
                         QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_presenter(presenter)
{
    m_inspector = new InspectorPanel(themes, inspector);
    auto* model = buildModel(themes, workspace);
    auto* columns = new Columns({{model, 288}, {buildGraph(themes), 0}, {m_inspector, 364}});
    fillWith(*this, columns);
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &InspectPage::refresh);
    connect(&presenter, &InspectPresenter::sceneChanged, this, &InspectPage::refreshScene);
    connect(&presenter, &InspectPresenter::selectionMoved, this, [this](int place) {
        m_canvas->selectPlace(place);
        m_canvas->reveal(place);
    });
    refresh();
}

QWidget* InspectPage::buildModel(const ThemeSource& themes, WorkspacePresenter& workspace)
{
    m_modelPanel = new Panel(themes, tr("Model"));
    m_modelPanel->setMinimumWidth(220);
    m_facts = makeSentence(themes, ThemedLabel::Role::Secondary);
    m_operators = new DataTable(themes, &workspace.operators());
    m_operators->setColumnWidths({0, 84});
    m_operators->delegate().setBarColumn(1);
    m_operators->setAccessibleName(tr("Operators"));
    m_shapes = new ShapesField(themes, workspace);
    m_modelPanel->content()->addWidget(m_facts);
    m_modelPanel->content()->addWidget(m_shapes);
    m_modelPanel->content()->addWidget(m_operators, 1);
    m_issuesPanel = new Panel(themes, tr("Issues"));
    m_issues = new WrappedTable(themes, &workspace.issues(), {64, 0}, 1);
    m_issues->setColumnHidden(2, true);
    m_issues->setColumnHidden(3, true);
    m_issues->setAccessibleName(tr("Issues"));
    m_noIssues = new EmptyNotice(themes, tr("No issues"),
                                 tr("Unsupported operators and other findings of the import "
                                    "would stand here."),
                                 {});
    m_issuesPanel->content()->addWidget(m_issues, 1);
    m_issuesPanel->content()->addWidget(m_noIssues, 1);
    for (DataTable* table : {m_operators, static_cast<DataTable*>(m_issues)})
        connect(table, &DataTable::nodeRequested, &workspace.selection(), &Selection::seekRow);
    auto* rows = new QSplitter(Qt::Vertical);
    rows->setHandleWidth(kGutter);
    rows->addWidget(m_modelPanel);
    rows->addWidget(m_issuesPanel);
    rows->setStretchFactor(0, 3);
    rows->setStretchFactor(1, 1);
    rows->setSizes({560, 240});
    return rows;
}

QWidget* InspectPage::buildGraph(const ThemeSource& themes)
{
    m_graphPanel = new Panel(themes, tr("Graph"));
    m_find = new FindField(themes);
    m_find->setPlaceholderText(tr("find node"));
    m_find->setAccessibleName(tr("Find node"));
    m_collapse = new PillButton(themes, PillButton::Look::Quiet, tr("Collapse"));
    m_expand = new PillButton(themes, PillButton::Look::Quiet, tr("Expand"));
    m_colours = new ColourButton(themes);
    auto* header = m_graphPanel->header();
    header->setContentsMargins(kPanelMargin, 6, 10, 4);
    header->addWidget(m_colours);
    header->addWidget(m_collapse);
    header->addWidget(m_expand);
    header->addWidget(m_find);
    m_canvas = new GraphCanvas(themes.theme());
    m_canvas->setEmptyText(tr("The model's graph will appear here"),
                           tr("Drop a model file on the window or press Ctrl+O."));
    m_graphPanel->content()->setContentsMargins(8, 0, 8, 8);
    m_rows = makeSceneTable(this);
    m_graphTwin = new TableTwin(themes, m_canvas, m_rows, tr("Graph"));
    m_graphTwin->table().setColumnWidths({150, 0, 0, 130, 70, 84});
    header->insertWidget(header->count() - 1, m_graphTwin->button());
    m_graphPanel->foldHeader({m_expand, m_collapse, m_graphTwin->button()});
    exhibitGraph(*m_canvas, m_graphTwin->exhibit());
    m_graphTwin->exhibit().setFill([this] { m_rows->setRows(sceneRows(*m_presenter.scene())); });
    connect(m_graphTwin, &TableTwin::toggled, this, &InspectPage::refreshScene);
    connect(&m_graphTwin->table(), &DataTable::nodeRequested, &m_workspace.selection(),
            &Selection::seekRow);
    m_graphPanel->content()->addWidget(m_graphTwin, 1);
    connect(&themes, &ThemeSource::changed, m_canvas,
            [this, &themes] { m_canvas->setTheme(themes.theme()); });
    connect(m_canvas, &GraphCanvas::placeSelected, &m_presenter, &InspectPresenter::selectPlace);
    connect(m_canvas, &GraphCanvas::placeSelected, this, &InspectPage::showGroup);
    connect(m_canvas, &GraphCanvas::scopeToggled, &m_presenter, &InspectPresenter::toggleScope);
    connect(m_find, &QLineEdit::returnPressed, this, [this] { findNext(true); });
    connect(m_find, &QLineEdit::textChanged, this, &InspectPage::countFound);
    connect(&m_workspace.selection(), &Selection::changed, this, &InspectPage::countFound);
    connect(m_colours, &ColourButton::chosen, &m_presenter, &InspectPresenter::setLooks);
    connect(m_collapse, &QPushButton::clicked, this, [this] { m_presenter.setAllCollapsed(true); });
    connect(m_expand, &QPushButton::clicked, this, [this] { m_presenter.setAllCollapsed(false); });
    return m_graphPanel;
}

/// In a narrow window the field gives way before the title does.
void InspectPage::resizeEvent(QResizeEvent* event)
{
    constexpr int kNarrow = 1100, kNarrowFind = 96, kFind = 190;
    QWidget::resizeEvent(event);
    m_find->setFixedWidth(width() < kNarrow ? kNarrowFind : kFind);
}

void InspectPage::refresh()
{
    const WorkspaceState& state = m_workspace.state();
    m_facts->setText(state.hasDocument ? state.modelText : tr("No model is open."));
    m_issuesPanel->setCaption(state.issueCount > 0 ? QString::number(state.issueCount) : QString());
    m_issues->setVisible(state.issueCount > 0);
    m_noIssues->setVisible(state.issueCount == 0);
    m_colours->setChoice(m_workspace.document(), m_presenter.looks());
    m_collapse->setVisible(m_presenter.hasScopes());
    m_expand->setVisible(m_presenter.hasScopes());
}

void InspectPage::refreshScene()
{
    if (m_workspace.document()) m_canvas->setEmptyText(tr("The graph is being laid out"), {});
    m_canvas->setScene(m_presenter.scene());
    m_canvas->selectPlace(m_presenter.selectedPlace());
    countFound();
    m_rows->setRows(m_graphTwin->isTable() ? sceneRows(*m_presenter.scene())
                                           : std::vector<SceneRow>());
    showGroup();
    refresh();
}

/// A group is no node; the inspector says what it is all the same.
void InspectPage::showGroup()
{
    const int selected = m_canvas->selectedItem();
    const SceneItem* item =
        selected < 0 ? nullptr : &m_canvas->scene().items[static_cast<size_t>(selected)];
    const bool isGroup = item && item->isScope;
    m_inspector->setGroup(isGroup ? item->title : QString(), isGroup ? item->detail : QString());
}

void InspectPage::focusFind()
{
    m_find->setFocus(Qt::ShortcutFocusReason);
    m_find->selectAll();
}

void InspectPage::focusShapes() { m_shapes->ask(); }

void InspectPage::findNext(bool forward) { m_presenter.find(m_find->text(), forward); }

/// Nodes are walked only while something is sought.
void InspectPage::countFound()
{
    if (m_find->text().isEmpty()) return m_find->setFound({});
    const FoundNodes found = m_presenter.found(m_find->text());
    m_find->setFound({true, found.count, found.selected});
}

void InspectPage::showIssues() { m_issues->setFocus(Qt::ShortcutFocusReason); }

namespace {

std::vector<ActionSpec> actionsOf(InspectPage& page, InspectPresenter& presenter,
                                  const WorkspacePresenter& workspace)
{
    const QString view = InspectPage::tr("View"), graph = InspectPage::tr("Graph");
    const auto find = [&page](bool forward) {
        return [&page, forward] { page.findNext(forward); };
    };
    const auto groups = [&](const char* id, const QString& text, bool isCollapsed) {
        const auto run = [&presenter, isCollapsed] { presenter.setAllCollapsed(isCollapsed); };
        return ActionSpec{QLatin1String(id), graph, text, {}, {}, text, run, true};
    };
    return {
        {"shapes", InspectPage::tr("Model"), InspectPage::tr("Bind the open sizes"), "",
         "Ctrl+Shift+D", InspectPage::tr("What becomes of dimensions that the model leaves open"),
         [&page] { page.focusShapes(); }, false,
         [&workspace] { return workspace.state().hasDocument; }, ActsOn::ItsPage},
        {"find", view, {}, {}, {}, {}, [&page] { page.focusFind(); }, false, {}, ActsOn::ShownPage},
        {"find-next", view, InspectPage::tr("Find next"), "", "F3",
         InspectPage::tr("The next match"), find(true)},
        {"find-previous", view, InspectPage::tr("Find previous"), "", "Shift+F3",
         InspectPage::tr("The match before"), find(false)},
        {"issues",
         InspectPage::tr("Help"),
         InspectPage::tr("Issues"),
         "warning",
         "Ctrl+I",
         InspectPage::tr("Findings of the import"),
         [&page] { page.showIssues(); },
         false,
         {},
         ActsOn::ItsPage},
        groups("collapse-all", InspectPage::tr("Collapse all groups"), true),
        groups("expand-all", InspectPage::tr("Expand all groups"), false),
        tableAction([&page] { page.graphTwin().toggle(); }),
        figuresAction([&presenter] { presenter.toggleFigure(); }),
        colourAction([&presenter] { presenter.cycleColouring(); }),
        wrapAction([&presenter, &page] { toggleWrap(presenter, page.canvas()); })};
}

} // namespace

Page makeInspectPage(const PageContext& context)
{
    WorkspacePresenter& workspace = context.workspace;
    InspectPresenter& presenter = context.inspect;
    auto* page = new InspectPage(context.themes, workspace, presenter, context.inspector);
    QObject::connect(&presenter, &InspectPresenter::sceneChanged, page, context.host.noteChange);
    return {.name = QStringLiteral("inspect"),
            .title = InspectPage::tr("Inspect"),
            .icon = QStringLiteral("graph"),
            .tip = InspectPage::tr("The model as opened"),
            .widget = page,
            .focus = &page->canvas(),
            .canvas = &page->canvas(),
            .inspector = &page->inspectorPanel(),
            .setDocument =
                [&workspace, &presenter](bool isSameModel) {
                    presenter.setDocument(workspace.document(), isSameModel);
                },
            .version = [&presenter] { return presenter.version(); },
            .findNode = [&presenter](const QString& name) { return presenter.findNode(name); },
            .isSettled = [&workspace,
                          &presenter] { return !workspace.document() || presenter.isReady(); },
            .actions = actionsOf(*page, presenter, workspace)};
}

} // namespace tenon::views
