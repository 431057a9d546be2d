// SPDX-License-Identifier: GPL-3.0-or-later
// The draft, its problems, the job, and the words for what came of it.
#include "views/presenters/compare_presenter.h"

#include "views/models/format.h"
#include "views/presenters/board_prompt.h"

#include <QFileInfo>
#include <QPointer>

#include <algorithm>

namespace tenon::views {

namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }

} // namespace

ComparePresenter::ComparePresenter(WorkspacePresenter& workspace, BoardsPresenter& boards,
                                   BoardPrompt& prompt, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_boards(boards)
    , m_prompt(prompt)
    , m_tensors(makeCompareModel(this))
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &ComparePresenter::refresh);
    connect(&boards, &BoardsPresenter::stateChanged, this, &ComparePresenter::refresh);
    connect(&workspace.selection(), &Selection::changed, this, &ComparePresenter::selectNode);
    refresh();
}

/// Other results of the same model, and the model at another level, leave the comparison; another
/// model takes it and the choices that were about the last one.
void ComparePresenter::setDocument(bool)
{
    const DocumentPtr& document = m_workspace.document();
    if (document && document->comparison && document->comparison == m_outcome.comparison)
        return refresh();
    m_outcome = {};
    m_tensors->setRows({});
    m_state.error.clear();
    m_state.selected = -1;
    refreshResult();
    refresh();
    emit selectionChanged();
}

void ComparePresenter::setReferenceKind(ReferenceKind kind)
{
    if (kind == m_state.kind) return;
    m_state.kind = kind;
    m_state.referencePath.clear(); // a folder is no model
    refresh();
}

void ComparePresenter::setReferencePath(QString path)
{
    m_state.referencePath = path.trimmed();
    refresh();
}

void ComparePresenter::setData(QString path)
{
    m_state.data = path.trimmed();
    refresh();
}

void ComparePresenter::setIsolates(bool isolates)
{
    m_state.isolates = isolates;
    refresh();
}

void ComparePresenter::setMeasuresNoise(bool measuresNoise)
{
    m_state.measuresNoise = measuresNoise;
    refresh();
}

CompareQuestion ComparePresenter::question() const
{
    CompareQuestion out;
    out.model = m_workspace.state().path;
    out.options = m_workspace.options();
    if (!m_boards.board().isHere()) out.board = m_boards.board().name;
    out.data = m_state.data;
    out.isolates = m_state.isolates;
    out.measuresNoise = m_state.measuresNoise;
    switch (m_state.kind) {
    case ReferenceKind::LevelZero: break;
    case ReferenceKind::Folder:
    case ReferenceKind::Model: out.reference = m_state.referencePath; break;
    case ReferenceKind::OnnxRuntime: out.reference = QStringLiteral("onnxruntime"); break;
    }
    return out;
}

void ComparePresenter::compare()
{
    if (!m_state.canStart) return;
    m_workspace.forgetFailure();
    m_state.error.clear();
    m_state.isRunning = true;
    const auto outcome = std::make_shared<CompareOutcome>();
    const Asked asked{m_workspace.document(), question()};
    const auto finished = [self = QPointer<ComparePresenter>(this), outcome,
                           asked](const core::Status& status) {
        if (self) self->finish(asked, *outcome, status);
    };
    m_workspace.jobs().start(
        QStringLiteral("model"),
        tr("Compare %1 on %2").arg(m_workspace.state().title, m_boards.board().titleInText()),
        [question = asked.question, outcome, run = m_workspace.engine().comparing.run,
         ask = m_prompt.asker()](core::JobContext& job) -> core::Status {
            auto made = run(question, ask, job);
            if (!made) return made.error();
            *outcome = *std::move(made);
            return core::kDone;
        },
        finished);
    refresh();
}

void ComparePresenter::cancel()
{
    if (m_state.isRunning) m_workspace.cancel();
}

void ComparePresenter::finish(const Asked& asked, const CompareOutcome& outcome,
                              const core::Status& status)
{
    m_state.isRunning = false;
    if (status) {
        takeOutcome(asked, outcome);
    } else if (status.error().code != core::DiagnosticCode::Cancelled) {
        m_state.error = text(status.error().message);
        m_workspace.report(tr("The model could not be compared"), status.error());
        m_boards.noteFailure(asked.question.board, status.error());
    }
    refresh();
}

