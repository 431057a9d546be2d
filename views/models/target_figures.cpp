// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the figures of a processor.
#include "views/models/target_figures.h"

namespace tenon::views {

TargetFigureModel* makeTargetFigureModel(QObject* parent)
{
    const auto sourceOf = [](const TargetFigure& row) {
        return row.source.isEmpty() ? QObject::tr("estimated") : row.source;
    };
    const auto isGuess = [sourceOf](const TargetFigure& row, int role) -> QVariant {
        if (role == MutedRole) return row.source.isEmpty();
        if (role == Qt::ToolTipRole) return sourceOf(row);
        return {};
    };
    return new TargetFigureModel(
        {{QObject::tr("Figure"), [](const TargetFigure& r) { return r.name; }},
         {QObject::tr("Value"), [](const TargetFigure& r) { return r.value; }, true},
         {QObject::tr("Unit"), [](const TargetFigure& r) { return r.unit; }},
         {QObject::tr("Source"), sourceOf, false, isGuess}},
        parent);
}

} // namespace tenon::views
