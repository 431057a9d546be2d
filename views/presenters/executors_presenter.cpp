// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates as soon as the model is compiled; measures when asked.
#include "views/presenters/executors_presenter.h"

#include "core/target/target.h"
#include "views/models/format.h"

#include <algorithm>

namespace tenon::views {

namespace {

const QString kEstimateKey = QStringLiteral("executors.estimate");
const QString kMeasureKey = QStringLiteral("executors.measure");

/// The processor that a target names; empty for this computer's and for any of its kind.
std::string processorOf(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    return !parsed || parsed->mcpu == "native" ? std::string() : parsed->mcpu;
}

} // namespace

ExecutorsPresenter::ExecutorsPresenter(WorkspacePresenter& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_budgets(workspace.engine().budgets ? workspace.engine().budgets()
                                           : std::vector<MemoryBudget>())
    , m_table(new PartsModel(this))
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &ExecutorsPresenter::refresh);
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &ExecutorsPresenter::followTarget);
}

void ExecutorsPresenter::setLookedAt(bool isLookedAt)
{
    m_isLookedAt = isLookedAt;
    followTarget();
}

/// What is looked at is that of the target that is named; each is tried once.
void ExecutorsPresenter::followTarget()
{
    const QString& target = m_workspace.options().target;
    const bool isStale =
        m_document && m_document->isCompiled() && !target.isEmpty() && m_document->target != target;
    if (!isStale) m_triedTarget.clear();
    if (!m_isLookedAt || !isStale || !m_workspace.state().canBuild || m_triedTarget == target)
        return;
    m_triedTarget = target;
    m_workspace.compile();
}

void ExecutorsPresenter::setConstantsShown(bool areShown)
{
    if (areShown == m_state.hasConstants) return;
    m_state.hasConstants = areShown;
    m_table->setFootprint(shown());
    refresh();
    emit footprintChanged();
}

std::optional<Footprint> ExecutorsPresenter::shown() const
{
    if (!m_footprint || m_state.hasConstants) return m_footprint;
    return withoutConstants(*m_footprint);
}

void ExecutorsPresenter::setDocument(DocumentPtr document)
{
    m_document = std::move(document);
    m_state.problem.clear();
    m_state.isWorking = false;
    m_workspace.jobs().cancelKey(kEstimateKey);
    take(std::nullopt);
    if (m_document && m_document->isCompiled() && m_workspace.engine().estimateFootprint)
        estimate();
}

void ExecutorsPresenter::estimate()
{
    const auto found = std::make_shared<Footprint>();
    const DocumentPtr document = m_document;
    const Count count = m_workspace.engine().estimateFootprint;
    m_state.isWorking = true;
    m_workspace.jobs().startQuietly(
        kEstimateKey,
        [=](core::JobContext& job) -> core::Status {
            auto counted = count(document, job);
            if (!counted) return counted.error();
            *found = *std::move(counted);
            return core::kDone;
        },
        [this, document, found](const core::Status& status) { finish(document, *found, status); });
}

void ExecutorsPresenter::measure()
{
    if (!m_state.canMeasure) return;
    const auto found = std::make_shared<Footprint>();
    const DocumentPtr document = m_document;
    const Count count = m_workspace.engine().measureFootprint;
    m_state.isWorking = true;
    m_workspace.jobs().start(
        kMeasureKey, tr("Measure the executors of %1").arg(document->name),
        [=](core::JobContext& job) -> core::Status {
            auto counted = count(document, job);
            if (!counted) return counted.error();
            *found = *std::move(counted);
            return core::kDone;
        },
        [this, document, found](const core::Status& status) { finish(document, *found, status); });
}

void ExecutorsPresenter::finish(const DocumentPtr& document, const Footprint& found,
                                const core::Status& status)
{
    if (document != m_document) return;
    m_state.isWorking = false;
    m_state.problem.clear();
    if (status) return take(found);
    if (status.error().code != core::DiagnosticCode::Cancelled)
        m_state.problem = QString::fromStdString(status.error().message);
    refresh();
}

