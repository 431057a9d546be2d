// SPDX-License-Identifier: GPL-3.0-or-later
// What the next keys may ask for is computed while the user looks at a step.
#include "views/presenters/passes_presenter.h"

#include <algorithm>

namespace tenon::views {

StepQuestion PassesPresenter::questionOf(int version, DiffMode mode) const
{
    const auto [base, last] = comparedAt(version);
    return {static_cast<size_t>(version), base, last, mode, m_looks};
}

StepViewPtr PassesPresenter::viewOf(const StepQuestion& question)
{
    if (StepViewPtr kept = m_views.find(question)) return kept;
    StepViewPtr view = stepViewOf(*m_stage, question);
    m_views.keep(question, view);
    return view;
}

void PassesPresenter::lookAhead()
{
    constexpr size_t kAhead = 6;
    if (!m_isLookedAt || !m_stage) return;
    if (m_scene->items.size() * (kAhead + 1) > StepViews::kMostItems) return;
    std::vector<StepQuestion> questions;
    const auto ask = [&](int version, DiffMode mode) {
        if (version < 0 || version >= static_cast<int>(m_board->document().versionCount())) return;
        const StepQuestion question = questionOf(version, mode);
        const bool isNew =
            std::find(questions.begin(), questions.end(), question) == questions.end();
        if (isNew && !m_views.find(question)) questions.push_back(question);
    };
    const std::vector<int> changed = changedVersions();
    for (const int version :
         {nextIn(changed, 1), m_state.version + 1, m_state.version - 1, nextIn(changed, -1)})
        ask(version, m_state.mode);
    for (const DiffMode mode : {DiffMode::Split, DiffMode::After, DiffMode::Union})
        ask(m_state.version, mode);
    if (questions.empty()) return;
    const auto answers = std::make_shared<std::vector<StepViewPtr>>();
    const auto stage = m_stage;
    m_jobs.startQuietly(
        QStringLiteral("passes-ahead"),
        [stage, questions, answers](core::JobContext& job) -> core::Status {
            for (const StepQuestion& question : questions) {
                if (job.stopRequested()) return job.checkStop();
                answers->push_back(stepViewOf(*stage, question));
            }
            return core::kDone;
        },
        [this, stage, questions, answers](const core::Status&) {
            if (stage != m_stage) return;
            // What was finished before another step took over is as good.
            for (size_t i = answers->size(); i-- > 0;) m_views.keep(questions[i], (*answers)[i]);
        });
}

} // namespace tenon::views