/// Another model may have been opened meanwhile.
void ComparePresenter::takeOutcome(const Asked& asked, const CompareOutcome& outcome)
{
    const DocumentPtr& now = m_workspace.document();
    if (!now || !asked.document || now->path != asked.document->path || !outcome.comparison) return;
    m_outcome = outcome;
    m_answered = asked.question;
    m_state.selected = -1;
    auto made = std::make_shared<Document>(*now);
    made->comparison = outcome.comparison;
    ++made->revision;
    m_tensors->setRows(compareRows(*outcome.comparison, *now));
    refreshResult();
    m_workspace.takeResult(made);
    selectTensor(m_state.verdict.tensor);
}

void ComparePresenter::selectTensor(int tensor)
{
    const auto& rows = m_tensors->rows();
    if (tensor < -1 || tensor >= static_cast<int>(rows.size())) return;
    if (tensor == m_state.selected) return;
    m_state.selected = tensor;
    emit stateChanged();
    emit selectionChanged();
}

void ComparePresenter::selectNode(core::NodeId node)
{
    const DocumentPtr& document = m_workspace.document();
    if (!document || !m_outcome.comparison || !node.isValid()) return;
    const auto& rows = m_tensors->rows();
    if (m_state.selected >= 0 && rows[static_cast<size_t>(m_state.selected)].node == node) return;
    const auto named = std::find_if(rows.begin(), rows.end(),
                                    [&](const CompareRow& row) { return row.node == node; });
    if (named != rows.end()) return selectTensor(static_cast<int>(named - rows.begin()));
    for (size_t version = 0; version < document->versionCount(); ++version) {
        const core::NodePtr& record = document->version(version).findNode(node);
        if (!record) continue;
        const int tensor = tensorOfNode(*m_outcome.comparison, *record);
        return tensor >= 0 ? selectTensor(tensor) : void();
    }
}

QString ComparePresenter::problem() const
{
    const WorkspaceState& state = m_workspace.state();
    if (!state.hasDocument) return tr("open a model first");
    if (state.errorCount > 0) return tr("the model has errors, which the Inspect page lists");
    if (!m_state.data.isEmpty() && !QFileInfo::exists(m_state.data))
        return tr("there is no folder %1").arg(m_state.data);
    const bool needsPath =
        m_state.kind == ReferenceKind::Folder || m_state.kind == ReferenceKind::Model;
    if (needsPath && m_state.referencePath.isEmpty())
        return m_state.kind == ReferenceKind::Model ? tr("choose the model to compare with")
                                                    : tr("choose the folder of expected tensors");
    if (needsPath && !QFileInfo::exists(m_state.referencePath))
        return tr("there is no file or folder %1").arg(m_state.referencePath);
    return {};
}

void ComparePresenter::refreshResult()
{
    const core::Comparison* made = m_outcome.comparison.get();
    m_state.hasResult = made != nullptr;
    m_state.verdict = made ? verdictOf(*made) : CompareVerdict();
    m_state.caption.clear();
    m_state.notes.clear();
    if (!made) return;
    m_state.caption = tr("%1, level %2, %3 against %4 · %5")
                          .arg(text(made->place))
                          .arg(made->optLevel)
                          .arg(text(made->executor), text(made->reference),
                               countOf(static_cast<qint64>(made->sets), tr("data set")));
    QStringList notes = m_outcome.notes;
    for (const std::string& reason : made->notCompared) notes << text(reason);
    if (!made->absorbed.empty())
        notes << tr("%1 inside of fused kernels, in no memory of the program: not compared; their "
                    "cards have the error of the kernel")
                     .arg(countOf(static_cast<qint64>(made->absorbed.size()), tr("tensor")));
    m_state.notes = notes.join(QLatin1Char('\n'));
}

void ComparePresenter::refresh()
{
    m_state.hasOnnxRuntime = m_workspace.engine().comparing.hasOnnxRuntime;
    m_state.place = m_boards.board().titleInText();
    m_state.placeDetail = m_state.place + QStringLiteral(" · ") + m_workspace.options().target;
    m_state.problem = problem();
    m_state.commandLine = m_workspace.state().hasDocument ? commandLineOf(question()) : QString();
    m_state.canStart = m_state.problem.isEmpty() && !m_state.isRunning &&
                       m_workspace.engine().comparing.run && m_workspace.state().canBuild &&
                       !m_boards.isWorking();
    m_state.isStale =
        m_state.hasResult && (!(question() == m_answered) || !m_state.error.isEmpty());
    emit stateChanged();
}

} // namespace tenon::views
