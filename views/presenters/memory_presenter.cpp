// SPDX-License-Identifier: GPL-3.0-or-later
// The plan that is shown, where in the program one looks, and why a buffer is alive.
#include "views/presenters/memory_presenter.h"

#include "views/models/format.h"
#include "views/models/serving.h"
#include "views/presenters/inspector_presenter.h"

#include <algorithm>

namespace tenon::views {

namespace {

const QString kPlanKey = QStringLiteral("memory.plan");

QString bytesExactly(qint64 bytes) { return countText(bytes) + QStringLiteral(" B"); }

} // namespace

MemoryPresenter::MemoryPresenter(WorkspacePresenter& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_buffers(makeBufferModel(this))
    , m_alive(makeBufferModel(this))
    , m_planners(makePlannerModel(this))
    , m_why(makeMemoryFactModel(this))
    , m_live(makeLiveModel(this))
{
    m_state.question.algorithm = workspace.options().planner;
    connect(&workspace.selection(), &Selection::changed, this, &MemoryPresenter::showNode);
}

const MemoryPlan& MemoryPresenter::plan() const
{
    return m_whatIf ? *m_whatIf : *m_document->memory;
}

std::vector<PoolBand> MemoryPresenter::bands() const
{
    return m_state.hasPlan ? poolBands(plan()) : std::vector<PoolBand>();
}

QString MemoryPresenter::callName(int call) const
{
    return m_document && call >= 0 && static_cast<size_t>(call) < m_document->calls.size()
               ? m_document->calls[static_cast<size_t>(call)].name
               : QString();
}

void MemoryPresenter::setDocument(DocumentPtr document)
{
    const bool isOtherModel = !m_document || !document || m_document->path != document->path ||
                              m_document->calls.size() != document->calls.size();
    const bool isWhatIf = m_document && m_document->memory &&
                          m_state.question.alignment != m_document->memory->alignment;
    m_document = std::move(document);
    m_whatIf.reset();
    m_state.problem.clear();
    m_state.isPlanning = false; // what was asked of the one before is answered no more
    m_state.question.algorithm = m_workspace.options().planner;
    // Targets align differently; a question about another alignment stays one.
    if (!isWhatIf && m_document && m_document->memory)
        m_state.question.alignment = m_document->memory->alignment;
    if (isOtherModel) {
        m_state.selectedBuffer = -1;
        m_state.call = -1;
    }
    takePlan();
    if (m_state.hasPlan && isAskingOther()) ask();
    if (m_isLookedAt) planOpened();
}

void MemoryPresenter::lookAt()
{
    m_isLookedAt = true;
    planOpened();
}

void MemoryPresenter::planOpened()
{
    const auto& plan = m_workspace.engine().planOpened;
    const bool canPlan = m_document && !m_document->isCompiled() && !m_document->passes.empty() &&
                         m_workspace.state().errorCount == 0;
    if (!plan || !canPlan || m_state.isPlanning) return;
    const auto planned = std::make_shared<DocumentPtr>();
    const DocumentPtr document = m_document;
    m_state.isPlanning = true;
    m_workspace.jobs().startQuietly(
        kPlanKey,
        [=](core::JobContext& job) -> core::Status {
            auto made = plan(document, job);
            if (!made) return made.error();
            *planned = *std::move(made);
            return core::kDone;
        },
        [this, document, planned](const core::Status& status) {
            if (document != m_document) return;
            m_state.isPlanning = false;
            if (!status) m_state.problem = QString::fromStdString(status.error().message);
            if (status) setDocument(*planned);
            emit stateChanged();
        });
}

bool MemoryPresenter::isAskingOther() const
{
    return !(m_state.question ==
             MemoryQuestion{m_document->memory->algorithm, m_document->memory->alignment});
}

void MemoryPresenter::choosePlanner(QString algorithm)
{
    if (!m_state.hasPlan || algorithm == m_state.question.algorithm) return;
    m_state.question.algorithm = algorithm;
    // A compile brings a new document with the new plan; when it cannot start now, ask for it.
    if (!m_workspace.setPlanner(algorithm)) return ask();
    emit stateChanged();
}

void MemoryPresenter::setAlignment(qint64 bytes)
{
    if (bytes == m_state.question.alignment) return;
    m_state.question.alignment = bytes;
    ask();
}

void MemoryPresenter::setPools(QString pools)
{
    const QString text = pools.trimmed();
    if (text == m_state.question.pools) return;
    m_state.question.pools = text;
    ask();
}

void MemoryPresenter::dropWhatIf()
{
    if (!m_state.hasPlan) return;
    m_state.question = {m_state.question.algorithm, m_document->memory->alignment};
    ask();
}

void MemoryPresenter::ask()
{
    if (!m_state.hasPlan) return;
    m_state.problem.clear();
    if (!isAskingOther()) {
        m_workspace.jobs().cancelKey(kPlanKey);
        m_state.isPlanning = false;
        m_whatIf.reset();
        return takePlan();
    }
    const auto found = std::make_shared<MemoryPlan>();
    const auto plan = m_workspace.engine().plan;
    const DocumentPtr document = m_document;
    const MemoryQuestion question = m_state.question;
    m_state.isPlanning = true;
    m_workspace.jobs().startQuietly(
        kPlanKey,
        [=](core::JobContext& job) -> core::Status {
            auto planned = plan(document, question, job);
            if (!planned) return planned.error();
            *found = *std::move(planned);
            return core::kDone;
        },
        [this, found, document, question](const core::Status& status) {
            if (document != m_document || !(question == m_state.question)) return;
            m_state.isPlanning = false;
            m_whatIf = status ? std::shared_ptr<const MemoryPlan>(found) : nullptr;
            if (!status) m_state.problem = QString::fromStdString(status.error().message);
            takePlan();
        });
    emit stateChanged();
}

void MemoryPresenter::takePlan()
{
    m_state.hasPlan = m_document && m_document->memory.has_value();
    m_state.isWhatIf = m_whatIf != nullptr;
    m_state.isCompiled = m_document && m_document == m_workspace.document();
    if (m_state.hasPlan) {
        m_curve = liveCurve(plan());
        m_live->setRows(liveRows(*m_document, m_curve));
        m_buffers->setRows(bufferRows(*m_document, plan()));
        m_planners->setRows(plannerRows(plan()));
        m_state.callCount = static_cast<int>(m_curve.bytes.size());
        if (m_state.selectedBuffer >= m_buffers->rowCount()) m_state.selectedBuffer = -1;
        if (m_state.call < 0 || m_state.call >= m_state.callCount) lookAtPeak();
    } else {
        m_curve = {};
        m_live->setRows({});
        m_buffers->setRows({});
        m_planners->setRows({});
        m_state.callCount = 0;
        m_state.selectedBuffer = -1;
    }
    refresh();
    emit planChanged();
}

void MemoryPresenter::lookAtPeak()
{
    m_state.call = m_curve.peakCall;
    const std::vector<BufferRow> alive = aliveRows(m_buffers->rows(), m_state.call);
    m_state.selectedBuffer = alive.empty() ? -1 : alive.front().buffer;
}

void MemoryPresenter::showCall(int call)
{
    const int shown = std::clamp(call, 0, std::max(0, m_state.callCount - 1));
    if (!m_state.hasPlan || shown == m_state.call) return;
    m_state.call = shown;
    refresh();
}

void MemoryPresenter::selectBuffer(int buffer)
{
    if (!m_state.hasPlan || buffer < -1 || buffer >= m_buffers->rowCount()) return;
    m_state.selectedBuffer = buffer;
    if (buffer >= 0) {
        const BufferRow& row = m_buffers->rows()[static_cast<size_t>(buffer)];
        if (m_state.call < row.firstCall || m_state.call > row.lastCall)
            m_state.call = row.firstCall;
        m_isSelecting = true;
        if (row.node.isValid()) m_workspace.selection().select(row.node);
        m_isSelecting = false;
    }
    refresh();
}

void MemoryPresenter::showNode(core::NodeId node)
{
    if (m_isSelecting || !m_state.hasPlan) return;
    const int call = callServing(*m_document, node);
    if (call < 0) return;
    const auto& rows = plan().buffers;
    const auto written = std::find_if(rows.begin(), rows.end(), [&](const PlannedBuffer& buffer) {
        return buffer.writer == call;
    });
    m_state.selectedBuffer = written == rows.end() ? -1 : static_cast<int>(written - rows.begin());
    m_state.call = std::clamp(call, 0, m_state.callCount - 1);
    refresh();
}

void MemoryPresenter::refresh()
{
    refreshCaptions();
    refreshAlive();
    std::vector<MemoryFact> facts;
    m_state.whyTitle.clear();
    if (m_state.hasPlan && m_state.selectedBuffer >= 0) {
        m_state.whyTitle =
            tr("Why is %1 alive?")
                .arg(m_buffers->rows()[static_cast<size_t>(m_state.selectedBuffer)].label);
        explainLifetime(facts);
        explainPlace(facts);
    }
    m_why->setRows(std::move(facts));
    emit stateChanged();
}

void MemoryPresenter::refreshCaptions()
{
    m_state.curveCaption.clear();
    m_state.mapCaption.clear();
    m_state.plannersCaption.clear();
    if (!m_state.hasPlan) return;
    const MemoryPlan& shown = plan();
    const qint64 lost = shown.arenaBytes - shown.lowerBoundBytes;
    const QString bound = shown.arenaBytes == 0 && shown.valuesAtRunTime > 0 ? QString()
                          : lost == 0 ? tr(" = lower bound (proven)")
                                      : tr(", lower bound %1").arg(byteText(shown.lowerBoundBytes));
    // The target that is named now may be another one.
    const QString mark = m_state.isWhatIf ? tr("what if, not compiled · ")
                         : m_state.isCompiled
                             ? QString()
                             : tr("not compiled yet, as for %1 · ").arg(m_document->target);
    m_state.curveCaption = mark + tr("planner %1 · arena %2%3 · without planning %4")
                                      .arg(shown.algorithm, byteText(shown.arenaBytes), bound,
                                           byteText(shown.withoutReuseBytes));
    if (shown.valuesAtRunTime > 0)
        m_state.curveCaption +=
            tr(" · more at run time for %1").arg(countOf(shown.valuesAtRunTime, tr("value")));
    // Beside the arena, while one kernel runs: a board must have it, too.
    const QString scratch =
        shown.scratchBytes > 0
            ? tr(" + scratch of one kernel %1").arg(bytesExactly(shown.scratchBytes))
            : QString();
    const QString above =
        lost == 0 ? tr("= bound") : tr("%1 above the bound").arg(bytesExactly(lost));
    m_state.mapCaption =
        mark + tr("arena %1 %2").arg(bytesExactly(shown.arenaBytes), above) + scratch;
    m_state.plannersCaption = tr("same lifetimes, alignment %1").arg(shown.alignment);
}

void MemoryPresenter::refreshAlive()
{
    m_state.aliveTitle = tr("Alive");
    m_state.aliveCaption.clear();
    if (!m_state.hasPlan || m_state.call < 0) return m_alive->setRows({});
    std::vector<BufferRow> alive = aliveRows(m_buffers->rows(), m_state.call);
    const auto call = static_cast<size_t>(m_state.call);
    m_state.aliveTitle = call >= m_document->calls.size()
                             ? tr("Alive after the last call")
                             : tr("Alive at call %1").arg(m_state.call);
    m_state.aliveCaption =
        tr("%1 · %2").arg(countOf(static_cast<qint64>(alive.size()), tr("buffer")),
                          bytesExactly(m_curve.bytes[call]));
    m_alive->setRows(std::move(alive));
}

MemoryFact MemoryPresenter::fact(const QString& label, const QString& value, int call) const
{
    const bool isCall = call >= 0 && static_cast<size_t>(call) < m_document->calls.size();
    return {label, value,
            isCall ? m_document->calls[static_cast<size_t>(call)].node : core::NodeId()};
}

void MemoryPresenter::explainLifetime(std::vector<MemoryFact>& facts) const
{
    const PlannedBuffer& buffer = plan().buffers[static_cast<size_t>(m_state.selectedBuffer)];
    const QString text = tr("%1 · call %2");
    facts.push_back(fact(tr("written by"), text.arg(callName(buffer.writer)).arg(buffer.writer),
                         buffer.writer));
    constexpr size_t kShownReaders = 4;
    const size_t count = buffer.readers.size();
    for (size_t i = 0; i < std::min(count, kShownReaders); ++i) {
        // The last reader is what keeps it alive: it is always shown.
        const bool isLast = i + 1 == std::min(count, kShownReaders);
        const int call = isLast ? buffer.readers.back() : buffer.readers[i];
        facts.push_back(fact(isLast ? tr("last read by") : tr("read by"),
                             text.arg(callName(call)).arg(call), call));
    }
    if (count > kShownReaders)
        facts.push_back(fact(
            tr("and by"), countOf(static_cast<qint64>(count - kShownReaders), tr("other call"))));
    if (buffer.isOutput)
        facts.push_back(fact(tr("kept for"), tr("the caller, who gets it as an output")));
}

void MemoryPresenter::explainPlace(std::vector<MemoryFact>& facts) const
{
    const PlannedBuffer& buffer = plan().buffers[static_cast<size_t>(m_state.selectedBuffer)];
    const BufferRow& row = m_buffers->rows()[static_cast<size_t>(m_state.selectedBuffer)];
    if (buffer.writer >= 0)
        facts.push_back(
            fact(tr("from"),
                 sourceNames(m_document->imported,
                             m_document->calls[static_cast<size_t>(buffer.writer)].sources),
                 buffer.writer));
    facts.push_back(fact(tr("tensor"), buffer.name));
    facts.push_back(fact(tr("type"), buffer.type));
    QString size = bytesExactly(buffer.bytes);
    if (buffer.paddingBytes > 0) size += tr(" + %1 padding").arg(bytesExactly(buffer.paddingBytes));
    facts.push_back(fact(tr("size"), size));
    const QString pool = row.pool.isEmpty() ? QString() : row.pool + QStringLiteral(", ");
    facts.push_back(fact(tr("placed at"), pool + tr("offset %1").arg(countText(buffer.offset))));
}

} // namespace tenon::views
