// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the comparison of levels.
#include "views/models/level_rows.h"

#include "views/models/format.h"

#include <algorithm>

namespace tenon::views {

LevelModel* makeLevelModel(QObject* parent)
{
    const auto time = [](const LevelRow& row, int role) -> QVariant {
        if (role == SortRole) return row.share;
        if (role == EmulatedRole) return row.isEmulated;
        if (role == Qt::ToolTipRole)
            return QObject::tr("95 % confidence interval of the median %1 to %2")
                .arg(durationText(row.lowUs), durationText(row.highUs));
        return {};
    };
    return new LevelModel(
        {{QObject::tr("Level"), [](const LevelRow& r) { return QString::number(r.level); }},
         {QObject::tr("Time"), [](const LevelRow& r) { return durationText(r.medianUs); }, true,
          time},
         {QObject::tr("Calls"), [](const LevelRow& r) { return countText(r.calls); }, true},
         {QObject::tr("Kernels"), [](const LevelRow& r) { return countText(r.kernels); }, true},
         {QObject::tr("Workspace"), [](const LevelRow& r) { return byteText(r.workspaceBytes); },
          true},
         {QObject::tr("Constants"), [](const LevelRow& r) { return byteText(r.constantBytes); },
          true},
         {QObject::tr("Library"), [](const LevelRow& r) { return byteText(r.fileBytes); }, true}},
        parent);
}

std::vector<LevelRow> sharedOut(std::vector<LevelRow> rows)
{
    double slowest = 0;
    for (const LevelRow& row : rows) slowest = std::max(slowest, row.medianUs);
    for (LevelRow& row : rows) row.share = slowest > 0 ? row.medianUs / slowest : 0;
    return rows;
}

} // namespace tenon::views
