// SPDX-License-Identifier: Apache-2.0
// A table of the longest common sequences of all ends of both lists, read from its corner.
#include "core/base/alignment.h"

#include <algorithm>
#include <cstdint>

namespace tenon::core {

namespace {

constexpr size_t kMostEntries = 4000; ///< the table has their square

using Lengths = std::vector<std::vector<uint32_t>>;

Lengths commonLengths(const std::vector<std::string>& a, const std::vector<std::string>& b)
{
    Lengths length(a.size() + 1, std::vector<uint32_t>(b.size() + 1));
    for (size_t i = a.size(); i-- > 0;)
        for (size_t k = b.size(); k-- > 0;)
            length[i][k] = a[i] == b[k] ? length[i + 1][k + 1] + 1
                                        : std::max(length[i + 1][k], length[i][k + 1]);
    return length;
}

std::vector<AlignedRow> byPlace(size_t first, size_t second)
{
    std::vector<AlignedRow> rows;
    for (size_t i = 0; i < std::max(first, second); ++i)
        rows.push_back(
            {i < first ? static_cast<int>(i) : -1, i < second ? static_cast<int>(i) : -1});
    return rows;
}

} // namespace

std::vector<AlignedRow> aligned(const std::vector<std::string>& first,
                                const std::vector<std::string>& second)
{
    if (first.size() > kMostEntries || second.size() > kMostEntries)
        return byPlace(first.size(), second.size());
    const Lengths length = commonLengths(first, second);
    std::vector<AlignedRow> rows;
    size_t i = 0, k = 0;
    while (i < first.size() || k < second.size()) {
        if (i < first.size() && k < second.size() && first[i] == second[k])
            rows.push_back({static_cast<int>(i++), static_cast<int>(k++)});
        else if (k == second.size() || (i < first.size() && length[i + 1][k] >= length[i][k + 1]))
            rows.push_back({static_cast<int>(i++), -1});
        else
            rows.push_back({-1, static_cast<int>(k++)});
    }
    return rows;
}

} // namespace tenon::core
