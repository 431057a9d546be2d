// SPDX-License-Identifier: GPL-3.0-or-later
// TrialEngine: what the window asks for when a model is tried on a picture or a sound, as plain
// functions run inside jobs.
#pragma once

#include "views/models/trial_rows.h"
#include "views/presenters/board_engine.h"

namespace tenon::views {

struct TrialEngine
{
    /// One run of the model with these options, on the question's board.
    std::function<core::Result<TrialOutcome>(DocumentPtr, const BuildOptions&, const TrialQuestion&,
                                             const BoardAsk&, core::JobContext&)>
        run;
    /// Whether a line of preprocessing can be read.
    std::function<core::Status(const QString& line)> checkLine;
    QString keys; ///< of that line, with what they take
};

} // namespace tenon::views
