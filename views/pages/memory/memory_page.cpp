// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Memory perspective and binds it to its presenter.
#include "views/pages/memory/memory_page.h"

#include "views/pages/common/columns.h"
#include "views/pages/common/wrapped_table.h"
#include "views/pages/page.h"

#include <QHeaderView>

namespace tenon::views {

namespace {

constexpr qint64 kAlignments[] = {1, 16, 64, 128, 4096};
constexpr int kWhyHeight = 228;

Exhibit::Picture pictureOf(const Chart& chart)
{
    return {[&chart] { return QSizeF(chart.size()); },
            [&chart](QPainter& painter) { chart.paintOn(painter); }};
}

} // namespace

MemoryPage::MemoryPage(const ThemeSource& themes, WorkspacePresenter& workspace,
                       MemoryPresenter& presenter, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_presenter(presenter)
{
    auto* lower =
        makeSplitter(Qt::Horizontal, {buildMap(themes), buildPlanners(themes)}, {760, 390});
    lower->setStretchFactor(0, 1);
    lower->setStretchFactor(1, 0);
    auto* left = makeSplitter(Qt::Vertical, {buildCurve(themes), lower}, {400, 440});
    left->setStretchFactor(0, 1);
    left->setStretchFactor(1, 1);
    m_pages = new UntilCompiled(
        themes, workspace, tr("Memory"), new Columns({{left, 0}, {buildAlive(themes), 364}}),
        {tr("No memory plan yet"),
         tr("Of a model that is open and without errors, this page shows how many bytes are alive "
            "at every call, where every buffer lies, and how the planners compare with the lower "
            "bound.")});
    fillWith(*this, m_pages);
    connectParts();
    showPlan();
    refresh();
}

QWidget* MemoryPage::buildCurve(const ThemeSource& themes)
{
    m_curvePanel = new Panel(themes, tr("Live bytes in program order"));
    m_curve = new LiveChart(themes);
    m_peak = new PillButton(themes, PillButton::Look::Quiet, tr("Go to peak"));
    m_peak->setToolTip(tr("What is alive where the most is (K)"));
    m_curveTwin = new TableTwin(themes, m_curve, &m_presenter.live(), tr("Chart"));
    m_curveTwin->table().setColumnWidths({60, 0, 0, 150});
    m_curveTwin->table().delegate().setBarColumn(3, 90);
    m_curveTwin->exhibit().setPicture(pictureOf(*m_curve));
    m_curvePanel->header()->addWidget(m_peak);
    m_curvePanel->header()->addWidget(m_curveTwin->button());
    m_curvePanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_curvePanel->content()->addWidget(m_curveTwin, 1);
    return m_curvePanel;
}

QWidget* MemoryPage::buildMap(const ThemeSource& themes)
{
    m_mapPanel = new Panel(themes, tr("Placement"));
    m_map = new PlacementChart(themes);
    m_table = new DataTable(themes, &m_presenter.buffers());
    m_table->setColumnWidths({50, 0, 170, 66, 84, 84, 60, 120});
    m_table->delegate().setBarColumn(-1);
    m_table->setAccessibleName(tr("Buffers of the arena"));
    auto* exhibit = new Exhibit(*m_map, m_table->model());
    exhibit->setPicture(pictureOf(*m_map));
    exhibit->setNodeAt([this](QPoint at) { return nodeOfBuffer(m_map->rowAt(at)); });
    m_mapStack = new QStackedWidget;
    m_mapStack->addWidget(m_map);
    m_mapStack->addWidget(m_table);
    m_mapTabs = new PillTabs(themes, PillTabs::Size::Small);
    m_mapTabs->addTab(tr("Map"));
    m_mapTabs->addTab(tr("Table"));
    m_mapTabs->setAccessibleName(tr("Map or table"));
    m_mapPanel->header()->addWidget(m_mapTabs);
    m_mapPanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_mapPanel->content()->addWidget(m_mapStack, 1);
    return m_mapPanel;
}

QWidget* MemoryPage::buildPlanners(const ThemeSource& themes)
{
    m_plannersPanel = new Panel(themes, tr("Planners"));
    m_plannersPanel->setMinimumWidth(330);
    m_planners = new PlannerList(themes, &m_presenter.planners());
    m_plannersPanel->content()->setContentsMargins(8, 0, 8, 10);
    m_plannersPanel->content()->addWidget(m_planners);
    m_plannersPanel->content()->addSpacing(8);
    m_plannersPanel->content()->addWidget(buildWhatIfs(themes));
    m_plannersPanel->content()->addStretch(1);
    return m_plannersPanel;
}

QWidget* MemoryPage::buildWhatIfs(const ThemeSource& themes)
{
    using Role = ThemedLabel::Role;
    auto* part = new QWidget;
    m_alignments = new PillTabs(themes, PillTabs::Size::Small);
    for (const qint64 bytes : kAlignments) m_alignments->addTab(QString::number(bytes));
    m_alignments->setAccessibleName(tr("Alignment in bytes"));
    m_pools = new QLineEdit;
    m_pools->setPlaceholderText(QStringLiteral("DTCM=128KiB,SRAM"));
    m_pools->setToolTip(tr("Pools in order of preference, each NAME=BYTES or NAME without limit; "
                           "empty: one pool without limit"));
    m_pools->setAccessibleName(tr("Workspace pools"));
    m_pools->setClearButtonEnabled(true);
    m_problem = new ThemedLabel(themes, Role::Error);
    m_problem->setWordWrap(true);
    m_dropWhatIf = new PillButton(themes, PillButton::Look::Quiet, tr("Back to the compiled plan"));
    auto* title = new QHBoxLayout;
    title->addWidget(new ThemedLabel(themes, Role::Strong, tr("What if")), 1);
    title->addWidget(m_dropWhatIf);
    auto* rows = new QGridLayout;
    rows->setHorizontalSpacing(12);
    rows->setVerticalSpacing(6);
    rows->setColumnStretch(1, 1);
    rows->addWidget(new ThemedLabel(themes, Role::Secondary, tr("alignment")), 0, 0);
    rows->addWidget(m_alignments, 0, 1, Qt::AlignRight);
    rows->addWidget(new ThemedLabel(themes, Role::Secondary, tr("pools")), 1, 0);
    rows->addWidget(m_pools, 1, 1);
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(10, 4, 6, 0);
    layout->setSpacing(6);
    layout->addLayout(title);
    layout->addLayout(rows);
    layout->addWidget(m_problem);
    return part;
}

QWidget* MemoryPage::buildAlive(const ThemeSource& themes)
{
    using Role = ThemedLabel::Role;
    m_alivePanel = new Panel(themes, tr("Alive"));
    m_alivePanel->setMinimumWidth(280);
    m_alive = new AliveList(themes, &m_presenter.alive());
    m_whyTitle = new ThemedLabel(themes, Role::Strong);
    m_whyTitle->setElision(Elision::Title);
    m_whyHint = new ThemedLabel(themes, Role::Secondary,
                                tr("Select a buffer, here or in the map, to see who writes it and "
                                   "who still needs it."));
    m_whyHint->setWordWrap(true);
    m_showOnGraph = new PillButton(themes, PillButton::Look::Quiet, tr("Show on graph"));
    m_why = new WrappedTable(themes, &m_presenter.why(), {92, 0}, 1);
    m_why->horizontalHeader()->hide();
    m_why->setMinimumHeight(kWhyHeight);
    m_why->setAccessibleName(tr("Why the buffer is alive"));
    auto* title = new QHBoxLayout;
    title->setContentsMargins(8, 0, 0, 0);
    title->addWidget(m_whyTitle, 1);
    title->addWidget(m_showOnGraph);
    auto* hint = new QHBoxLayout;
    hint->setContentsMargins(8, 0, 8, 8);
    hint->addWidget(m_whyHint);
    m_alivePanel->content()->setContentsMargins(6, 0, 6, 8);
    m_alivePanel->content()->addWidget(m_alive, 3);
    m_alivePanel->content()->addLayout(title);
    m_alivePanel->content()->addLayout(hint);
    m_alivePanel->content()->addWidget(m_why, 2);
    return m_alivePanel;
}

void MemoryPage::connectParts()
{
    MemoryPresenter& p = m_presenter;
    connect(&p, &MemoryPresenter::planChanged, this, &MemoryPage::showPlan);
    connect(&p, &MemoryPresenter::stateChanged, this, &MemoryPage::refresh);
    connect(&m_workspace, &WorkspacePresenter::stateChanged, this, &MemoryPage::refresh);
    connect(m_curve, &LiveChart::callRequested, &p, &MemoryPresenter::showCall);
    connect(&m_curveTwin->table(), &QTableView::clicked, this, [this](const QModelIndex& row) {
        m_presenter.showCall(m_curveTwin->table().rowOf(row));
    });
    connect(m_peak, &QPushButton::clicked, &p, &MemoryPresenter::showPeak);
    connect(m_map, &PlacementChart::bufferRequested, &p, &MemoryPresenter::selectBuffer);
    connect(m_alive, &AliveList::bufferRequested, &p, &MemoryPresenter::selectBuffer);
    connect(m_planners, &PlannerList::chosen, &p, &MemoryPresenter::choosePlanner);
    connect(m_curve, &Chart::rangeChanged, m_map, &Chart::showRange);
    connect(m_map, &Chart::rangeChanged, m_curve, &Chart::showRange);
    connect(m_mapTabs, &QTabBar::currentChanged, m_mapStack, &QStackedWidget::setCurrentIndex);
    const auto select = [this](const QModelIndex& index) {
        m_presenter.selectBuffer(m_table->rowOf(index));
    };
    connect(m_table, &QTableView::clicked, this, select);
    connect(m_table, &QTableView::activated, this, select);
    connect(m_why, &DataTable::nodeRequested, this, [this](qint64 node) {
        m_workspace.selection().select(core::NodeId(static_cast<uint32_t>(node)));
    });
    connect(m_showOnGraph, &QPushButton::clicked, this, &MemoryPage::graphRequested);
    connect(m_alignments, &QTabBar::currentChanged, this, [this](int index) {
        if (index >= 0) m_presenter.setAlignment(kAlignments[index]);
    });
    connect(m_pools, &QLineEdit::editingFinished, this,
            [this] { m_presenter.setPools(m_pools->text()); });
    connect(m_dropWhatIf, &QPushButton::clicked, this, [this] {
        m_pools->clear();
        m_presenter.dropWhatIf();
    });
}

core::NodeId MemoryPage::nodeOfBuffer(int row) const
{
    const auto& rows = m_presenter.placements();
    return row >= 0 && static_cast<size_t>(row) < rows.size() ? rows[static_cast<size_t>(row)].node
                                                              : core::NodeId();
}

void MemoryPage::showPlan()
{
    const MemoryState& state = m_presenter.state();
    m_pages->showContent(state.hasPlan);
    if (!state.hasPlan) return;
    m_curve->setCurve(m_presenter.curve(), [this](int call) { return m_presenter.callName(call); });
    m_map->setPlacements(m_presenter.placements(), m_presenter.bands(), state.callCount);
    refreshSelection();
}

void MemoryPage::refresh()
{
    const MemoryState& state = m_presenter.state();
    m_curvePanel->setCaption(state.curveCaption);
    m_mapPanel->setCaption(state.mapCaption);
    m_plannersPanel->setCaption(state.plannersCaption);
    m_alivePanel->setTitle(state.aliveTitle);
    m_alivePanel->setCaption(state.aliveCaption);
    m_problem->setText(state.problem);
    m_problem->setVisible(!state.problem.isEmpty());
    m_dropWhatIf->setVisible(state.isWhatIf || !state.problem.isEmpty());
    for (int i = 0; i < m_alignments->count(); ++i)
        if (kAlignments[i] == state.question.alignment) m_alignments->setCurrentIndex(i);
    refreshSelection();
}

void MemoryPage::refreshSelection()
{
    const MemoryState& state = m_presenter.state();
    m_curve->setCall(state.call);
    m_map->setCall(state.call);
    m_map->setSelected(state.selectedBuffer);
    m_alive->setSelectedBuffer(state.selectedBuffer);
    if (state.selectedBuffer >= 0 &&
        m_table->rowOf(m_table->currentIndex()) != state.selectedBuffer)
        m_table->showRow(state.selectedBuffer);
    const bool hasBuffer = !state.whyTitle.isEmpty();
    m_whyTitle->setText(hasBuffer ? state.whyTitle : tr("Why is it alive?"));
    m_whyHint->setVisible(!hasBuffer);
    m_why->setVisible(hasBuffer);
    m_showOnGraph->setVisible(hasBuffer);
}

Page makeMemoryPage(const PageContext& context)
{
    WorkspacePresenter& workspace = context.workspace;
    MemoryPresenter& presenter = context.memory;
    auto* page = new MemoryPage(context.themes, workspace, presenter);
    QObject::connect(page, &MemoryPage::graphRequested, page, context.host.showSteps);
    return {.name = QStringLiteral("memory"),
            .title = MemoryPage::tr("Memory"),
            .icon = QStringLiteral("memory"),
            .tip = MemoryPage::tr("Where every byte lives"),
            .widget = page,
            .focus = &page->curve(),
            .setDocument = [&workspace,
                            &presenter](bool) { presenter.setDocument(workspace.document()); },
            .shown = [&presenter] { presenter.lookAt(); },
            .isSettled = [&presenter] { return !presenter.state().isPlanning; },
            .actions = {{.id = QStringLiteral("peak"),
                         .group = MemoryPage::tr("Graph"),
                         .text = MemoryPage::tr("Go to the peak of memory"),
                         .keys = QStringLiteral("K"),
                         .tip = MemoryPage::tr("What is alive where the most is"),
                         .run = [&presenter] { presenter.showPeak(); },
                         .isLocal = true,
                         .actsOn = ActsOn::ItsPage},
                        tableAction([page] { page->curveTwin().toggle(); })}};
}

} // namespace tenon::views
