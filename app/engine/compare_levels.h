// SPDX-License-Identifier: GPL-3.0-or-later
// A document's model at every optimization level, for the window.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

core::Result<std::vector<views::LevelRow>> compareLevels(const EngineOptions& engine,
                                                         const views::DocumentPtr& document,
                                                         const views::BuildOptions& build,
                                                         const views::Engine::LevelWatch& watch,
                                                         core::JobContext& job);

} // namespace tenon::app
