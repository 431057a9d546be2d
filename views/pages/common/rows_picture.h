// SPDX-License-Identifier: GPL-3.0-or-later
// A view painted with all of its rows, not only those that it has room for.
#pragma once

#include <QSizeF>

class QAbstractItemView;
class QPainter;

namespace tenon::views {

QSizeF rowsPictureSize(const QAbstractItemView& view);
/// By the view's own delegates, in its columns' widths, with their titles.
void paintRows(const QAbstractItemView& view, QPainter& painter);

} // namespace tenon::views
