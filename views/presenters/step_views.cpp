// SPDX-License-Identifier: GPL-3.0-or-later
// A short list: the last one used comes first, and the end is dropped.
#include "views/presenters/step_views.h"

#include <algorithm>
#include <utility>

namespace tenon::views {

StepViewPtr stepViewOf(const Stage& stage, const StepQuestion& question)
{
    const bool isAlone = question.mode == DiffMode::After || question.base == question.last;
    auto view = std::make_shared<StepView>();
    view->scene = std::make_shared<const Scene>(
        isAlone ? stage.scene(question.version, DiffMode::After, question.looks)
        : question.mode == DiffMode::Split
            ? stage.split(question.base, question.last, question.looks)
            : stage.difference(question.base, question.last, question.looks));
    if (question.base != question.last)
        view->deltas = deltaRows(stage.board().document(), question.base, question.last);
    return view;
}

StepViewPtr StepViews::find(const StepQuestion& question)
{
    const auto found = std::find_if(m_kept.begin(), m_kept.end(),
                                    [&](const auto& kept) { return kept.first == question; });
    if (found == m_kept.end()) return nullptr;
    m_kept.splice(m_kept.begin(), m_kept, found);
    return found->second;
}

void StepViews::keep(const StepQuestion& question, StepViewPtr view)
{
    if (find(question)) return;
    m_kept.emplace_front(question, std::move(view));
    size_t items = 0;
    auto end = m_kept.begin();
    while (end != m_kept.end() && (items += end->second->scene->items.size()) <= kMostItems) ++end;
    m_kept.erase(end, m_kept.end());
}

} // namespace tenon::views
