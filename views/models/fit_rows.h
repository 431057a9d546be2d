// SPDX-License-Identifier: GPL-3.0-or-later
// Why a model fits a board or does not: layers, memories, what is alive at the peak, remedies.
#pragma once

#include "views/models/table_model.h"

#include <QString>

namespace tenon::views {

struct FitRow
{
    static constexpr qint64 kUnknown = -1;
    QString part; ///< "layer", "memory", "at the peak", "remedy"
    QString what;
    qint64 flashBytes = kUnknown;
    qint64 ramBytes = kUnknown;
    QString note;
};

struct FitAccount
{
    QString verdict; ///< one sentence; empty: nothing is known of the board
    bool fits = true;
    std::vector<FitRow> rows;
    qint64 flashBytes = 0; ///< lower limits, from constants and plan, before anything is linked
    qint64 ramBytes = 0;
};

using FitModel = TableModel<FitRow>;
FitModel* makeFitModel(QObject* parent);

} // namespace tenon::views
