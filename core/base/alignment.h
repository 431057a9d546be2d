// SPDX-License-Identifier: Apache-2.0
// Which entries of two lists belong together.
#pragma once

#include <string>
#include <vector>

namespace tenon::core {

/// A row of two lists side by side; -1 in the list that has no entry there.
struct AlignedRow
{
    int first = -1;
    int second = -1;
    friend bool operator==(const AlignedRow&, const AlignedRow&) = default;
};

/// By a longest common sequence, so that both keep their order; lists of thousands of entries by
/// place.
std::vector<AlignedRow> aligned(const std::vector<std::string>& first,
                                const std::vector<std::string>& second);

} // namespace tenon::core
