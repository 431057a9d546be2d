// SPDX-License-Identifier: GPL-3.0-or-later
// StepViews: what the Passes perspective shows of a few steps, kept so that the next key finds it.
#pragma once

#include "views/models/tables.h"
#include "views/scene/stage.h"

#include <list>
#include <memory>

namespace tenon::views {

/// A version, compared with another in one of the ways.
struct StepQuestion
{
    size_t version = 0;
    size_t base = 0; ///< equal to `last` where nothing is compared
    size_t last = 0;
    DiffMode mode = DiffMode::Union;
    CardLooks looks;

    bool operator==(const StepQuestion&) const = default;
};

struct StepView
{
    ScenePtr scene;
    std::vector<DeltaRow> deltas;
};
using StepViewPtr = std::shared_ptr<const StepView>;

/// On any thread: reads the stage and its document, which do not change.
StepViewPtr stepViewOf(const Stage& stage, const StepQuestion& question);

/// The views that were asked for last, within a bound of cards.
class StepViews
{
public:
    /// Cards and frames of all views together, some tens of megabytes.
    static constexpr size_t kMostItems = 150000;

    /// Null where it is not kept.
    StepViewPtr find(const StepQuestion& question);
    void keep(const StepQuestion& question, StepViewPtr view);
    void clear() { m_kept.clear(); }

private:
    std::list<std::pair<StepQuestion, StepViewPtr>> m_kept; ///< the last one used first
};

} // namespace tenon::views
