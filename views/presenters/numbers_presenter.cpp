// SPDX-License-Identifier: GPL-3.0-or-later
// One job; its result is the document with the differences behind its passes.
#include "views/presenters/numbers_presenter.h"

#include <algorithm>
#include <memory>

namespace tenon::views {

namespace {

/// The pass behind which the results differ most.
const PassStep* worstOf(const Document& document)
{
    const PassStep* worst = nullptr;
    for (const PassStep& step : document.passes)
        if (step.maxAbsError && (!worst || *step.maxAbsError > *worst->maxAbsError)) worst = &step;
    return worst;
}

} // namespace

NumbersPresenter::NumbersPresenter(WorkspacePresenter& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &NumbersPresenter::refresh);
    refresh();
}

void NumbersPresenter::check()
{
    if (!m_state.canCheck) return;
    m_workspace.forgetFailure();
    m_state.isRunning = true;
    const DocumentPtr document = m_workspace.document();
    const auto made = std::make_shared<DocumentPtr>();
    m_workspace.jobs().start(
        QStringLiteral("model"), tr("Check the numbers of %1").arg(m_workspace.state().title),
        [document, made, options = m_workspace.options(),
         work = m_workspace.engine().checkNumbers](core::JobContext& job) -> core::Status {
            auto checked = work(document, options, job);
            if (!checked) return checked.error();
            *made = *std::move(checked);
            return core::kDone;
        },
        [this, document, made](const core::Status& status) {
            m_state.isRunning = false;
            // Another model may have been opened meanwhile.
            if (status && m_workspace.document() == document) {
                m_workspace.takeResult(*made);
                if ((*made)->brokenPass >= 0) emit broke((*made)->brokenPass + 1);
            } else if (!status && status.error().code != core::DiagnosticCode::Cancelled) {
                m_workspace.report(tr("The numbers could not be checked"), status.error());
            }
            refresh();
        });
    refresh();
}

void NumbersPresenter::refresh()
{
    const DocumentPtr& document = m_workspace.document();
    m_state.text.clear();
    m_state.isBroken = false;
    m_state.canCheck = document && !document->passes.empty() && m_workspace.engine().checkNumbers &&
                       m_workspace.state().canBuild && !m_state.isRunning;
    if (m_state.isRunning) m_state.text = tr("evaluating the model behind every pass…");
    if (document && document->areNumbersChecked) {
        const PassStep* worst = worstOf(*document);
        m_state.isBroken = !document->numbersProblem.isEmpty();
        m_state.text = m_state.isBroken ? document->numbersProblem
                       : worst ? tr("numbers hold: results differ by at most %1, behind %2")
                                     .arg(*worst->maxAbsError, 0, 'g', 3)
                                     .arg(worst->name)
                               : tr("numbers hold: no pass changed anything");
    }
    emit stateChanged();
}

} // namespace tenon::views
