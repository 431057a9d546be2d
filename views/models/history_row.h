// SPDX-License-Identifier: GPL-3.0-or-later
// HistoryRow: an earlier measurement of the model on a board.
#pragma once

#include "views/models/format.h"

#include <QString>

#include <vector>

namespace tenon::views {

/// A kernel call of an earlier measurement.
struct PastCall
{
    QString title;
    double us = 0;
};

/// One earlier measurement of the model on the board.
struct HistoryRow
{
    qint64 id = 0;
    QString date;
    QString board;
    bool isOfBoard = true; ///< of the board in use
    QString target;
    QString executor;
    int threads = 1;
    int runs = 0;
    double medianUs = 0;
    double lowUs = 0; ///< 95 % confidence interval of the median
    double highUs = 0;
    /// Against the measurement before it: "12 % faster", or why there is no verdict.
    QString change;
    bool isEmulated = false;
    CostUnit unit = CostUnit::Time;   ///< of all that is called Us here
    std::vector<double> runUs = {};   ///< every sample
    std::vector<PastCall> calls = {}; ///< empty: they were not measured one by one
    QString artifact = {};            ///< SHA-256 of what was measured
};

} // namespace tenon::views
