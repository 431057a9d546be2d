// SPDX-License-Identifier: Apache-2.0
// Counting values into bins.
#include "compiler/quantize/value_histogram.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

namespace {

constexpr int64_t kHalf = ValueHistogram::kBins / 2;

} // namespace

double ValueHistogram::binWidth() const { return m_reach / static_cast<double>(kHalf); }

double ValueHistogram::meanSquare() const
{
    return m_count == 0 ? 0 : m_sumOfSquares / static_cast<double>(m_count);
}

void ValueHistogram::widenTo(double magnitude)
{
    if (magnitude == 0 || magnitude <= m_reach) return;
    if (m_reach == 0) {
        m_bins.assign(kBins, 0);
        m_reach = std::exp2(std::ceil(std::log2(magnitude)));
        if (m_reach < magnitude) m_reach *= 2;
        return;
    }
    int doublings = 0;
    for (; m_reach < magnitude; m_reach *= 2) ++doublings;
    std::vector<int64_t> wider(kBins, 0);
    for (int64_t i = 0; i < kBins; ++i) {
        const int64_t fromZero = i - kHalf;
        const int64_t to = doublings > 40 ? (fromZero < 0 ? -1 : 0) : fromZero >> doublings;
        wider[static_cast<size_t>(to + kHalf)] += m_bins[static_cast<size_t>(i)];
    }
    m_bins = std::move(wider);
}

int64_t ValueHistogram::add(std::span<const float> values)
{
    double low = m_count == 0 ? HUGE_VAL : m_least, high = m_count == 0 ? -HUGE_VAL : m_greatest;
    for (size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) return static_cast<int64_t>(i);
        low = std::min(low, static_cast<double>(values[i]));
        high = std::max(high, static_cast<double>(values[i]));
    }
    if (values.empty()) return -1;
    m_least = low;
    m_greatest = high;
    widenTo(std::max(std::abs(low), std::abs(high)));
    const double perBin = m_reach == 0 ? 0 : static_cast<double>(kHalf) / m_reach;
    for (const float value : values) {
        if (value == 0) {
            ++m_zeros;
            continue;
        }
        m_sumOfSquares += static_cast<double>(value) * static_cast<double>(value);
        const auto bin = static_cast<int64_t>(std::floor(static_cast<double>(value) * perBin));
        ++m_bins[static_cast<size_t>(std::clamp(bin + kHalf, int64_t{0}, kBins - 1))];
    }
    m_count += static_cast<int64_t>(values.size());
    return -1;
}

std::vector<ValueHistogram::Bin> ValueHistogram::bins() const
{
    std::vector<Bin> out;
    if (m_zeros > 0) out.push_back({0, 0, static_cast<double>(m_zeros)});
    const double width = binWidth();
    for (size_t i = 0; i < m_bins.size(); ++i)
        if (m_bins[i] > 0)
            out.push_back({(static_cast<double>(i) + 0.5 - static_cast<double>(kHalf)) * width,
                           width, static_cast<double>(m_bins[i])});
    // Bins at the ends hold nothing beyond what was seen.
    for (Bin& bin : out) bin.centre = std::clamp(bin.centre, m_least, m_greatest);
    return out;
}

std::vector<int64_t> ValueHistogram::counts(size_t parts) const
{
    const double reach = m_greatest - m_least;
    if (m_count == 0 || reach <= 0) return {};
    std::vector<int64_t> out(parts, 0);
    for (const Bin& bin : bins()) {
        const double place = (bin.centre - m_least) / reach * static_cast<double>(parts);
        out[std::min(static_cast<size_t>(std::max(place, 0.0)), parts - 1)] +=
            static_cast<int64_t>(bin.count);
    }
    return out;
}

double ValueHistogram::shareBeyond(double low, double high) const
{
    double beyond = 0;
    for (const Bin& bin : bins()) {
        const double half = bin.width / 2;
        if (bin.centre + half < low || bin.centre - half > high) beyond += bin.count;
    }
    return m_count == 0 ? 0 : beyond / static_cast<double>(m_count);
}

std::vector<double> ValueHistogram::magnitudes() const
{
    std::vector<double> out(static_cast<size_t>(kHalf), 0.0);
    out[0] = static_cast<double>(m_zeros);
    for (size_t i = 0; i < m_bins.size(); ++i) {
        const auto fromZero = static_cast<int64_t>(i) - kHalf;
        out[static_cast<size_t>(fromZero < 0 ? -fromZero - 1 : fromZero)] +=
            static_cast<double>(m_bins[i]);
    }
    const double largest = std::max(std::abs(m_least), std::abs(m_greatest));
    const double used = m_reach == 0 ? 1 : std::ceil(largest / binWidth());
    out.resize(std::clamp(static_cast<size_t>(used), size_t{1}, out.size()));
    return out;
}

} // namespace tenon::compiler
