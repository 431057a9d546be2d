// SPDX-License-Identifier: Apache-2.0
// Robust summaries of timing samples.
#include "remote/measure/statistics.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tenon::remote {

namespace {

double medianOfSorted(const std::vector<double>& sorted)
{
    const size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

} // namespace

// The interval of the median comes from order statistics: the number of samples below the true
// median is binomial(n, 1/2) whatever the distribution, so the samples at ranks n/2 -+ 1.96
// sqrt(n)/2 enclose it in 95 % of cases (David and Nagaraja, Order Statistics, 7.1). It is told as
// one number, so the farther of the two ends counts for both sides: never too narrow. Below six
// samples the whole range stands in for it.
Summary summarize(std::vector<double> values)
{
    Summary summary;
    if (values.empty()) return summary;
    std::sort(values.begin(), values.end());
    const double count = static_cast<double>(values.size());
    summary.samples = values.size();
    summary.min = values.front();
    summary.median = medianOfSorted(values);
    summary.p95 = values[static_cast<size_t>(std::ceil(0.95 * count)) - 1];
    const double half = 1.96 * std::sqrt(count) / 2;
    const double low = std::floor(count / 2 - half);
    const double high = std::ceil(count / 2 + half);
    const double from = low < 1 ? values.front() : values[static_cast<size_t>(low) - 1];
    const double to = high >= count ? values.back() : values[static_cast<size_t>(high)];
    summary.half = std::max(summary.median - from, to - summary.median);
    summary.ci95Low = std::max(0.0, summary.median - summary.half);
    summary.ci95High = summary.median + summary.half;
    for (double& value : values) value = std::abs(value - summary.median);
    std::sort(values.begin(), values.end());
    summary.mad = medianOfSorted(values);
    return summary;
}

TimeUnit TimeUnit::of(double medianMs)
{
    constexpr double kUsPerMs = 1000;
    return medianMs < 1 ? TimeUnit{"µs", kUsPerMs} : TimeUnit{"ms", 1};
}

TimeUnit TimeUnit::of(const Summary& summary)
{
    return summary.areInstructions ? TimeUnit{"instructions", 1e6, 0} : of(summary.median);
}

std::string TimeUnit::digits(double ms) const
{
    if (decimals == 0) return core::thousands(std::llround(ms * perMs));
    return core::fixed(ms * perMs, decimals);
}

std::string TimeUnit::text(double ms) const { return digits(ms) + " " + name; }

std::string medianText(const Summary& summaryMs)
{
    const TimeUnit unit = TimeUnit::of(summaryMs);
    if (summaryMs.areInstructions) return unit.text(summaryMs.median);
    std::string out = "median " + unit.text(summaryMs.median);
    if (summaryMs.hasInterval()) out += " ± " + unit.digits(summaryMs.half);
    return out;
}

} // namespace tenon::remote
