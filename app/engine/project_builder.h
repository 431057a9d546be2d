// SPDX-License-Identifier: GPL-3.0-or-later
// Projects for the window.
#pragma once

#include "app/engine/engine.h"

namespace tenon::app {

views::ProjectEngine projectEngine(const EngineOptions& options);

} // namespace tenon::app
