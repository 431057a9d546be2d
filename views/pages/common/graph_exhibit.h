// SPDX-License-Identifier: GPL-3.0-or-later
// What one can do with a graph beyond what one can do with any picture.
#pragma once

#include "views/canvas/graph_canvas.h"
#include "views/pages/common/exhibit.h"

namespace tenon::views {

/// Files have the whole graph at full detail, the menu is that of the card under the pointer, and
/// Ctrl+C takes what the selected card says.
void exhibitGraph(GraphCanvas& canvas, Exhibit& exhibit);

} // namespace tenon::views
