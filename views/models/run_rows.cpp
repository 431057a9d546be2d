// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the runs.
#include "views/models/run_rows.h"

namespace tenon::views {

RunTable* makeRunTable(QObject* parent)
{
    return new RunTable(
        {{QStringLiteral("Run"),
          [](const RunRow& r) { return QString::number(r.run); },
          true,
          {},
          [](const RunRow& r) { return r.run; },
          QStringLiteral("")},
         {QStringLiteral("Time"),
          [](const RunRow& r) { return costText(r.us, r.unit); },
          true,
          {},
          [](const RunRow& r) { return r.us; },
          QStringLiteral("µs"),
          [](const RunRow& r) { return std::pair(costTitle(r.unit), costUnitText(r.unit)); }}},
        parent);
}

bool hasSpread(const Measurement& measurement)
{
    return measurement.unit == CostUnit::Time || measurement.runUs.size() > 1;
}

std::vector<RunRow> runRows(const std::optional<Measurement>& measurement)
{
    std::vector<RunRow> rows;
    if (measurement)
        for (const double us : measurement->runUs)
            rows.push_back({static_cast<int>(rows.size()) + 1, us, measurement->unit});
    return rows;
}

} // namespace tenon::views
