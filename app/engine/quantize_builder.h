// SPDX-License-Identifier: GPL-3.0-or-later
// A model file as one of integers, for the window.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

/// Calibrates on this computer and writes the file that the question names.
core::Result<views::QuantizeOutcome> quantizeFile(const EngineOptions& engine,
                                                  const views::QuantizeQuestion& question,
                                                  core::JobContext& job);

} // namespace tenon::app
