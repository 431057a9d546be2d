// SPDX-License-Identifier: GPL-3.0-or-later
// Where the shape of a value is written on its edge.
#pragma once

#include "views/scene/scene.h"

namespace tenon::views {

/// Labels the edge in the middle of its longest stretch that crosses none of `frames`, those around
/// its ends; near the source on a long way. Leaves it without a label where there is no room.
void placeLabel(const QString& text, const std::vector<QRectF>& frames, const Scene& scene,
                SceneEdge& edge);

} // namespace tenon::views
