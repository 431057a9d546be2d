// SPDX-License-Identifier: GPL-3.0-or-later
// Report: everything the window knows about a model as one HTML page that needs nothing else.
#pragma once

#include "views/models/compare_rows.h"
#include "views/models/document.h"
#include "views/models/footprint.h"

#include <optional>

namespace tenon::views {

/// What the Compare page shows.
struct ReportedComparison
{
    QString caption; ///< where, against what, with which data
    CompareVerdict verdict;
    QString notes; ///< a line each
    const CompareModel* tensors = nullptr;
};

struct ReportParts
{
    QString madeBy;       ///< program and version
    QString date;         ///< of the report
    QByteArray graph;     ///< an <svg> element; empty: the graph is left out
    QString graphMissing; ///< why there is none
    std::optional<Footprint> footprint;
    std::optional<ReportedComparison> comparison;
};

/// Complete and self-contained; the tables are those of the window, number by number.
QString reportHtml(const Document& document, const ReportParts& parts);

} // namespace tenon::views
