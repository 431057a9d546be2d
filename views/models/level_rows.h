// SPDX-License-Identifier: GPL-3.0-or-later
// Optimization levels side by side: time, calls and bytes of each.
#pragma once

#include "views/models/format.h"
#include "views/models/table_model.h"

#include <QString>

namespace tenon::views {

struct LevelRow
{
    int level = 0;
    double medianUs = 0;
    double lowUs = 0; ///< of the interval of 95 %
    double highUs = 0;
    bool isEmulated = false;
    int calls = 0;
    int kernels = 0;
    qint64 workspaceBytes = 0;
    qint64 constantBytes = 0;
    qint64 fileBytes = 0;
    CostUnit unit = CostUnit::Time;
    double share = 0; ///< of the slowest level's time
};
using LevelModel = TableModel<LevelRow>;

LevelModel* makeLevelModel(QObject* parent);
/// With their shares of the slowest.
std::vector<LevelRow> sharedOut(std::vector<LevelRow> rows);

} // namespace tenon::views
