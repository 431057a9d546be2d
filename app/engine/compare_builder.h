// SPDX-License-Identifier: GPL-3.0-or-later
// A model file beside a reference, for the window.
#pragma once

#include "app/engine/engine.h"
#include "app/runs/program_runs.h"
#include "views/presenters/compare_question.h"

namespace tenon::app {

/// Runs both sides and keeps the values of every tensor on the disk, as far as there is room.
core::Result<views::CompareOutcome> compareFile(const EngineOptions& engine,
                                                const views::CompareQuestion& question,
                                                const runs::RunPlace& place, core::JobContext& job);

/// What compareFile() kept of a tensor. Error BadArgument for one that had no room.
core::Result<views::TensorValues> valuesOf(const views::CompareOutcome& outcome, size_t tensor);

} // namespace tenon::app