void ExecutorsPresenter::take(std::optional<Footprint> footprint)
{
    m_footprint = std::move(footprint);
    m_table->setFootprint(shown());
    const int count = m_footprint ? static_cast<int>(m_footprint->executors.size()) : 0;
    m_state.selected = std::clamp(m_state.selected, 0, std::max(0, count - 1));
    chooseForTarget();
    refresh();
    emit footprintChanged();
}

void ExecutorsPresenter::select(int executor)
{
    if (!m_footprint || executor < 0 ||
        static_cast<size_t>(executor) >= m_footprint->executors.size())
        return;
    m_state.selected = executor;
    m_table->setCompared(executor);
    refresh();
}

void ExecutorsPresenter::chooseBudget(QString name)
{
    for (size_t i = 0; i < m_budgets.size(); ++i)
        if (m_budgets[i].name == name) {
            m_budget = i;
            m_isChosen = true;
        }
    refresh();
}

/// Code for one processor is no statement about a board with another.
void ExecutorsPresenter::chooseForTarget()
{
    if (m_isChosen || m_hasBoardBudget || !m_footprint) return;
    m_budget.reset();
    const std::string processor = processorOf(m_footprint->target);
    for (size_t i = 0; i < m_budgets.size() && !processor.empty() && !m_budget; ++i)
        if (processorOf(m_budgets[i].target) == processor) m_budget = i;
}

void ExecutorsPresenter::setBoardBudget(MemoryBudget budget)
{
    const bool hasLimit = budget.flashBytes > 0 || budget.ramBytes > 0;
    if (m_hasBoardBudget) m_budgets.erase(m_budgets.begin());
    if (hasLimit) m_budgets.insert(m_budgets.begin(), budget);
    m_hasBoardBudget = hasLimit;
    m_isChosen = false;
    m_budget.reset();
    if (hasLimit) m_budget = 0;
    chooseForTarget();
    refresh();
}

void ExecutorsPresenter::refresh()
{
    m_state.hasFootprint = m_footprint && !m_footprint->executors.empty();
    m_state.canMeasure = m_workspace.engine().measureFootprint && m_document &&
                         m_document->isCompiled() && !m_workspace.state().isBusy &&
                         !m_state.isWorking;
    m_state.flash = m_state.ram = {};
    m_state.hasBudgets = !m_budgets.empty();
    m_state.budgetTitle = m_budget ? m_budgets[*m_budget].title : QString();
    if (m_state.hasFootprint) {
        const auto& executors = m_footprint->executors;
        const ExecutorFootprint& shown = executors[static_cast<size_t>(m_state.selected)];
        const auto isCounted = [](const auto& e) { return e.problem.isEmpty(); };
        const bool isAnyCounted = std::any_of(executors.begin(), executors.end(), isCounted);
        m_state.isExact = isAnyCounted && std::all_of(executors.begin(), executors.end(),
                                                      [&](const ExecutorFootprint& e) {
                                                          return e.isExact || !isCounted(e);
                                                      });
        m_state.how = !isAnyCounted     ? tr("not counted")
                      : m_state.isExact ? tr("measured")
                                        : tr("estimated (hatched)");
        m_state.method = m_footprint->method;
        m_state.exclusions = m_footprint->exclusions;
        m_state.caption = tr("%1 · %2").arg(m_footprint->target, m_state.how);
        if (isCounted(shown)) {
            const MemoryBudget budget = m_budget ? m_budgets[*m_budget] : MemoryBudget();
            m_state.flash = {knownBytes(shown.flash), budget.flashBytes,
                             shown.isExact && isComplete(shown.flash)};
            m_state.ram = {knownBytes(shown.ram), budget.ramBytes,
                           shown.isExact && isComplete(shown.ram)};
        }
    }
    emit stateChanged();
}

} // namespace tenon::views
