// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the comparison of levels.
#include "views/models/level_rows.h"

#include "views/models/format.h"

#include <algorithm>

namespace tenon::views {

LevelModel* makeLevelModel(QObject* parent)
{
    const auto time = [](const LevelRow& row, int role) -> QVariant {
        if (role == FigureRole) return row.share;
        if (role == EmulatedRole) return row.isEmulated;
        if (role == Qt::ToolTipRole && row.unit == CostUnit::Instructions)
            return fullCostText(row.medianUs, row.unit);
        if (role == Qt::ToolTipRole)
            return QObject::tr("95 % confidence interval of the median %1 to %2")
                .arg(durationText(row.lowUs), durationText(row.highUs));
        return {};
    };
    const auto column = [](const QString& title, auto text, auto LevelRow::*member,
                           const char* unit) -> TableColumn<LevelRow> {
        return {title, [=](const LevelRow& r) { return text(r.*member); },     true,
                {},    [=](const LevelRow& r) { return QVariant(r.*member); }, QLatin1String(unit)};
    };
    return new LevelModel(
        {{QObject::tr("Level"), [](const LevelRow& r) { return QString::number(r.level); }},
         {QObject::tr("Time"), [](const LevelRow& r) { return costText(r.medianUs, r.unit); }, true,
          time, [](const LevelRow& r) { return r.medianUs; }, QStringLiteral("µs"),
          [](const LevelRow& r) { return std::pair(costTitle(r.unit), costUnitText(r.unit)); }},
         column(QObject::tr("Calls"), countText, &LevelRow::calls, ""),
         column(QObject::tr("Kernels"), countText, &LevelRow::kernels, ""),
         column(QObject::tr("Workspace"), byteText, &LevelRow::workspaceBytes, "B"),
         column(QObject::tr("Constants"), byteText, &LevelRow::constantBytes, "B"),
         column(QObject::tr("Library"), byteText, &LevelRow::fileBytes, "B")},
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
