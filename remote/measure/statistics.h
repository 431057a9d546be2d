// SPDX-License-Identifier: Apache-2.0
// Robust summaries of timing samples.
#pragma once

#include <vector>

namespace tenon::remote {

/// Of a sample; all zero for an empty one.
struct Summary
{
    double median = 0;
    double mad = 0; ///< median absolute deviation from the median
    double p95 = 0;
    double ci95Low = 0; ///< 95 % confidence interval of the median
    double ci95High = 0;
    double min = 0;
};

Summary summarize(std::vector<double> values);

} // namespace tenon::remote
