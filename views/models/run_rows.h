// SPDX-License-Identifier: GPL-3.0-or-later
// The runs of a measurement as a table.
#pragma once

#include "views/models/measurement.h"
#include "views/models/table_model.h"

namespace tenon::views {

/// A run of a benchmark.
struct RunRow
{
    int run = 0; ///< from 1
    double us = 0;
    CostUnit unit = CostUnit::Time;
};
using RunTable = TableModel<RunRow>;

RunTable* makeRunTable(QObject* parent);
/// Whether its runs may differ: an emulated board counts one, and every other takes as many.
bool hasSpread(const Measurement& measurement);
std::vector<RunRow> runRows(const std::optional<Measurement>& measurement);

} // namespace tenon::views
