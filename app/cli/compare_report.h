// SPDX-License-Identifier: Apache-2.0
// A comparison as a table, as JSON and as CSV.
#pragma once

#include "app/cli/command.h"
#include "core/compare/comparison.h"

namespace tenon::cli {

struct CompareReport
{
    size_t most = 0; ///< rows of the table, the worst ones; 0: all, in execution order
    bool tellsAbsorbed = false;
};

std::string comparisonText(const Comparison& comparison, const CompareReport& report);
Json comparisonJson(const Comparison& comparison);
/// One line per tensor behind one of names.
std::string comparisonCsv(const Comparison& comparison);

} // namespace tenon::cli
