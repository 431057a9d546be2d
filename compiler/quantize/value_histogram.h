// SPDX-License-Identifier: Apache-2.0
// How often which values were seen: bins that widen with the values and stay exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tenon::compiler {

/// kBins bins of equal width around zero. When a value lies outside, the width doubles until it
/// does not, and bins are joined in pairs: the counts are those of one pass over all values.
class ValueHistogram
{
public:
    static constexpr int64_t kBins = 32768;

    /// The index of the first value that is NaN or infinite, and nothing more is counted; -1: none.
    int64_t add(std::span<const float> values);

    int64_t count() const { return m_count; }
    double least() const { return m_least; }
    double greatest() const { return m_greatest; }
    double meanSquare() const;

    /// A bin that is not empty. Exact zeros have a bin of their own, of width 0.
    struct Bin
    {
        double centre;
        double width;
        double count;
    };
    std::vector<Bin> bins() const;
    double binWidth() const;
    /// How many came in each of `parts` parts of equal width, from the least to the greatest; empty
    /// where all are the same.
    std::vector<int64_t> counts(size_t parts) const;
    double shareBeyond(double low, double high) const;
    /// Counts of |x| in bins of binWidth(), from 0 on; exact zeros are in the first.
    std::vector<double> magnitudes() const;

private:
    void widenTo(double magnitude);

    std::vector<int64_t> m_bins;
    double m_reach = 0; ///< a power of two; bins cover [-reach, reach]
    int64_t m_count = 0;
    int64_t m_zeros = 0;
    double m_least = 0;
    double m_greatest = 0;
    double m_sumOfSquares = 0;
};

} // namespace tenon::compiler
