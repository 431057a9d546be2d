// SPDX-License-Identifier: GPL-3.0-or-later
// Deployments as jobs: steps as they happen, the result into the window, the history beside it.
#include "views/presenters/deploy_presenter.h"

#include "views/models/format.h"
#include "views/models/measured_text.h"

#include <QLocale>
#include <QPointer>

#include <algorithm>

namespace tenon::views {

namespace {

const QString kHistoryKey = QStringLiteral("deploy.history");
const QString kDisconnectKey = QStringLiteral("deploy.disconnect");

constexpr double kLeastBudgetS = 0.1;
constexpr double kMostBudgetS = 86400;

/// Index of the step that runs, or -1.
int runningStep(const Deployment& report)
{
    for (size_t i = 0; i < report.steps.size(); ++i)
        if (report.steps[i].state == StepState::Running) return static_cast<int>(i);
    return -1;
}

QString failedStep(const Deployment& report)
{
    for (const StepRow& step : report.steps)
        if (step.state == StepState::Failed) return step.name;
    return {};
}

void tellProgress(const Deployment& report, const core::JobContext& job)
{
    const int running = runningStep(report);
    if (running < 0) return;
    const StepRow& step = report.steps[static_cast<size_t>(running)];
    job.progress(static_cast<double>(running) / static_cast<double>(report.steps.size()),
                 step.name.toStdString());
}

} // namespace

DeployPresenter::DeployPresenter(WorkspacePresenter& workspace, BoardsPresenter& boards,
                                 BoardPrompt& prompt, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_boards(boards)
    , m_prompt(prompt)
    , m_boardName(boards.board().name)
    , m_steps(makeStepModel(this))
    , m_preflight(makeCheckModel(this))
    , m_history(makeHistoryModel(this))
    , m_runs(makeRunsModel(this))
{
    connect(&boards, &BoardsPresenter::stateChanged, this, &DeployPresenter::refresh);
    connect(&boards, &BoardsPresenter::selected, this, &DeployPresenter::takeBoard);
    refresh();
}

void DeployPresenter::deploy()
{
    if (!m_state.canDeploy) return;
    m_workspace.forgetFailure();
    const DeployQuestion question{m_workspace.document(), m_boards.board().name,
                                  m_workspace.options(), m_budgetS};
    const auto outcome = std::make_shared<DeployOutcome>();
    show({});
    m_state.isRunning = true;
    JobPresenter& jobs = m_workspace.jobs();
    jobs.start(
        QStringLiteral("model"),
        tr("Deploy %1 to %2").arg(question.document->name, m_boards.board().titleInText()),
        [outcome, question, self = QPointer<DeployPresenter>(this), &jobs,
         deploy = m_workspace.engine().boards.deploy,
         ask = m_prompt.asker()](core::JobContext& job) -> core::Status {
            const DeployWatcher watch = [&](const Deployment& report) {
                tellProgress(report, job);
                jobs.post([self, report] {
                    if (self) self->show(report);
                });
            };
            *outcome = deploy(question, ask, watch, job);
            if (outcome->error) return *outcome->error;
            return core::kDone;
        },
        [this, outcome, deployed = question.document](const core::Status& status) {
            finish(deployed, *outcome, status);
        });
}

void DeployPresenter::finish(const DocumentPtr& deployed, const DeployOutcome& outcome,
                             const core::Status& status)
{
    m_state.isRunning = false;
    m_isConnected = outcome.report.isConnected;
    const bool isCancelled = !status && status.error().code == core::DiagnosticCode::Cancelled;
    const bool wasReached = !outcome.report.findings.checks.empty();
    // Another model may have been opened meanwhile.
    if (outcome.document && m_workspace.document() == deployed)
        m_workspace.takeResult(outcome.document);
    if (!status && !isCancelled) markOld();
    if (!outcome.report.steps.empty()) show(outcome.report);
    if (wasReached) m_boards.noteFindings(outcome.report.findings);
    const bool isGone = !wasReached || outcome.report.isLinkLost;
    if (!status && !isCancelled && isGone && outcome.document) m_boards.noteOffline();
    if (!status && !outcome.document && !isCancelled)
        m_workspace.report(tr("The model could not be compiled"), status.error());
    else if (!status)
        m_workspace.report(tr("The deployment did not finish"), status.error());
    loadHistory();
    refresh();
}

/// What was measured before stays, but must not be taken for the answer that did not come.
void DeployPresenter::markOld()
{
    const DocumentPtr& shown = m_workspace.document();
    if (!shown || !shown->measurement || shown->measurement->isOld) return;
    auto marked = std::make_shared<Document>(*shown);
    ++marked->revision;
    marked->measurement->isOld = true;
    m_workspace.takeResult(marked);
}

void DeployPresenter::setBudget(QString text)
{
    text = text.trimmed();
    if (text.endsWith(QLatin1Char('s'))) text.chop(1);
    bool isNumber = false;
    const double seconds = QLocale::c().toDouble(text.trimmed(), &isNumber);
    m_state.isBudgetValid = isNumber && seconds >= kLeastBudgetS && seconds <= kMostBudgetS;
    if (m_state.isBudgetValid) {
        m_budgetS = seconds;
        m_state.budget = QLocale::c().toString(seconds, 'g', QLocale::FloatingPointShortest) +
                         QStringLiteral(" s");
    }
    emit stateChanged();
}

void DeployPresenter::show(const Deployment& report)
{
    m_report = report;
    m_steps->setRows(report.steps);
    m_preflight->setRows(report.preflight);
    refresh();
    emit logChanged();
}

void DeployPresenter::takeBoard()
{
    if (m_boards.board().name == m_boardName) return;
    m_boardName = m_boards.board().name;
    disconnectBoard();
    show({});
    loadHistory();
}

void DeployPresenter::disconnectBoard()
{
    const auto& end = m_workspace.engine().boards.disconnect;
    if (!m_isConnected || !end) return;
    m_isConnected = false;
    m_workspace.jobs().startQuietly(
        kDisconnectKey, [end](core::JobContext&) { return end(); },
        [this](const core::Status& status) {
            if (!status) m_workspace.report(tr("The board was not tidied up"), status.error());
        });
    refresh();
}

void DeployPresenter::setDocument()
{
    if (!m_state.isRunning && m_report.isFinished && !m_workspace.document()->measurement)
        show({}); // what was deployed is not what is shown
    loadHistory();
    refresh();
}

void DeployPresenter::loadHistory()
{
    const auto& history = m_workspace.engine().boards.history;
    const DocumentPtr document = m_workspace.document();
    if (!document || !history) return;
    m_isLoading = true;
    const auto rows = std::make_shared<std::vector<HistoryRow>>();
    m_workspace.jobs().startQuietly(
        kHistoryKey,
        [rows, history, document,
         board = m_boards.board().name](core::JobContext&) -> core::Status {
            auto found = history(document, board);
            if (!found) return found.error();
            *rows = *std::move(found);
            return core::kDone;
        },
        [this, rows](const core::Status& status) {
            if (!status && status.error().code == core::DiagnosticCode::Cancelled) return;
            m_isLoading = false;
            m_state.historyProblem =
                status ? QString() : QString::fromStdString(status.error().message);
            m_runs->setRows(*rows);
            std::erase_if(*rows, [](const HistoryRow& row) { return !row.isOfBoard; });
            m_history->setRows(*rows);
            refresh();
        });
}

void DeployPresenter::refreshResult()
{
    const DocumentPtr& document = m_workspace.document();
    m_state.hasResult = document && document->measurement;
    m_state.resultText.clear();
    m_state.resultDetail.clear();
    m_state.hygiene.clear();
    m_state.isEmulated = false;
    if (!m_state.hasResult) return;
    const Measurement& m = *document->measurement;
    m_state.isEmulated = m.isEmulated && m.unit == CostUnit::Time;
    m_state.resultText = m_workspace.state().measurementText;
    m_state.resultDetail = tr("%1 · %2").arg(takenText(m), spreadText(m));
    if (!m.sha256.isEmpty())
        m_state.resultDetail += tr(" · artifact SHA-256 %1").arg(shortDigest(m.sha256));
    if (const QString& stale = m_workspace.state().staleText; !stale.isEmpty())
        m_state.resultDetail = stale + QStringLiteral(" · ") + m_state.resultDetail;
    m_state.hygiene = m.hygiene;
}

void DeployPresenter::refresh()
{
    m_state.canDeploy = m_workspace.state().canBuild && m_boards.state().canChange &&
                        m_workspace.engine().boards.deploy != nullptr;
    m_state.hasReport = !m_report.steps.empty();
    m_state.isConnected = m_isConnected;
    m_state.error = m_report.error;
    const QString total = durationText(m_report.totalMs * 1000);
    const int running = runningStep(m_report);
    m_state.caption.clear();
    if (m_state.isRunning && running >= 0)
        m_state.caption = m_report.steps[static_cast<size_t>(running)].name + QStringLiteral(" …");
    else if (m_report.isCancelled)
        m_state.caption = tr("cancelled after %1").arg(total);
    else if (m_report.isFinished && !m_report.error.isEmpty())
        m_state.caption = tr("failed: %1").arg(failedStep(m_report));
    else if (m_report.isFinished)
        m_state.caption = tr("done in %1").arg(total);
    m_state.overheadText.clear();
    if (m_report.isFinished && (m_report.overheadMs > 0 || m_report.sentBytes > 0))
        m_state.overheadText =
            tr("%1 beyond compiling, running and measuring · %2 sent")
                .arg(durationText(m_report.overheadMs * 1000), byteText(m_report.sentBytes)) +
            (m_report.reusedBytes > 0 ? tr(", %1 were there").arg(byteText(m_report.reusedBytes))
                                      : QString());
    m_state.historyCaption =
        tr("%1 on %2")
            .arg(countOf(m_history->rowCount(), tr("measurement")), m_boards.board().titleInText());
    refreshResult();
    emit stateChanged();
}

} // namespace tenon::views
