// SPDX-License-Identifier: GPL-3.0-or-later
// Writing what is shown to an SVG or PNG file.
#pragma once

#include "core/base/result.h"

#include <QSize>
#include <QString>

#include <functional>

class QPainter;

namespace tenon::views {

class GraphCanvas;

/// By the path's suffix, .svg or .png; the file is the old or the whole new one. A picture too
/// large for PNG is scaled down. Errors: BadArgument names the suffixes, IoFailure.
core::Status exportPicture(QSizeF size, const std::function<void(QPainter&)>& paint,
                           const QString& path);

/// The whole scene at full detail, not only what the window shows of it.
core::Status exportGraph(GraphCanvas& canvas, const QString& path);
/// The same as an <svg> element in light colours, to stand in a page.
QByteArray graphElement(const GraphCanvas& canvas);

} // namespace tenon::views
