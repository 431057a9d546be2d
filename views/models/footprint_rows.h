// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the Executors page: bars and their table twin are made from the same footprint.
#pragma once

#include "views/models/footprint.h"
#include "views/models/table_model.h"

namespace tenon::views {

/// A stretch of a bar.
struct StackPart
{
    QString name;
    qint64 bytes = 0;
    int colour = 0; ///< index into the theme's families
};

/// One executor's bar.
struct StackBar
{
    QString label;
    std::vector<StackPart> parts;
    qint64 totalBytes = 0;
    bool isExact = false;
    bool isComplete = false; ///< false: there are parts nobody knows yet
    QString problem;
};

std::vector<StackBar> flashBars(const Footprint& footprint);
std::vector<StackBar> ramBars(const Footprint& footprint);

/// One part of one executor.
struct FootprintRow
{
    QString executor;
    QString memory; ///< "flash" or "RAM"
    QString part;
    qint64 bytes = FootprintPart::kUnknown;
    bool isTotal = false;
    bool isExact = false;
    double share = 0; ///< of the largest total in that memory
};
using FootprintModel = TableModel<FootprintRow>;
FootprintModel* makeFootprintModel(QObject* parent);
std::vector<FootprintRow> footprintRows(const Footprint& footprint);

/// How a bar stands to a board's budget.
struct Fit
{
    qint64 usedBytes = 0;
    qint64 budgetBytes = 0;
    bool isExact = false;
    double share() const
    {
        return budgetBytes > 0 ? static_cast<double>(usedBytes) / static_cast<double>(budgetBytes)
                               : 0;
    }
    bool fits() const { return budgetBytes <= 0 || usedBytes <= budgetBytes; }
    /// "57.6 KiB of 192 KiB", "4.7 MiB of 320 KiB: does not fit", "at least 4 KiB of ...".
    QString text() const;
};

} // namespace tenon::views
