// SPDX-License-Identifier: GPL-3.0-or-later
// Writing what is shown to a file: pictures as SVG or PNG, and text.
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

/// As UTF-8. Errors: IoFailure.
core::Status exportText(const QString& text, const QString& path);

/// The whole scene at full detail, not only what the window shows of it.
core::Status exportGraph(const GraphCanvas& canvas, const QString& path);
QSizeF graphSize(const GraphCanvas& canvas);
void paintGraph(QPainter& painter, const GraphCanvas& canvas);
/// The same as an <svg> element in light colours, to stand in a page.
QByteArray graphElement(const GraphCanvas& canvas);

} // namespace tenon::views
