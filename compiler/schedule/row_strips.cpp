// SPDX-License-Identifier: Apache-2.0
// Strips by what fits the second-level cache beside the data and the weights.
#include "compiler/schedule/row_strips.h"

#include <algorithm>

namespace tenon::compiler {

int64_t evenDivisorUpTo(int64_t extent, int64_t limit, const TargetFacts& facts)
{
    const int64_t threads = std::max<int64_t>(1, facts.threads);
    int64_t most = 1, even = 1;
    for (int64_t d = 2; d <= std::min(extent, limit); ++d) {
        if (extent % d != 0) continue;
        most = d;
        if (extent / d % threads == 0) even = d;
    }
    return 2 * even >= most ? even : most;
}

int64_t rowsPerStrip(int64_t rows, int64_t rowBytes, const TargetFacts& facts)
{
    const int64_t threads = std::max<int64_t>(1, facts.threads);
    const int64_t room =
        std::min(rows / threads, facts.l2Bytes * 5 / 8 / std::max<int64_t>(1, rowBytes));
    if (room < 2) return 1;
    // An uneven share costs more than computing a few more rows twice.
    const int64_t divisor = evenDivisorUpTo(rows, room, facts);
    const int64_t strips = ((rows + room - 1) / room + threads - 1) / threads * threads;
    const int64_t any = (rows + strips - 1) / strips; // the last strip is shorter
    const bool isEven = rows / divisor % threads == 0;
    return any >= 2 && (3 * divisor < 2 * any || !isEven) ? any : divisor;
}

int64_t rowsPerShortStrip(int64_t rows, int64_t window, int64_t stride)
{
    for (int64_t strip = 2; 2 * strip <= rows; ++strip)
        if (rows % strip == 0 && 4 * (window - stride) <= strip * stride) return strip;
    return 1;
}

} // namespace tenon::compiler
