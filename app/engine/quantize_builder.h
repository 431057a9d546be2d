// SPDX-License-Identifier: GPL-3.0-or-later
// A model file as one of integers, for the window.
#pragma once

#include "app/engine/engine.h"
#include "app/runs/program_runs.h"

namespace tenon::app {

/// Calibrates on this computer, measures at `place` what the models take there, and writes the file
/// that the question names.
core::Result<views::QuantizeOutcome> quantizeFile(const EngineOptions& engine,
                                                  const views::QuantizeQuestion& question,
                                                  const runs::RunPlace& place,
                                                  core::JobContext& job);

} // namespace tenon::app
