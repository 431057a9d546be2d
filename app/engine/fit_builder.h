// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a compiled model fits a board, and why, for the window.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

/// With a linked image where `isLinked`.
core::Result<views::FitAccount> explainFit(const views::DocumentPtr& document,
                                           const views::MemoryBudget& budget, bool isLinked,
                                           core::JobContext& job);

} // namespace tenon::app
