// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of any model as text for other programs: the clipboard and files.
#pragma once

#include <QModelIndexList>
#include <QString>

class QAbstractItemModel;

namespace tenon::views {

/// All cells of each row as they are shown, with tabs between them; a row per line.
QString tabbedRows(const QModelIndexList& rows);
/// A line of titles with units, then all rows in their order, of a tree those that hold no others.
/// Numbers are plain; as RFC 4180 has it, with LF.
QString csvText(const QAbstractItemModel& model);

} // namespace tenon::views
