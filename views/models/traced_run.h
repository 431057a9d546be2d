// SPDX-License-Identifier: GPL-3.0-or-later
// A document's measurement as the command line's --trace writes it.
#pragma once

#include "core/artifact/trace_events.h"
#include "views/models/document.h"

namespace tenon::views {

/// Of a document that was measured.
core::TracedRun tracedRun(const Document& document);

} // namespace tenon::views
