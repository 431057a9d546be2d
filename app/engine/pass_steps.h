// SPDX-License-Identifier: GPL-3.0-or-later
// The rewrites of one pass as steps of their own, for the window.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

/// The document with that pass rewrite by rewrite, or with whole passes again; what was compiled,
/// measured and compared stays.
core::Result<views::DocumentPtr> stepPass(const EngineOptions& engine,
                                          const views::DocumentPtr& document,
                                          const views::BuildOptions& build,
                                          const std::optional<views::SteppedPass>& stepped,
                                          core::JobContext& job);

} // namespace tenon::app
