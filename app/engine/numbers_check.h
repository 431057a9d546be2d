// SPDX-License-Identifier: GPL-3.0-or-later
// The module after every pass evaluated beside the imported one, as `tenon passes
// --verify-numerics` does.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

/// The document with the largest difference behind each of its passes that changed something, and
/// with the pass that goes too far, where one does.
core::Result<views::DocumentPtr> checkNumbers(const EngineOptions& engine,
                                              const views::DocumentPtr& document,
                                              const views::BuildOptions& build,
                                              core::JobContext& job);

} // namespace tenon::app
