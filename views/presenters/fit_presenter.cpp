// SPDX-License-Identifier: GPL-3.0-or-later
// Follows document, budget and measurement.
#include "views/presenters/fit_presenter.h"

#include <memory>

namespace tenon::views {

namespace {

const QString kFitKey = QStringLiteral("executors.fit");

} // namespace

FitPresenter::FitPresenter(WorkspacePresenter& workspace, ExecutorsPresenter& executors,
                           QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_executors(executors)
    , m_rows(makeFitModel(this))
{
    connect(&executors, &ExecutorsPresenter::stateChanged, this, &FitPresenter::follow);
}

void FitPresenter::setLookedAt(bool isLookedAt)
{
    m_isLookedAt = isLookedAt;
    follow();
}

void FitPresenter::follow()
{
    const DocumentPtr document = m_workspace.document();
    const std::optional<MemoryBudget> budget = m_executors.budget();
    const bool isReady = document && document->isCompiled() && budget &&
                         m_executors.state().hasFootprint && m_workspace.engine().explainFit;
    if (!isReady) {
        if (m_board.isEmpty()) return;
        m_board.clear();
        m_document.reset();
        m_workspace.jobs().cancelKey(kFitKey);
        m_rows->setRows({});
        m_state = {};
        emit stateChanged();
        return;
    }
    const bool isExact = m_executors.state().isExact;
    const bool isSame = document == m_document && budget->name == m_board && isExact == m_isExact;
    if (isSame || !m_isLookedAt || m_executors.state().isWorking) return;
    m_document = document;
    m_board = budget->name;
    m_isExact = isExact;
    explain(*budget);
}

void FitPresenter::explain(const MemoryBudget& budget)
{
    m_state.isWorking = true;
    const auto account = std::make_shared<FitAccount>();
    const auto work = m_workspace.engine().explainFit;
    m_workspace.jobs().startQuietly(
        kFitKey,
        [=, document = m_document, isExact = m_isExact](core::JobContext& job) -> core::Status {
            auto made = work(document, budget, isExact, job);
            if (!made) return made.error();
            *account = *std::move(made);
            return core::kDone;
        },
        [this, account, document = m_document](const core::Status& status) {
            if (document != m_document) return;
            m_state = {.verdict = account->verdict,
                       .fits = account->fits,
                       .flashBytes = account->flashBytes,
                       .ramBytes = account->ramBytes};
            if (!status && status.error().code != core::DiagnosticCode::Cancelled)
                m_state.problem = QString::fromStdString(status.error().message);
            m_rows->setRows(status ? account->rows : std::vector<FitRow>());
            emit stateChanged();
        });
    emit stateChanged();
}

} // namespace tenon::views
