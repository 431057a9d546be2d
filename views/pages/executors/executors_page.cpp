// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Executors perspective and binds it to its presenter.
#include "views/pages/executors/executors_page.h"

#include "views/pages/common/columns.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/common/popup_menu.h"
#include "views/pages/page.h"
#include "views/presenters/boards_presenter.h"

namespace tenon::views {

namespace {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

} // namespace

ExecutorsPage::ExecutorsPage(const ThemeSource& themes, WorkspacePresenter& workspace,
                             ExecutorsPresenter& presenter, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_presenter(presenter)
    , m_fit(workspace, presenter)
{
    auto* left = makeSplitter(Qt::Vertical,
                              {buildBars(themes), buildTable(themes), buildReasons(themes)}, {});
    left->setStretchFactor(0, 0);
    left->setStretchFactor(1, 1);
    left->setStretchFactor(2, 1);
    m_pages = new UntilCompiled(
        themes, workspace, tr("Executors"), new Columns({{left, 0}, {buildFit(themes), 364}}),
        {tr("Nothing to compare yet"),
         tr("Once the model is compiled, this page shows what the graph executor and the AOT "
            "executors take of flash and RAM, part by part, and whether that fits a board.")});
    fillWith(*this, m_pages);
    connectParts();
    refresh();
}

QWidget* ExecutorsPage::buildBars(const ThemeSource& themes)
{
    m_flashPanel = new Panel(themes, tr("Flash"));
    m_flash = new StackChart(themes);
    m_flash->setAccessibleName(tr("Flash per executor"));
    m_measure = new PillButton(themes, Look::Plain, tr("Link and measure"));
    m_flashPanel->content()->addWidget(m_flash);
    m_flashPanel->content()->addStretch(1);
    m_ramPanel = new Panel(themes, tr("RAM"));
    m_ram = new StackChart(themes);
    m_ram->setAccessibleName(tr("RAM per executor"));
    m_ramPanel->header()->addWidget(m_measure);
    m_ramPanel->header()->setContentsMargins(kPanelMargin, 4, 10, 2);
    m_ramPanel->content()->addWidget(m_ram);
    m_ramPanel->content()->addStretch(1);
    return makeSplitter(Qt::Horizontal, {m_flashPanel, m_ramPanel}, {600, 600});
}

QWidget* ExecutorsPage::buildTable(const ThemeSource& themes)
{
    m_tablePanel = new Panel(themes, tr("Parts"));
    m_table = new DataTable(themes, &m_presenter.table());
    for (StackChart* chart : {m_flash, m_ram}) new Exhibit(*chart, m_table->model());
    m_constants = new PillButton(themes, Look::Quiet, tr("Leave constants out"));
    m_constants->setToolTip(tr("They are the same for every executor and hide what is not"));
    m_tablePanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_tablePanel->header()->addWidget(m_constants);
    m_table->setAccessibleName(tr("Flash and RAM of every executor, part by part"));
    m_tablePanel->content()->setContentsMargins(8, 0, 8, 8);
    m_tablePanel->content()->addWidget(m_table, 1);
    return m_tablePanel;
}

QWidget* ExecutorsPage::buildReasons(const ThemeSource& themes)
{
    m_reasonsPanel = new Panel(themes, tr("Why"));
    m_reasons = new DataTable(themes, &m_fit.rows());
    m_reasons->setAccessibleName(tr("Remedies, memories, what is alive at the peak, and layers"));
    m_reasons->setColumnWidths({90, 90, 90, 0, 0});
    m_reasonsPanel->content()->setContentsMargins(8, 0, 8, 8);
    m_reasonsPanel->content()->addWidget(m_reasons, 1);
    connect(&m_fit, &FitPresenter::stateChanged, this, &ExecutorsPage::showReasons);
    m_reasonsPanel->setVisible(false);
    return m_reasonsPanel;
}

/// Where a board's budget counts, and only there.
void ExecutorsPage::showReasons()
{
    refresh();
    const FitState& state = m_fit.state();
    const QString text = state.problem.isEmpty() ? state.verdict : state.problem;
    m_reasonsPanel->setCaption(state.isWorking ? tr("planning…") : text);
    m_reasonsPanel->setVisible(state.isWorking || !text.isEmpty());
}

QWidget* ExecutorsPage::buildFit(const ThemeSource& themes)
{
    m_fitPanel = new Panel(themes, tr("Does it fit?"));
    m_fitPanel->setMinimumWidth(290);
    m_board = new PillButton(themes, Look::Plain, {});
    m_board->setToolTip(tr("The board whose budget counts"));
    m_ramFit = new FitGauge(themes, tr("RAM"));
    m_flashFit = new FitGauge(themes, tr("Flash"));
    m_verdict = makeSentence(themes, Role::Strong);
    m_method = makeSentence(themes, Role::Secondary);
    m_exclusions = makeSentence(themes, Role::Secondary);
    m_problem = makeSentence(themes, Role::Error);
    QVBoxLayout* content = m_fitPanel->content();
    content->addWidget(m_board, 0, Qt::AlignLeft);
    content->addWidget(m_ramFit);
    content->addWidget(m_flashFit);
    content->addWidget(m_verdict);
    content->addSpacing(14);
    content->addWidget(new ThemedLabel(themes, Role::Strong, tr("How this is counted")));
    content->addWidget(m_method);
    content->addSpacing(8);
    content->addWidget(new ThemedLabel(themes, Role::Strong, tr("What is not in it")));
    content->addWidget(m_exclusions);
    content->addWidget(m_problem);
    content->addStretch(1);
    return m_fitPanel;
}

void ExecutorsPage::connectParts()
{
    connect(&m_presenter, &ExecutorsPresenter::stateChanged, this, &ExecutorsPage::refresh);
    connect(&m_presenter, &ExecutorsPresenter::footprintChanged, this,
            &ExecutorsPage::showFootprint);
    for (StackChart* chart : {m_flash, m_ram})
        connect(chart, &StackChart::barRequested, &m_presenter, &ExecutorsPresenter::select);
    connect(m_constants, &QPushButton::clicked, this,
            [this] { m_presenter.setConstantsShown(!m_presenter.state().hasConstants); });
    connect(m_measure, &QPushButton::clicked, &m_presenter, &ExecutorsPresenter::measure);
    connect(m_board, &QPushButton::clicked, this, &ExecutorsPage::chooseBudget);
}

void ExecutorsPage::chooseBudget()
{
    QMenu* menu = makePopupMenu(this);
    for (const MemoryBudget& budget : m_presenter.budgets())
        menu->addAction(budget.title, this,
                        [this, name = budget.name] { m_presenter.chooseBudget(name); });
    menu->popup(m_board->mapToGlobal(QPoint(0, m_board->height() + 4)));
}

void ExecutorsPage::showFootprint()
{
    const std::optional<Footprint> footprint = m_presenter.shown();
    m_flash->setBars(footprint ? flashBars(*footprint) : std::vector<StackBar>());
    m_ram->setBars(footprint ? ramBars(*footprint) : std::vector<StackBar>());
    fitColumns();
}

/// Memory and part as wide as they are; the executors share what is left.
void ExecutorsPage::fitColumns()
{
    std::vector<int> widths{70, 130};
    while (static_cast<int>(widths.size()) < m_table->model()->columnCount()) widths.push_back(0);
    m_table->setColumnWidths(widths);
}

void ExecutorsPage::refresh()
{
    const ExecutorsState& state = m_presenter.state();
    m_pages->showContent(state.hasFootprint);
    m_flash->setSelected(state.selected);
    m_ram->setSelected(state.selected);
    m_flashPanel->setCaption(state.how);
    m_ramPanel->setCaption(state.how);
    m_tablePanel->setCaption(state.caption);
    m_constants->setText(state.hasConstants ? tr("Leave constants out") : tr("Show constants"));
    m_constants->updateGeometry();
    m_measure->setVisible(m_workspace.engine().measureFootprint != nullptr);
    m_measure->setEnabled(state.canMeasure);
    m_board->setText(state.budgetTitle.isEmpty() ? tr("Choose a board") : state.budgetTitle);
    m_board->setVisible(state.hasBudgets);
    m_board->updateGeometry();
    m_tablePanel->setVisible(m_table->model()->rowCount() > 0);
    m_method->setText(state.method);
    m_exclusions->setText(state.exclusions);
    m_problem->setText(state.problem);
    m_problem->setVisible(!state.problem.isEmpty());
    if (!state.hasFootprint) return;
    const auto& executors = m_presenter.footprint()->executors;
    const ExecutorFootprint& shown = executors[static_cast<size_t>(state.selected)];
    if (!shown.problem.isEmpty()) return showPlanned(shown.name);
    m_ramFit->setFit(state.ram);
    m_flashFit->setFit(state.flash);
    const bool fits = state.ram.fits() && state.flash.fits();
    const bool isSure = !fits || (state.ram.isExact && state.flash.isExact);
    m_verdict->setText(state.budgetTitle.isEmpty()
                           ? tr("No board is known by this target; choose one to compare with.")
                       : !fits  ? tr("%1 does not fit.").arg(shown.name)
                       : isSure ? tr("%1 fits.").arg(shown.name)
                                : tr("What is known of %1 fits.").arg(shown.name));
}

/// Source has no size, but its constants and the plan of its memory have: an executor that was not
/// counted takes at least those.
void ExecutorsPage::showPlanned(const QString& executor)
{
    const FitState& fit = m_fit.state();
    const std::optional<MemoryBudget> budget = m_presenter.budget();
    const bool isPlanned = budget && !fit.verdict.isEmpty();
    m_ramFit->setFit(isPlanned ? Fit{fit.ramBytes, budget->ramBytes, false} : Fit{});
    m_flashFit->setFit(isPlanned ? Fit{fit.flashBytes, budget->flashBytes, false} : Fit{});
    if (!isPlanned) return m_verdict->setText(tr("Nothing is known of %1.").arg(executor));
    m_verdict->setText(fit.fits ? tr("What is planned fits; code, stack and statics come with "
                                     "Link and measure.")
                                : tr("It does not fit, whatever its code takes."));
    m_method->setText(tr("Constants, and memory as it is planned: the same for every executor."));
    m_exclusions->setText(tr("Code, the runtime, its tables, stack and statics."));
}

Page makeExecutorsPage(const PageContext& context)
{
    WorkspacePresenter& workspace = context.workspace;
    ExecutorsPresenter& presenter = context.executors;
    BoardsPresenter& boards = context.boards;
    auto* page = new ExecutorsPage(context.themes, workspace, presenter);
    const auto takeBudget = [&presenter, &boards] {
        presenter.setBoardBudget(boards.board().budget);
    };
    QObject::connect(&boards, &BoardsPresenter::selected, page, takeBudget);
    takeBudget();
    const auto canMeasure = [&workspace] {
        return workspace.state().canBuild && workspace.document()->isCompiled();
    };
    return {
        .name = QStringLiteral("executors"),
        .title = ExecutorsPage::tr("Executors"),
        .tip = ExecutorsPage::tr("Flash and RAM of the executors, side by side"),
        .widget = page,
        .focus = &page->flash(),
        .setDocument = [&workspace,
                        &presenter](bool) { presenter.setDocument(workspace.document()); },
        .shown =
            [&presenter, page] {
                presenter.setLookedAt(true);
                page->fit().setLookedAt(true);
            },
        .hidden =
            [&presenter, page] {
                presenter.setLookedAt(false);
                page->fit().setLookedAt(false);
            },
        .isSettled = [&presenter,
                      page] { return !presenter.state().isWorking && page->fit().isSettled(); },
        .actions = {{"measure-executors", ExecutorsPage::tr("Model"),
                     ExecutorsPage::tr("Measure the executors"), "", "Ctrl+Shift+M",
                     ExecutorsPage::tr(
                         "Link an image with each executor and count its flash and RAM"),
                     [&presenter] { presenter.measure(); }, false, canMeasure, ActsOn::ItsPage}}};
}

} // namespace tenon::views
