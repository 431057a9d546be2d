// SPDX-License-Identifier: GPL-3.0-or-later
// Report: everything the window knows about a model as one HTML page that needs nothing else.
#pragma once

#include "views/models/document.h"
#include "views/models/footprint.h"

#include <optional>

namespace tenon::views {

struct ReportParts
{
    QString madeBy;       ///< program and version
    QString date;         ///< of the report
    QByteArray graph;     ///< an <svg> element; empty: the graph is left out
    QString graphMissing; ///< why there is none
    std::optional<Footprint> footprint;
};

/// Complete and self-contained; the tables are those of the window, number by number.
QString reportHtml(const Document& document, const ReportParts& parts);

} // namespace tenon::views
