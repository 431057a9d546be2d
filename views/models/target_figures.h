// SPDX-License-Identifier: GPL-3.0-or-later
// What cost models take a target's processor for, each figure with who says so.
#pragma once

#include "views/models/table_model.h"

#include <QString>

namespace tenon::views {

struct TargetFigure
{
    QString name; ///< "float_macs"
    QString value;
    QString unit;   ///< "multiply-adds of float32 per cycle"
    QString source; ///< a document; empty: estimated
};
using TargetFigureModel = TableModel<TargetFigure>;

struct TargetFigures
{
    QString machine; ///< "Arm Cortex-A72"
    QString remark;  ///< whose figures stand in for a processor without a row; empty: its own
    std::vector<TargetFigure> rows;
};

TargetFigureModel* makeTargetFigureModel(QObject* parent);

} // namespace tenon::views
