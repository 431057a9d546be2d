// SPDX-License-Identifier: GPL-3.0-or-later
// Two measurements of a model, call by call.
#pragma once

#include "views/models/deployment.h"
#include "views/models/table_model.h"

#include <optional>

namespace tenon::views {

/// A kernel call in both; nothing in the run that does not have it.
struct CallChangeRow
{
    QString title;
    std::optional<double> beforeUs;
    std::optional<double> nowUs;
    CostUnit unit = CostUnit::Time;
    double share = 0; ///< of the largest difference; 0 to 1

    std::optional<double> differenceUs() const
    {
        return beforeUs && nowUs ? std::optional(*nowUs - *beforeUs) : std::nullopt;
    }
};
using CallChangeModel = TableModel<CallChangeRow>;
CallChangeModel* makeCallChangeModel(QObject* parent);

/// Empty where one of them has no times of calls, or the other counts something else.
std::vector<CallChangeRow> callChangeRows(const HistoryRow& now, const HistoryRow& before);

/// "2026-11-25 10:20 · 3.51 ms, 12 % faster than 2026-11-24 09:00 · 4.00 ms", as far as it is
/// known.
QString runChangeText(const HistoryRow& now, const HistoryRow& before);

} // namespace tenon::views
