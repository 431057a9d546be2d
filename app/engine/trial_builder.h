// SPDX-License-Identifier: GPL-3.0-or-later
// One run of the opened model on a picture or a sound, as `tenon run --image` makes it.
#pragma once

#include "app/engine/engine.h"
#include "app/runs/program_runs.h"

namespace tenon::app {

core::Result<views::TrialOutcome> tryDocument(const EngineOptions& engine,
                                              const views::DocumentPtr& document,
                                              const views::BuildOptions& build,
                                              const views::TrialQuestion& question,
                                              const runs::RunPlace& place, core::JobContext& job);

/// Whether a line of preprocessing can be read; the keys that it takes.
core::Status checkPreprocessing(const QString& line);
QString preprocessingKeys();

} // namespace tenon::app
