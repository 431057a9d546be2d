// SPDX-License-Identifier: Apache-2.0
// Sums the tail of a Poisson distribution; counts by index of every axis.
#include "core/compare/stepped_parts.h"

#include <algorithm>
#include <cmath>

namespace tenon::core {

int64_t mostByChance(double mean)
{
    constexpr double kSeldom = 1e-9;
    constexpr double kMany = 500; // from here on a normal distribution will do: 6 deviations
    if (mean > kMany) return static_cast<int64_t>(std::ceil(mean + 6 * std::sqrt(mean)));
    double term = std::exp(-mean);
    int64_t count = 0;
    // The tail itself, because 1 less the sum has no digits left.
    const auto tail = [&](int64_t from, double next) {
        double sum = 0;
        for (int64_t k = from; next > 1e-30 || static_cast<double>(k) < mean; ++k) {
            sum += next;
            next *= mean / static_cast<double>(k + 1);
            if (k > from + 10000) break;
        }
        return sum;
    };
    for (;; ++count) {
        term *= mean / static_cast<double>(count + 1); // of count + 1
        if (static_cast<double>(count) >= mean && tail(count + 1, term) < kSeldom) return count;
    }
}

bool isBeyondChance(const std::vector<bool>& differs, const std::vector<int64_t>& shape,
                    double chance)
{
    const auto isMore = [&](int64_t count, size_t elements) {
        return count > 0 && count > mostByChance(chance * static_cast<double>(elements));
    };
    if (isMore(std::count(differs.begin(), differs.end(), true), differs.size())) return true;
    size_t inner = differs.size();
    for (const int64_t extent : shape) {
        const size_t parts = std::max<size_t>(static_cast<size_t>(extent), 1);
        inner = std::max<size_t>(inner / parts, 1);
        std::vector<int64_t> counts(parts);
        for (size_t i = 0; i < differs.size(); ++i) counts[i / inner % parts] += differs[i] ? 1 : 0;
        const int64_t most = *std::max_element(counts.begin(), counts.end());
        if (isMore(most, differs.size() / parts)) return true;
    }
    return false;
}

} // namespace tenon::core
