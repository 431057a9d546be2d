// SPDX-License-Identifier: GPL-3.0-or-later
// strokeLines(): long lines, as fast as the raster can.
#pragma once

#include <QPainter>
#include <QPainterPath>
#include <QPen>

namespace tenon::views {

/// Paints what strokePath() paints within `seen`, in the painter's coordinates; lines just above
/// one pixel of the device become one pixel wide.
void strokeLines(QPainter& painter, const QPainterPath& path, const QPen& pen, const QRectF& seen);

} // namespace tenon::views
