// SPDX-License-Identifier: GPL-3.0-or-later
// The draft, its problems, and the job.
#include "views/presenters/trial_presenter.h"

#include <QFileInfo>
#include <QPointer>

#include <memory>

namespace tenon::views {

TrialPresenter::TrialPresenter(WorkspacePresenter& workspace, BoardsPresenter& boards,
                               BoardPrompt& prompt, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_boards(boards)
    , m_prompt(prompt)
    , m_results(makeTrialModel(this))
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &TrialPresenter::refresh);
    connect(&boards, &BoardsPresenter::stateChanged, this, &TrialPresenter::refresh);
    refresh();
}

void TrialPresenter::start(TrialHabit habit)
{
    if (m_model != m_workspace.state().path) {
        m_model = m_workspace.state().path;
        m_state.draft.preprocessing = habit.preprocessing;
        m_state.draft.labels = habit.labels;
        clearResult();
    }
    refresh();
}

void TrialPresenter::clearResult()
{
    m_results->setRows({});
    m_state.summary.clear();
    m_state.effective.clear();
    m_state.note.clear();
    m_state.seen = {};
}

void TrialPresenter::setFile(QString path)
{
    m_state.draft.file = path.trimmed();
    refresh();
}

void TrialPresenter::setPreprocessing(QString line)
{
    m_state.draft.preprocessing = line.simplified();
    refresh();
}

void TrialPresenter::setLabels(QString path)
{
    m_state.draft.labels = path.trimmed();
    refresh();
}

void TrialPresenter::run()
{
    if (!m_state.canStart) return;
    m_workspace.forgetFailure();
    const TrialQuestion asked = m_state.draft;
    const auto outcome = std::make_shared<TrialOutcome>();
    clearResult();
    m_state.isRunning = true;
    m_workspace.jobs().start(
        QStringLiteral("model"), tr("Try the model on %1").arg(QFileInfo(asked.file).fileName()),
        [asked, outcome, work = m_workspace.engine().trying.run, document = m_workspace.document(),
         options = m_workspace.options(),
         ask = m_prompt.asker()](core::JobContext& job) -> core::Status {
            auto made = work(document, options, asked, ask, job);
            if (!made) return made.error();
            *outcome = *std::move(made);
            return core::kDone;
        },
        [self = QPointer<TrialPresenter>(this), asked, outcome](const core::Status& status) {
            if (self) self->finish(asked, *outcome, status);
        });
    refresh();
}

void TrialPresenter::finish(const TrialQuestion& asked, const TrialOutcome& outcome,
                            const core::Status& status)
{
    m_state.isRunning = false;
    if (status) {
        m_results->setRows(outcome.rows);
        m_state.summary = outcome.place;
        m_state.effective = outcome.preprocessing;
        m_state.note = outcome.note;
        m_state.seen = outcome.seen;
        emit settled(m_model, {asked.preprocessing, asked.labels});
    } else if (status.error().code != core::DiagnosticCode::Cancelled) {
        m_state.summary = QString::fromStdString(status.error().text());
    }
    refresh();
}

QString TrialPresenter::problem() const
{
    const TrialQuestion& draft = m_state.draft;
    const WorkspaceState& state = m_workspace.state();
    if (!state.hasDocument) return tr("open a model first");
    if (state.errorCount > 0) return tr("the model has errors, which the Inspect page lists");
    if (draft.file.isEmpty()) return tr("choose a PNG or JPEG picture or a WAV sound");
    if (!QFileInfo(draft.file).isFile()) return tr("there is no file %1").arg(draft.file);
    if (!draft.labels.isEmpty() && !QFileInfo(draft.labels).isFile())
        return tr("there is no file %1").arg(draft.labels);
    if (!m_workspace.engine().trying.checkLine) return {};
    const core::Status read = m_workspace.engine().trying.checkLine(draft.preprocessing);
    return read ? QString() : QString::fromStdString(read.error().message);
}

void TrialPresenter::refresh()
{
    m_state.draft.board = m_boards.board().isHere() ? QString() : m_boards.board().name;
    m_state.place = m_boards.board().titleInText();
    m_state.problem = problem();
    m_state.commandLine =
        commandLineOf(m_state.draft, m_model, commandLineOf(m_workspace.options()));
    m_state.canStart = m_state.problem.isEmpty() && !m_state.isRunning &&
                       m_workspace.engine().trying.run && m_workspace.state().canBuild &&
                       !m_boards.isWorking();
    emit stateChanged();
}

} // namespace tenon::views
