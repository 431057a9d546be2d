// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Deploy perspective and binds it to its presenters.
#include "views/pages/deploy/deploy_page.h"

#include "views/pages/common/columns.h"
#include "views/pages/page.h"
#include "views/presenters/passes_presenter.h"

#include <QHeaderView>
#include <QScrollBar>

#include <algorithm>

namespace tenon::views {

namespace {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

constexpr int kPreflightHeight = 25 * 2;
constexpr int kBudgetWidth = 56;

/// Headers are as high with their buttons as without.
constexpr int kButtonMargin = 8; ///< right of a header's last button; texts keep the panel's

void dress(Panel& panel, int top)
{
    constexpr int kHeaderHeight = 36;
    panel.header()->setContentsMargins(kPanelMargin, top, kButtonMargin, top - 2);
    panel.header()->addStrut(kHeaderHeight - 2 * top + 2);
}

/// A glyph, what it is about, and what was found.
WrappedTable* makeChecks(const ThemeSource& themes, CheckModel* model, int subjectWidth)
{
    constexpr int kGlyphWidth = 24;
    auto* table = new WrappedTable(themes, model, {kGlyphWidth, subjectWidth, 0}, 2);
    table->horizontalHeader()->hide();
    return table;
}

} // namespace

DeployPage::DeployPage(const ThemeSource& themes, WorkspacePresenter& workspace,
                       BoardsPresenter& boards, DeployPresenter& deploy, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
    , m_workspace(workspace)
    , m_boards(boards)
    , m_deploy(deploy)
{
    auto* left =
        makeSplitter(Qt::Vertical, {buildBoards(themes), buildChecklist(themes)}, {340, 500});
    auto* middle =
        makeSplitter(Qt::Vertical, {buildDeployment(themes), buildLog(themes)}, {560, 280});
    auto* right =
        makeSplitter(Qt::Vertical, {buildResult(themes), buildHistory(themes)}, {580, 260});
    auto* columns = makeSplitter(Qt::Horizontal, {left, middle, right}, {300, 620, 600});
    columns->setStretchFactor(0, 0);
    columns->setStretchFactor(1, 1);
    columns->setStretchFactor(2, 1);
    fillWith(*this, columns);
    connectParts();
    refreshBoards();
    refresh();
}

QWidget* DeployPage::buildBoards(const ThemeSource& themes)
{
    auto* panel = new Panel(themes, tr("Boards"));
    panel->setMinimumWidth(280);
    m_boardList = new BoardList(themes, &m_boards.model());
    m_add = new PillButton(themes, Look::Plain, tr("Add board…"));
    m_addVirtual = new PillButton(themes, Look::Plain, tr("Virtual board…"));
    m_addVirtual->setToolTip(
        tr("Emulated on this computer: a Raspberry Pi behind a real SSH server, "
           "or a microcontroller, whose instructions are counted"));
    m_forget = new PillButton(themes, Look::Quiet, tr("Forget"));
    m_forget->setToolTip(tr("Take the selected board out of the list"));
    panel->header()->addWidget(m_forget);
    dress(*panel, 6);
    m_boardsHint = new ThemedLabel(themes, Role::Secondary,
                                   tr("Boards that you reach by SSH, RPC or a tracker appear "
                                      "here; over SSH they need nothing installed."));
    m_boardsHint->setWordWrap(true);
    auto* buttons = new QHBoxLayout;
    buttons->setContentsMargins(6, 0, 6, 2);
    buttons->addWidget(m_add);
    buttons->addWidget(m_addVirtual);
    buttons->addStretch(1);
    panel->content()->setContentsMargins(8, 0, 8, 8);
    panel->content()->addWidget(m_boardList, 1);
    panel->content()->addLayout(indented(m_boardsHint));
    panel->content()->addLayout(buttons);
    return panel;
}

QWidget* DeployPage::buildChecklist(const ThemeSource& themes)
{
    m_checklistPanel = new Panel(themes, tr("What it is"));
    m_probe = new PillButton(themes, Look::Quiet, tr("Probe"));
    m_probe->setToolTip(tr("Ask the board again"));
    m_checklistPanel->header()->addWidget(m_probe);
    dress(*m_checklistPanel, 6);
    m_checks = makeChecks(themes, &m_boards.checks(), 88);
    m_checks->setAccessibleName(tr("What the board is"));
    m_probeNotice = new EmptyNotice(
        themes, tr("Not asked yet"),
        tr("Probing says what the board is, whether it can be worked on, and which target fits "
           "it."),
        tr("Probe"));
    m_checklistStack = new QStackedWidget;
    m_checklistStack->addWidget(m_probeNotice);
    m_checklistStack->addWidget(m_checks);
    m_proposedTitle = new ThemedLabel(themes, Role::Secondary, tr("proposed target"));
    m_proposed = new ThemedLabel(themes, Role::Code);
    m_proposed->setElision(Elision::Name);
    m_useTarget = new PillButton(themes, Look::Plain, tr("Use this target"));
    m_checklistPanel->content()->setContentsMargins(6, 0, 6, 10);
    m_checklistPanel->content()->addWidget(m_checklistStack, 1);
    m_checklistPanel->content()->addLayout(indented(m_proposedTitle));
    m_checklistPanel->content()->addLayout(indented(m_proposed));
    auto* row = indented(new QWidget);
    row->insertWidget(0, m_useTarget);
    m_checklistPanel->content()->addLayout(row);
    return m_checklistPanel;
}

void DeployPage::buildDeployHeader(const ThemeSource& themes)
{
    m_deployPanel = new Panel(themes, tr("Deployment"));
    m_start = new PillButton(themes, Look::Plain, tr("Deploy & Benchmark"));
    m_stop = new PillButton(themes, Look::Plain, tr("Cancel"));
    m_stop->setToolTip(tr("Ends what runs on the board and tidies up (Shift+F5)"));
    m_disconnect = new PillButton(themes, Look::Quiet, tr("Disconnect"));
    m_disconnect->setToolTip(tr("The connection is kept for the next deployment; what was sent "
                                "goes from the board when it ends"));
    m_budget = new QLineEdit(m_deploy.state().budget);
    m_budget->setFixedWidth(kBudgetWidth);
    m_budget->setAccessibleName(tr("Time budget of a benchmark"));
    m_budget->setToolTip(
        tr("Measuring ends after so many seconds, or as soon as the 95 % confidence "
           "interval of the median is within 2 %"));
    m_deployPanel->header()->addWidget(m_budget);
    for (PillButton* button : {m_disconnect, m_start, m_stop})
        m_deployPanel->header()->addWidget(button);
    m_deployPanel->foldHeader({m_disconnect, m_start});
    dress(*m_deployPanel, 3);
}

QWidget* DeployPage::buildDeployment(const ThemeSource& themes)
{
    buildDeployHeader(themes);
    buildSteps(themes);
    m_preflightTitle = new ThemedLabel(themes, Role::Strong, tr("Preflight"));
    m_preflight = makeChecks(themes, &m_deploy.preflight(), 136);
    m_preflight->setMinimumHeight(kPreflightHeight);
    m_preflight->setAccessibleName(tr("Checks before anything was sent"));
    m_error = makeSentence(themes, Role::Error);
    m_overhead = makeSentence(themes, Role::Secondary);
    auto* report = new QWidget;
    auto* layout = new QVBoxLayout(report);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addWidget(m_steps, 100); // as high as its rows, where there is room
    layout->addLayout(indented(m_overhead));
    layout->addLayout(indented(m_error));
    layout->addLayout(indented(m_preflightTitle));
    layout->addWidget(m_preflight, 1);
    layout->addStretch(); // for when there is no preflight
    m_notice = new EmptyNotice(themes, {}, {}, tr("Deploy & Benchmark"));
    m_notice->setObjectName(QStringLiteral("deployNotice"));
    m_deployStack = new QStackedWidget;
    m_deployStack->addWidget(m_notice);
    m_deployStack->addWidget(report);
    m_deployPanel->content()->setContentsMargins(6, 0, 6, 8);
    m_deployPanel->content()->addWidget(m_deployStack, 1);
    return m_deployPanel;
}

QWidget* DeployPage::buildLog(const ThemeSource& themes)
{
    auto* panel = new Panel(themes, tr("Log"));
    m_log = new QPlainTextEdit;
    m_log->setReadOnly(true);
    m_log->setFrameShape(QFrame::NoFrame);
    m_log->setFont(themes.theme().code);
    m_log->setPlaceholderText(tr("What the steps say appears here."));
    m_log->setAccessibleName(tr("Log of the deployment"));
    panel->content()->addWidget(m_log, 1);
    return panel;
}

QWidget* DeployPage::buildResult(const ThemeSource& themes)
{
    m_resultPanel = new Panel(themes, tr("Result"));
    m_showOnGraph = new PillButton(themes, Look::Quiet, tr("Show on graph"));
    m_resultPanel->header()->addWidget(m_showOnGraph);
    dress(*m_resultPanel, 6);
    m_result = new ThemedLabel(themes, Role::Heading);
    m_result->setWordWrap(true);
    m_result->setToolTip(tr("± is the 95 % confidence interval of the median"));
    m_emulated = new ThemedLabel(themes, Role::Strong, tr("emulated: times are not silicon's"));
    m_resultDetail = makeSentence(themes, Role::Secondary);
    m_hygiene = makeSentence(themes, Role::Secondary);
    m_calls = new DataTable(themes, &m_workspace.calls());
    m_calls->setColumnWidths({0, 0, 0, 0, 70, 100, 0, 0, 0});
    for (const int unused : {0, 2, 6, 7, 8}) m_calls->setColumnHidden(unused, true);
    m_calls->delegate().setBarColumn(5);
    m_calls->setAccessibleName(tr("Time of every kernel call"));
    auto* shown = new QWidget;
    auto* layout = new QVBoxLayout(shown);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    for (ThemedLabel* label : {m_result, m_emulated, m_resultDetail, m_hygiene})
        layout->addLayout(indented(label));
    layout->addWidget(m_calls, 1);
    auto* notice = new EmptyNotice(
        themes, tr("Nothing measured yet"),
        tr("A deployment measures the whole model and every kernel call, by the board's own clock "
           "or in instructions where it is emulated. The figures appear here and on the nodes of "
           "the graph."),
        {});
    m_resultStack = new QStackedWidget;
    m_resultStack->addWidget(notice);
    m_resultStack->addWidget(shown);
    m_resultPanel->content()->setContentsMargins(6, 0, 6, 8);
    m_resultPanel->content()->addWidget(m_resultStack, 1);
    return m_resultPanel;
}

/// Names of kernels say where they come from, too: the nodes give way to them.
void DeployPage::resizeEvent(QResizeEvent* event)
{
    constexpr int kFrom = 3, kNarrow = 1300, kInterval = 3, kNarrowHistory = 1100;
    QWidget::resizeEvent(event);
    showBars(width() >= kNarrowHistory); // else what happened needs the room
    m_calls->setColumnHidden(kFrom, width() < kNarrow);
    m_history->setColumnHidden(kInterval, width() < kNarrowHistory); // the run itself says it
}

void DeployPage::connectParts()
{
    connect(&m_boards, &BoardsPresenter::stateChanged, this, &DeployPage::refreshBoards);
    connect(&m_deploy, &DeployPresenter::stateChanged, this, &DeployPage::refresh);
    connect(&m_deploy, &DeployPresenter::logChanged, this, &DeployPage::refreshLog);
    connect(m_boardList, &BoardList::chosen, &m_boards, &BoardsPresenter::choose);
    connect(m_add, &QPushButton::clicked, this, &DeployPage::addRequested);
    connect(m_addVirtual, &QPushButton::clicked, this,
            [this] { chooseVirtual(m_addVirtual->mapToGlobal(QPoint())); });
    connect(m_forget, &QPushButton::clicked, this, &DeployPage::forgetRequested);
    connect(m_probe, &QPushButton::clicked, &m_boards, &BoardsPresenter::probe);
    connect(m_probeNotice, &EmptyNotice::triggered, &m_boards, &BoardsPresenter::probe);
    connect(m_useTarget, &QPushButton::clicked, &m_boards, &BoardsPresenter::useProposedTarget);
    connect(m_start, &QPushButton::clicked, &m_deploy, &DeployPresenter::deploy);
    connect(m_notice, &EmptyNotice::triggered, &m_deploy, &DeployPresenter::deploy);
    connect(m_budget, &QLineEdit::textChanged, &m_deploy, &DeployPresenter::setBudget);
    connect(m_stop, &QPushButton::clicked, &m_workspace, &WorkspacePresenter::cancel);
    connect(m_disconnect, &QPushButton::clicked, &m_deploy, &DeployPresenter::disconnectBoard);
    connect(m_calls, &DataTable::nodeRequested, &m_workspace.selection(), &Selection::seekRow);
    connect(m_showOnGraph, &QPushButton::clicked, this, &DeployPage::graphRequested);
    connect(m_history, &QTableView::activated, this,
            [this](const QModelIndex& index) { emit runRequested(m_history->rowOf(index)); });
    connect(m_openRun, &QPushButton::clicked, this, [this] {
        emit runRequested(std::max(0, m_history->rowOf(m_history->currentIndex())));
    });
}

void DeployPage::refreshBoards()
{
    const BoardsState& state = m_boards.state();
    m_add->setEnabled(state.canChange);
    m_addVirtual->setEnabled(state.canChange);
    m_boardsHint->setVisible(m_boards.boards().size() == 1);
    m_forget->setVisible(!m_boards.board().isHere());
    m_forget->setEnabled(state.canForget);
    m_checklistPanel->setTitle(
        tr("What %1 is")
            .arg(m_boards.board().isHere() ? tr("this computer") : m_boards.board().name));
    m_checklistPanel->setCaption(state.probeCaption);
    const bool isProbed = m_boards.checks().rowCount() > 0;
    m_checklistStack->setCurrentIndex(isProbed ? 1 : 0);
    m_probe->setVisible(isProbed);
    m_probe->setEnabled(state.canChange);
    m_probeNotice->setActionEnabled(state.canChange);
    m_probeNotice->setText(
        state.problem.isEmpty() ? tr("Not asked yet") : tr("The board did not answer"),
        state.problem.isEmpty()
            ? tr("Probing says what the board is, whether it can be worked on, and which target "
                 "fits it.")
            : state.problem);
    const bool hasProposal = !state.proposedTarget.isEmpty();
    m_proposedTitle->setVisible(hasProposal);
    m_proposed->setVisible(hasProposal);
    m_proposed->setText(state.proposedTarget);
    m_useTarget->setVisible(hasProposal);
    m_useTarget->setEnabled(state.canUseProposal);
}

void DeployPage::refresh()
{
    const DeployState& state = m_deploy.state();
    m_deployPanel->setCaption(state.caption);
    m_deployStack->setCurrentIndex(state.hasReport || state.isRunning ? 1 : 0);
    m_notice->setActionEnabled(state.canDeploy);
    m_notice->setText(m_boards.state().state == BoardState::Guest
                          ? tr("Nothing measured for %1 yet").arg(m_boards.state().machine)
                          : tr("Nothing deployed to %1 yet").arg(m_boards.board().titleInText()),
                      deployAdvice());
    m_start->setVisible(!state.isRunning && state.hasReport);
    m_start->setEnabled(state.canDeploy);
    m_stop->setVisible(state.isRunning);
    m_disconnect->setVisible(state.isConnected && !state.isRunning);
    m_budget->setEnabled(!state.isRunning);
    // Brought back by a session; what is being typed stays as it is.
    if (!m_budget->hasFocus() && state.isBudgetValid && m_budget->text() != state.budget) {
        const QSignalBlocker quiet(m_budget);
        m_budget->setText(state.budget);
    }
    m_budget->setStyleSheet(state.isBudgetValid ? QString()
                                                : QStringLiteral("QLineEdit { border-color: %1; }")
                                                      .arg(m_themes.theme().removed.name()));
    m_error->setText(state.error);
    m_error->setVisible(!state.error.isEmpty());
    m_overhead->setText(state.overheadText);
    m_overhead->setVisible(!state.overheadText.isEmpty());
    const bool hasPreflight = m_deploy.preflight().rowCount() > 0;
    m_preflightTitle->setVisible(hasPreflight);
    m_preflight->setVisible(hasPreflight);
    refreshResult();
}

void DeployPage::refreshResult()
{
    const DeployState& state = m_deploy.state();
    m_resultStack->setCurrentIndex(state.hasResult ? 1 : 0);
    m_showOnGraph->setVisible(state.hasResult);
    m_resultPanel->header()->setContentsMargins(kPanelMargin, 6,
                                                state.hasResult ? kButtonMargin : kPanelMargin, 4);
    m_resultPanel->setCaption(m_workspace.state().callsText);
    m_result->setText(state.resultText);
    m_emulated->setVisible(state.isEmulated);
    m_resultDetail->setText(state.resultDetail);
    m_resultDetail->setToolTip(m_workspace.state().measurementMethod);
    m_hygiene->setText(state.hygiene);
    m_hygiene->setVisible(!state.hygiene.isEmpty());
    refreshHistory();
}

void DeployPage::refreshLog()
{
    const QString text = m_deploy.report().log.join(QLatin1Char('\n'));
    if (text == m_log->toPlainText()) return;
    m_log->setPlainText(text);
    m_log->verticalScrollBar()->setValue(m_log->verticalScrollBar()->maximum());
}

Page makeDeployPage(const PageContext& context)
{
    BoardsPresenter& boards = context.boards;
    DeployPresenter& deploy = context.deploy;
    auto* page = new DeployPage(context.themes, context.workspace, boards, deploy);
    const auto run = [host = context.host](const char* action) {
        return [host, action] { host.runAction(action); };
    };
    QObject::connect(page, &DeployPage::addRequested, page, run("add-board"));
    QObject::connect(page, &DeployPage::forgetRequested, page, run("forget-board"));
    // What was measured are the kernel calls: the graph behind the last pass.
    QObject::connect(page, &DeployPage::graphRequested, page,
                     [&passes = context.passes, show = context.host.showSteps] {
                         passes.showVersion(passes.state().versionCount - 1);
                         show();
                     });
    return {.name = QStringLiteral("deploy"),
            .title = DeployPage::tr("Deploy"),
            .icon = QStringLiteral("board"),
            .tip = DeployPage::tr("Boards, and what happened on them"),
            .widget = page,
            .focus = &page->boards(),
            .setDocument = [&deploy](bool) { deploy.setDocument(); },
            .shown = [&boards] { boards.probeIfHere(); },
            .isSettled = [&deploy] { return !deploy.isLoading(); }};
}

} // namespace tenon::views
