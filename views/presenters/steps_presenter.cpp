// SPDX-License-Identifier: GPL-3.0-or-later
// One job; its result is the document with other steps.
#include "views/presenters/steps_presenter.h"

#include "views/models/format.h"

#include <algorithm>
#include <memory>

namespace tenon::views {

StepsPresenter::StepsPresenter(WorkspacePresenter& workspace, PassesPresenter& passes,
                               QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_passes(passes)
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &StepsPresenter::refresh);
    connect(&passes, &PassesPresenter::stateChanged, this, &StepsPresenter::refresh);
    refresh();
}

const PassStep* StepsPresenter::shown() const
{
    const DocumentPtr& document = m_workspace.document();
    const int version = m_passes.state().version;
    if (!document || version < 1 || version >= static_cast<int>(document->versionCount()))
        return nullptr;
    return &document->passes[static_cast<size_t>(version) - 1];
}

namespace {

int rewritesOf(const PassStep& step)
{
    return step.rewrites == 0 ? static_cast<int>(step.changes.size())
                              : step.lastRewrite - step.firstRewrite + 1;
}

} // namespace

void StepsPresenter::enter()
{
    const PassStep* step = shown();
    if (!m_state.canEnter || !step) return;
    SteppedPass stepped{.position = step->position};
    if (step->rewrites > 0) {
        stepped.first = step->firstRewrite;
        stepped.last = step->lastRewrite;
    }
    stepped.stride = (rewritesOf(*step) + kMostSteps - 1) / kMostSteps;
    run(stepped, step->position, stepped.first);
}

void StepsPresenter::leave()
{
    const DocumentPtr& document = m_workspace.document();
    if (!m_state.isInside || m_state.isRunning || !document) return;
    const PassStep* step = shown();
    run(std::nullopt, step ? step->position : -1, 0);
}

/// Then shows the step of that pass which has the rewrite; 0: the whole pass.
void StepsPresenter::run(const std::optional<SteppedPass>& stepped, int position, int rewrite)
{
    m_workspace.forgetFailure();
    m_state.isRunning = true;
    const DocumentPtr document = m_workspace.document();
    const auto made = std::make_shared<DocumentPtr>();
    m_workspace.jobs().start(
        QStringLiteral("model"),
        stepped ? tr("Step through %1").arg(shown()->name) : tr("Whole passes again"),
        [document, made, stepped, options = m_workspace.options(),
         work = m_workspace.engine().stepPass](core::JobContext& job) -> core::Status {
            auto other = work(document, options, stepped, job);
            if (!other) return other.error();
            *made = *std::move(other);
            return core::kDone;
        },
        [this, document, made, position, rewrite](const core::Status& status) {
            m_state.isRunning = false;
            // Another model may have been opened meanwhile.
            if (status && m_workspace.document() == document) {
                take(*made, position, rewrite);
            } else if (!status && status.error().code != core::DiagnosticCode::Cancelled) {
                m_workspace.report(tr("The rewrites could not be listed"), status.error());
            }
            refresh();
        });
    refresh();
}

void StepsPresenter::take(const DocumentPtr& made, int position, int rewrite)
{
    const auto& steps = made->passes;
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const PassStep& step) {
        return step.position == position && step.lastRewrite >= rewrite;
    });
    if (made->stepped && found == steps.end())
        return m_workspace.jobs().tell(
            tr("The changes of this pass only make sense together: there are no single ones"));
    m_workspace.takeResult(made);
    if (found != steps.end()) m_passes.showVersion(static_cast<int>(found - steps.begin()) + 1);
}

void StepsPresenter::refresh()
{
    const PassStep* step = shown();
    const int rewrites = step ? rewritesOf(*step) : 0;
    const bool canRun = m_workspace.engine().stepPass && m_workspace.state().canBuild;
    const DocumentPtr& document = m_workspace.document();
    m_state.isInside = document && document->stepped;
    m_state.canEnter = canRun && !m_state.isRunning && rewrites > 1;
    m_state.text =
        rewrites > 1 ? tr("%1 of %2, one by one").arg(countOf(rewrites, tr("rewrite")), step->name)
                     : tr("the step is one rewrite, or none");
    emit stateChanged();
}

} // namespace tenon::views
