// SPDX-License-Identifier: Apache-2.0
// Robust summaries of timing samples.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::remote {

/// Of a sample; all zero for an empty one. What stands behind a `±` is `half`, everywhere.
struct Summary
{
    size_t samples = 0;
    double median = 0;
    double mad = 0; ///< median absolute deviation from the median
    double p95 = 0;
    double half = 0;    ///< the 95 % confidence interval reaches so far to each side of the median
    double ci95Low = 0; ///< the interval's ends; never below zero
    double ci95High = 0;
    double min = 0;
    /// Not milliseconds but millions of instructions: what an emulator counts stands where times
    /// do.
    bool areInstructions = false;

    /// Below six samples no two of them enclose the median in 95 % of cases; their range stands in.
    bool hasInterval() const { return samples >= 6; }
};

Summary summarize(std::vector<double> values);

/// Below a millisecond times are written in microseconds: what stands in one line has the unit of
/// its median.
struct TimeUnit
{
    std::string name; ///< "ms", "µs" or "instructions"
    double perMs = 1;
    int decimals = 3;

    static TimeUnit of(double medianMs);
    static TimeUnit of(const Summary& summary);
    std::string digits(double ms) const; ///< no unit
    std::string text(double ms) const;   ///< "3.510 ms", "7.012 µs"
};

/// "median 3.510 ms ± 0.102", "median 7.012 µs"; of times in milliseconds.
std::string medianText(const Summary& summaryMs);

} // namespace tenon::remote
